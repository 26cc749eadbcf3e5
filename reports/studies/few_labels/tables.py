"""The table of heads from few labels."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from reports.formats import percent, signed
from reports.tables.shared_columns import ITEMS, QUESTION, RUN, difference, ends, fraction, text, whole
from reports.tables.table import Table

HEAD, ENSEMBLE, UNTRAINED = "head", "ensemble", "head, random weights"

FEW_LABELS: Final = Table(
    "One row for each label, method and number of labelled arcs: what a head or an ensemble that was selected from so "
    "few arcs, and what a rule that learned from the same arcs, reach on held-out text.",
    ("model", "step", "probe", "label", "variant", "method", "arcs"),
    (
        *RUN,
        *QUESTION,
        text(
            "method",
            "head: the best on the arcs; ensemble: the mean map of several, selected on the arcs; head, random "
            "weights: the best of a randomly initialised model; fixed rule: of the baselines and rules that need no "
            "labels the best on the arcs; else a rule that learned from the arcs.",
        ),
        whole("arcs", "Number of labelled arcs, drawn from the selection split."),
        *ITEMS,
        fraction("accuracy", "Accuracy on the report split, as a mean over draws of arcs.", ""),
        *ends("", "accuracy over draws and documents", percent),
        text("best_rule", "Rule with the highest accuracy from as many arcs; empty for rules."),
        difference("lead", "Accuracy minus that of the best rule; missing for rules.", "lead"),
        *ends("lead", "the lead over the best rule", signed),
    ),
)

FEW_LABELS_TABLES: Final[Mapping[str, Table]] = {"few_labels": FEW_LABELS}
