"""The table of sinks."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Final

from reports.tables.grades import SINK_KINDS
from reports.tables.shared_columns import NOT_NEGATIVE, ONE_HEAD, RUN, fraction, number, text
from reports.tables.table import Table

SINKS: Final = Table(
    "One row for each head: what it gives to special tokens, over words of a sample of the report split.",
    ("model", "step", "layer", "head"),
    (
        *RUN,
        *ONE_HEAD,
        fraction("special", "Share of the attention of words that goes to special tokens."),
        fraction("written", "Share of special tokens in what the head writes, the sum of lengths of weighted values."),
        number(
            "length",
            "Mean length of the transformed values of special tokens, each weighted by the attention that it gets, "
            "divided by that of pieces of words.",
            NOT_NEGATIVE,
        ),
        number(
            "rank",
            "Mean number of directions that the outputs of the head before W_O take up in a text, (sum of s^2)^2 / "
            "sum of s^4 over their singular values s; 1 where all words get multiples of one vector.",
            (1.0, math.inf),
        ),
        text(
            "kind",
            "Whether a sink writes little from special tokens or spreads what they hold; empty for others.",
            ("", *SINK_KINDS),
        ),
    ),
)

SINK_TABLES: Final[Mapping[str, Table]] = {"sinks": SINKS}
