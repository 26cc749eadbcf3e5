"""The table of attention as explanation: every measure of every classifier."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from reports.tables.shared_columns import NOT_NEGATIVE, RUN, number, place, text, whole
from reports.tables.table import Table

MEASURES: Final[Mapping[str, str]] = {
    "accuracy": "accuracy on held-out sentences",
    "accuracy, uniform attention": "accuracy of a classifier that is trained with uniform attention",
    "highest weight": "mean of the highest attention weight of a sentence",
    "change, permuted": "median change of the output where attention is permuted",
    "divergence, adversarial": "mean Jensen-Shannon divergence of adversarial attention, in nats",
    "flips, most attended alone": "share that flip without the most attended piece, not without a random one",
    "flips, random alone": "share that flip without a random piece, not without the most attended one",
    "flips, most attended": "share that flip without the most attended piece",
    "erased, by attention": "mean share of pieces erased until the decision flips, those with most attention first",
    "erased, at random": "the same in random order",
    "erased, by attention and gradient": "the same, those first that speak most for the decision",
    "accuracy, guided: trained": "accuracy of a network without context that is given the classifier's attention",
    "accuracy, guided: uniform": "the same, given uniform attention",
    "accuracy, guided: adversarial": "the same, given adversarial attention",
}
"Measure -> what it is."

EXPLANATION: Final = Table(
    "One row for each classifier and measure: a classifier attends to the states of the last layer, which stay as they "
    "are, and decides on the number of the main subject.",
    ("model", "step", "seed", "measure"),
    (
        *RUN,
        place("seed", "Number of the classifier, from 0."),
        text("measure", "; ".join(f"{name}: {meaning}" for name, meaning in MEASURES.items()) + ".", tuple(MEASURES)),
        number("value", "Its value on held-out sentences.", NOT_NEGATIVE),
        whole("n", "Number of held-out sentences."),
    ),
)

EXPLANATION_TABLES: Final[Mapping[str, Table]] = {"explanation": EXPLANATION}
