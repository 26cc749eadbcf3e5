"""What reports hold of slopes: tables, a section of the page, and methods."""

from __future__ import annotations

from typing import Final

from reports.sections.report_section import ReportSection
from reports.sections.study_report import Method, StudyReport
from reports.studies.slopes.section import SLOPES, slopes
from reports.studies.slopes.tables import SLOPE_TABLES

STUDY: Final = StudyReport(
    SLOPE_TABLES,
    ReportSection("slopes", "Effect of single attention weights", slopes, SLOPES),
    (
        Method(
            ("slopes",),
            "Single attention weights",
            "slopes",
            "The derivative of a behaviour with respect to single attention weights was taken over at most {items} "
            "items of each behaviour: {behaviours} (Clark et al. 2019).",
        ),
    ),
)
