"""What reports hold of attention against effect: tables, a section of the page, and methods."""

from __future__ import annotations

from typing import Final

from reports.sections.report_section import ReportSection
from reports.sections.study_report import Method, StudyReport
from reports.studies.link.figure import save_link
from reports.studies.link.section import LINK, linked_heads
from reports.studies.link.tables import LINK_TABLES

STUDY: Final = StudyReport(
    LINK_TABLES,
    ReportSection("link", "Attention and causal effect", linked_heads, LINK, save=save_link),
    (
        Method(
            ("link", "link_correlations"),
            "Attention and causal effect",
            "ablation",
            "What heads attend to was compared with what a behaviour loses without them, by Spearman’s correlation "
            "over heads.",
        ),
    ),
)
