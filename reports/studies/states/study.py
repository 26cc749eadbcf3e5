"""What reports hold of states: tables, which findings read, and methods."""

from __future__ import annotations

from typing import Final

from reports.sections.report_section import ReportSection
from reports.sections.study_report import Method, StudyReport
from reports.studies.states.section import STATES_TERMS, states
from reports.studies.states.tables import STATES_TABLES

STUDY: Final = StudyReport(
    STATES_TABLES,
    ReportSection("states", "States of words", states, STATES_TERMS),
    methods=(
        Method(
            ("states", "outlier_dimensions", "ablated_dimensions"),
            "States of words",
            "states",
            "Over {texts} sentences a split at the most. Cosines are of word states, means over subwords, and adjusted "
            "by what random words of different sentences have (Ethayarajh 2019, section 3.3); words with {contexts} "
            "contexts at least are compared with themselves. Outlier dimensions (Kovaleva et al. 2021) were set to "
            "zero in all layers, and as many random ones {sets} times.",
        ),
    ),
)
