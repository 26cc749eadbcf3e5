"""The tables of attention as explanation: measures and rank correlations of every classifier."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from reports.tables.shared_columns import NOT_NEGATIVE, RUN, correlation, ends, fraction, number, place, text, whole
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

PAIRS: Final[Mapping[str, str]] = {
    "attention and gradient": "attention, and the gradient at a piece while attention is held as it is",
    "attention and leaving out": "attention, and how the output changes where the model does not read a piece",
    "gradient and leaving out": "gradient and leaving out, of which neither knows of attention: the reference",
}
"What is correlated -> what it is."

EXPLANATION_RANKS: Final = Table(
    "One row for each classifier and pair of measures of the importance of word pieces: their rank correlation.",
    ("model", "step", "seed", "pair"),
    (
        *RUN,
        place("seed", "Number of the classifier, from 0."),
        text("pair", "; ".join(f"{name}: {meaning}" for name, meaning in PAIRS.items()) + ".", tuple(PAIRS)),
        correlation("tau", "Kendall's tau over the pieces of a sentence, mean over held-out sentences.", ""),
        *ends("", "the mean over held-out sentences"),
        fraction("significant", "Share of held-out sentences with p of 0.05 at most; it grows with their length."),
        whole("n", "Number of held-out sentences that have a tau: neither measure is the same for all pieces."),
    ),
)

EXPLANATION_TABLES: Final[Mapping[str, Table]] = {
    "explanation": EXPLANATION,
    "explanation_ranks": EXPLANATION_RANKS,
}
