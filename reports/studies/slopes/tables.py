"""The table of how much behaviours change with single attention weights."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from reports.formats import decimal3
from reports.tables.shared_columns import BEHAVIOUR, ITEMS, NOT_NEGATIVE, ONE_HEAD, RUN, UNIT, ends, number, text
from reports.tables.table import Table

TOKENS: Final = ("[CLS]", "[SEP]", "other")
"What weights are on: the special tokens before and after the words of a text, and the pieces of words."

SLOPES: Final = Table(
    "One row for each behaviour, token and head.",
    ("model", "step", "behaviour", "token", "layer", "head"),
    (
        *RUN,
        BEHAVIOUR,
        UNIT,
        text("token", "Token that the weights are on; other stands for all subwords of words.", TOKENS),
        *ONE_HEAD,
        *ITEMS,
        number("slope", "Mean |d value / d attention weight| over items and weights, in the unit.", NOT_NEGATIVE, "ci"),
        *ends("ci", "the slope", decimal3, NOT_NEGATIVE),
    ),
)

SLOPE_TABLES: Final[Mapping[str, Table]] = {"slopes": SLOPES}
