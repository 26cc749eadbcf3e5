"""What reports hold of circuits: tables, a section of the page, and methods."""

from __future__ import annotations

from typing import Final

from reports.sections.report_section import ReportSection
from reports.sections.study_report import Method, StudyReport
from reports.studies.circuits.figure import save_circuits
from reports.studies.circuits.section import TERMS, circuit_parts
from reports.studies.circuits.tables import CIRCUIT_TABLES

STUDY: Final = StudyReport(
    CIRCUIT_TABLES,
    ReportSection("circuits", "Circuits from the weights alone", circuit_parts, TERMS, save=save_circuits),
    (
        Method(
            ("circuits", "circuit_kernels", "circuit_relations", "circuit_links"),
            "Weights alone",
            "circuits",
            "The query-key and output-value circuits of heads were computed from the weights for {words} words of "
            "the vocabulary (Elhage et al. 2021) and compared with {sentences} sentences of the report split.",
        ),
    ),
)
