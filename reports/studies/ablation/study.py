"""What reports hold of ablation: tables, a section of the page, and methods."""

from __future__ import annotations

from typing import Final

from reports.sections.report_section import ReportSection
from reports.sections.study_report import Method, StudyReport
from reports.studies.ablation.figure import save_ablation
from reports.studies.ablation.section import ablations
from reports.studies.ablation.tables import ABLATION_TABLES
from reports.studies.ablation.terms import ABLATION

STUDY: Final = StudyReport(
    ABLATION_TABLES,
    ReportSection("ablation", "Ablation", ablations, ABLATION, save=save_ablation),
    (
        Method(
            ("ablations",),
            "Ablation",
            "ablation",
            "Every head was ablated (by: {ways}), and whole layers: {layers}. What the model loses was measured on "
            "at most {items} items of each behaviour: {behaviours}; tests by document are corrected over all sets of "
            "a kind.",
        ),
        Method(
            ("ablation_contrasts",),
            "Selected heads against random heads",
            "ablation",
            "The heads of a label (labels: {labels}; heads a label: {top}, where 0 stands for the specialised ones) "
            "were ablated together and compared with {draws} sets of as many random heads of the same layers.",
        ),
    ),
)
