"""What reports hold of what heads are worth: tables, a section of the page, and methods."""

from __future__ import annotations

from typing import Final

from reports.sections.report_section import ReportSection
from reports.sections.study_report import Method, StudyReport
from reports.studies.gating.charts import gating_charts, save_gating
from reports.studies.gating.section import gating
from reports.studies.gating.tables import GATE_TABLES
from reports.studies.gating.terms import GATING

STUDY: Final = StudyReport(
    GATE_TABLES,
    ReportSection("gating", "Importance and pruning of heads", gating, GATING, gating_charts, save_gating),
    (
        Method(
            ("importance", "taylor"),
            "Gradient importance",
            "importance",
            "The mean absolute derivative of a behaviour with respect to a gate on each head (Michel et al. 2019) was "
            "taken over at most {items} items of each behaviour: {behaviours}; embeddings were followed in "
            "{directions} random directions.",
        ),
        Method(
            ("pruning", "pruning_areas"),
            "Pruning",
            "pruning",
            "Heads were ablated by importance, by their own cost, and in {draws} random orders, a share of {step} of "
            "all heads at a time; orders were made on one half of at most {items} items of each behaviour "
            "({behaviours}) and evaluated on the other half.",
        ),
        Method(
            ("migration",),
            "Roles after pruning",
            "pruning",
            "With the {left} of most important heads left, all heads were scored again.",
        ),
        Method(
            ("gates", "gate_paths"),
            "Learned gates",
            "gates",
            "Gates with a price for being open (Louizos et al. 2018; Voita et al. 2019) were learned for "
            "{behaviours} on one half of at most {items} items, in {steps} steps at a rate of {rate}, at prices of "
            "{prices}; weights trained along: {weights}.",
        ),
    ),
)
