"""The table of sinks."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from reports.tables.shared_columns import NOT_NEGATIVE, ONE_HEAD, RUN, fraction, number, text
from reports.tables.table import Table

WRITES_LITTLE, SPREADS = KINDS = ("writes little", "spreads")
"Kinds of sinks, as `probes.maps.sinks` names them."

SINKS: Final = Table(
    "One row for each head: what it gives to special tokens, over words of a sample of the report split.",
    ("model", "step", "layer", "head"),
    (
        *RUN,
        *ONE_HEAD,
        fraction("special", "Share of the attention of words that goes to special tokens."),
        fraction("written", "Share of special tokens in what the head writes, the length of weighted values."),
        number(
            "per_attention",
            "What attention to special tokens writes, divided by what as much attention to words does; missing without "
            "attention to one of them.",
            NOT_NEGATIVE,
        ),
        text(
            "kind",
            "Whether a sink writes little from special tokens or spreads what they hold; empty for others.",
            ("", *KINDS),
        ),
    ),
)

SINK_TABLES: Final[Mapping[str, Table]] = {"sinks": SINKS}
