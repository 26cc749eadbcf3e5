"""What reports hold of probing: tables, which findings read, and methods."""

from __future__ import annotations

from typing import Final

from reports.sections.report_section import ReportSection
from reports.sections.study_report import Method, StudyReport
from reports.studies.probing.section import PROBING_TERMS, probing
from reports.studies.probing.tables import PROBING_TABLES

STUDY: Final = StudyReport(
    PROBING_TABLES,
    ReportSection("probing", "Probes of layers", probing, PROBING_TERMS),
    methods=(
        Method(
            ("layer_probes", "pair_probes", "amnesic"),
            "Probes of layers",
            "probing",
            "Structural probes (Hewitt and Manning 2019) of rank 64 learned from {sentences} sentences at the most, "
            "linear classifiers of sentences (Jawahar et al. 2019) from {labelled}, of pairs of words (Reif et al. "
            "2019) from {pairs} arcs and as many pairs without. Directions of a property were removed from the last "
            "layer by iterative nullspace projection (Elazar et al. 2021), and as many random ones.",
        ),
    ),
)
