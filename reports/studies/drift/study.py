"""What reports hold of drift: tables, a section of the page, and methods."""

from __future__ import annotations

from typing import Final

from reports.formats import decimal
from reports.sections.report_section import ReportSection
from reports.sections.study_report import Method, StudyReport
from reports.studies.drift.section import DRIFT, drift
from reports.tables.shared_columns import FRACTIONS, ONE_HEAD, RUN, SPLIT, number, place
from reports.tables.table import Table

MAP_DRIFT: Final = Table(
    "One row for each sentence and head: its map before and after a training run.",
    ("model", "step", "text", "name"),
    (
        *RUN,
        SPLIT,
        place("text", "Number of the sentence."),
        *ONE_HEAD,
        number(
            "cosine",
            "Cosine of the head's map before and after training; 1 is the same map.",
            FRACTIONS,
            write=decimal,
        ),
    ),
)

STUDY: Final = StudyReport(
    {"drift": MAP_DRIFT},
    ReportSection("drift", "Maps before and after training", drift, DRIFT),
    (
        Method(
            ("drift",),
            "Maps before and after training",
            "drift",
            "The maps of the first checkpoint and of the model were compared by cosine on {texts} sentences of the "
            "report split at the most (Kovaleva et al. 2019).",
        ),
    ),
)
