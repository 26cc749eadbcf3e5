"""What reports hold of confusion: tables, a section of the page, and methods."""

from __future__ import annotations

from typing import Final

from reports.sections.report_section import ReportSection
from reports.sections.study_report import Method, StudyReport
from reports.studies.confusion.section import confusions
from reports.studies.confusion.tables import CONFUSION_TABLES

STUDY: Final = StudyReport(
    CONFUSION_TABLES,
    ReportSection("confusion", "Agreement among distractors", confusions),
    (
        Method(
            ("confusion",),
            "Agreement among distractors",
            "",
            "How far attention from a verb or reflexive separates the correct one of several noun groups was "
            "measured in bits (Lin et al. 2019, section 4).",
        ),
    ),
)
