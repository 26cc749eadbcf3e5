"""The tables of minimal pairs, as pages and Markdown show them."""

from __future__ import annotations

from typing import Any, Final

from reports.formats import MISSING
from reports.tables.cells import Cell, TextColumn
from reports.tables.marks import clusters_shown
from reports.tables.scores import BEHAVIOUR
from reports.tables.sparks import CHANCE_DRAWN, ends, spark


def _drawn(row: Any) -> Cell:
    return Cell("", page=spark(row.accuracy, row.ci_low, row.ci_high, below=CHANCE_DRAWN))


def _verdict(row: Any) -> Cell:
    looks = {"above chance": "up", "below chance": "down"}
    return Cell(row.verdict or MISSING, css=looks.get(row.verdict, "muted"))


PREFERENCES: Final = BEHAVIOUR.text_columns(
    TextColumn("Pairs", lambda row: row.name, "row"),
    BEHAVIOUR["method"].shown(css="muted"),
    "n",
    clusters_shown(),
    TextColumn(ends(0, 50, 100), _drawn, "spark", only="page"),
    *BEHAVIOUR["accuracy"].shown_with_interval(css=lambda row: "strong"),
    TextColumn("Interval", _verdict, "text", plain="verdict"),
    *("near_ties", "left_out"),
)
