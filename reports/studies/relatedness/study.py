"""What reports hold of relatedness: tables, a section of the page, and methods."""

from __future__ import annotations

from typing import Final

from reports.sections.report_section import ReportSection
from reports.sections.study_report import Method, StudyReport
from reports.studies.relatedness.section import relations
from reports.studies.relatedness.tables import RELATEDNESS_TABLES

STUDY: Final = StudyReport(
    RELATEDNESS_TABLES,
    ReportSection("relatedness", "Related words", relations),
    (
        Method(
            ("relatedness",),
            "Related words",
            "relatedness",
            "Attention between words was compared with ratings of how related they are ({ratings}), with "
            "{permutations} permutations of the ratings.",
        ),
    ),
)
