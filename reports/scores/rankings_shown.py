"""The tables of how far metrics agree, as pages and Markdown show them."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any, Final

from reports.formats import count, decimal, percent
from reports.tables.cells import TextColumn
from reports.tables.scores import AGREEMENT
from reports.tables.text_table import TextTable

PAIRS: Final = (
    TextColumn("Metric", lambda pair: pair.first, "row"),
    TextColumn("and metric", lambda pair: pair.second, "text"),
    TextColumn("Median tau", lambda pair: decimal(pair.median), css="strong"),
    TextColumn("Quartiles", lambda pair: f"{decimal(pair.low)} to {decimal(pair.high)}"),
    TextColumn("Questions", lambda pair: count(pair.questions)),
    TextColumn("Same best head, %", lambda pair: percent(pair.same_best / pair.questions)),
    TextColumn("Shared top heads, %", lambda pair: percent(pair.overlap)),
)

DISPUTES: Final = (
    AGREEMENT["label"].shown(kind="row"),
    AGREEMENT["variant"].shown(write=lambda row: f"{row.probe}: {row.variant}", css="muted"),
    AGREEMENT["n"].shown(),
    TextColumn("Other metric", lambda row: row.metric, "text"),
    AGREEMENT["tau"].shown(),
    TextColumn("Best by accuracy", lambda row: row.by_accuracy.name, "text", "head"),
    TextColumn("its accuracy", lambda row: percent(row.by_accuracy.accuracy), css="strong"),
    TextColumn("by the other", lambda row: percent(row.by_accuracy.value)),
    TextColumn("Best by the other", lambda row: row.by_metric.name, "text", "head"),
    TextColumn("its accuracy", lambda row: percent(row.by_metric.accuracy)),
    TextColumn("by the other", lambda row: percent(row.by_metric.value), css="strong"),
)


def variants_table(rows: Sequence[Any], others: Sequence[str]) -> TextTable:
    """Return the agreement of accuracy with the metrics `others`, by probe and variant."""
    taus = (TextColumn(metric, partial(_tau, place)) for place, metric in enumerate(others))
    named = (
        AGREEMENT["probe"].shown(kind="row"),
        AGREEMENT["variant"].shown(css="muted"),
        TextColumn("Questions", lambda row: count(row.questions)),
    )
    return TextTable.of(
        "Median tau with accuracy, by probe and direction, the least agreement first", (*named, *taus), rows
    )


def _tau(place: int, row: Any) -> str:
    return decimal(row.taus[place])
