"""What reports hold of drift: tables, a section of the page, and methods in words."""

from __future__ import annotations

from typing import Final

from reports.sections.report_section import ReportSection
from reports.sections.study_report import Method, StudyReport
from reports.studies.drift.section import DRIFT, drift
from reports.studies.drift.tables import DRIFT_TABLES

DRIFT_STUDY: Final = StudyReport(
    DRIFT_TABLES,
    ReportSection("drift", "What training moved", drift, DRIFT),
    (
        Method(
            ("drift",),
            "What training moved",
            "drift",
            "The maps of the first checkpoint and of the model were compared by cosine on {texts} sentences of the "
            "report split at the most (Kovaleva et al. 2019).",
        ),
    ),
)
