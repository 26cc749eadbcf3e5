"""The tables of trained answers: log-odds, single heads, and maps against causes."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from reports.formats import decimal
from reports.tables.shared_columns import (
    LAYER,
    ONE_HEAD,
    RUN,
    correlation,
    number,
    place,
    text,
    whole,
)
from reports.tables.table import Table

MEASURES: Final = ("weights", "rollout", "flow")
"What is measured of a layer: its attention averaged over heads, rollout up to it, and flow up to it."

AGAINST: Final = ("blank-out", "gradients")
"What they are compared with."

_TEXT: Final = place("text", "Number of the text, the same in all tables of answers.")
_WORDS: Final = whole("words", "Number of words before the verb.")

ANSWERS: Final = Table(
    "One row for each text whose verb the model chooses.",
    ("model", "step", "text"),
    (
        *RUN,
        _TEXT,
        _WORDS,
        text("answer", "The correct answer."),
        number(
            "log_odds",
            "Log-odds of the correct answer, in nats; above 0 where the model is correct.",
            None,
            write=decimal,
        ),
    ),
)

SINGLE_HEADS: Final = Table(
    "One row for each text and head: the model with all other heads of the head's layer ablated.",
    ("model", "step", "text", "name"),
    (
        *RUN,
        _TEXT,
        *ONE_HEAD,
        number(
            "log_odds",
            "Log-odds of the correct answer with this head alone in its layer, nats.",
            None,
            write=decimal,
        ),
    ),
)

FLOWS: Final = Table(
    "One row for each text, layer, measure of attention and measure of causes, over the words before the verb.",
    ("model", "step", "text", "layer", "measure", "against"),
    (
        *RUN,
        _TEXT,
        _WORDS,
        LAYER,
        text("measure", "Measure of attention to the words: mean weights, rollout, or maximum flow.", MEASURES),
        text("against", "What it is compared with: the effect of blanking a word out, or gradients.", AGAINST),
        correlation("rho", "Spearman's rank correlation of both over words; missing where all words are equal in one."),
    ),
)

ANSWER_TABLES: Final[Mapping[str, Table]] = {
    "answers": ANSWERS,
    "one_head": SINGLE_HEADS,
    "flows": FLOWS,
}
