"""The tables of minimal pairs, as pages and Markdown show them."""

from __future__ import annotations

from typing import Any, Final

from reports.formats import MISSING, count
from reports.tables.cells import PERCENT, Cell, TextColumn
from reports.tables.marks import few_clusters
from reports.tables.sparks import CHANCE_DRAWN, ends, spark


def _drawn(row: Any) -> Cell:
    return Cell("", page=spark(row.accuracy, row.ci_low, row.ci_high, below=CHANCE_DRAWN))


def _verdict(row: Any) -> Cell:
    looks = {"above chance": "up", "below chance": "down"}
    return Cell(row.verdict or MISSING, look=looks.get(row.verdict, "muted"))


def _strong(row: Any) -> str:
    return "strong"


PREFERENCES: Final = (
    TextColumn("Pairs", lambda row: row.name, "row"),
    TextColumn("Method", lambda row: row.method, "text", "muted"),
    TextColumn("n", lambda row: count(row.n)),
    TextColumn("Clusters", lambda row: Cell(count(row.clusters), marks=few_clusters(row.clusters))),
    TextColumn(ends(0, 50, 100), _drawn, "spark", only="page"),
    *PERCENT.columns("Accuracy", "accuracy", ("ci_low", "ci_high"), _strong),
    TextColumn("Interval", _verdict, "text", plain="verdict"),
    TextColumn("Near ties", lambda row: count(row.near_ties)),
    TextColumn("Left out", lambda row: count(row.left_out)),
)
