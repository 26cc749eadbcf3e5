"""What reports hold of explained attention: a table, which the cards of heads show, and methods."""

from __future__ import annotations

from typing import Final

from reports.sections.study_report import Method, StudyReport
from reports.studies.explained.tables import EXPLAINED_TABLES

STUDY: Final = StudyReport(
    EXPLAINED_TABLES,
    methods=(
        Method(
            ("heads",),
            "Precision, lift and explained attention",
            "scoring",
            "These are measured over all words of the report split, whatever was scored. Precision: of the words "
            "whose strongest other word gets at least a tenth of their attention (the limit of broad attention, Clark "
            "et al. 2019, section 3.2), the share that attend to a word of the relation. Lift: a head's attention on "
            "the pairs of words of the relation, divided by what its mean attention at their offsets comes to. Words "
            "of short texts get more each, so these means are of attention in units of 1 / (n − 1), uniform attention "
            "to the other words of a text of n, which has lift 1. Explained: the share of a head's attention between "
            "different words that lies on pairs of any of its roles, each pair once.",
        ),
    ),
)
