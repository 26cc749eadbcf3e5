"""What reports hold of patching: tables, a section of the page, and methods."""

from __future__ import annotations

from typing import Final

from reports.sections.report_section import ReportSection
from reports.sections.study_report import Method, StudyReport
from reports.studies.patching.figure import save_patching
from reports.studies.patching.section import PATCHING, patched_heads
from reports.studies.patching.tables import PATCHING_TABLES

STUDY: Final = StudyReport(
    PATCHING_TABLES,
    ReportSection("patching", "Activation patching of the answer", patched_heads, PATCHING, save=save_patching),
    (
        Method(
            ("patching",),
            "Activation patching",
            "patching",
            "On at most {items} sentences of the grammar (seed {seed}), the output of a head in the sentence was put "
            "into the same sentence with its subject in the other number (Vig et al. 2020).",
        ),
    ),
)
