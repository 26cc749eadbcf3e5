"""Signs before numbers that say: read this with care."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from reports.formats import count, decimal
from reports.tables.cells import Cell, Mark, TextColumn
from reports.tables.column import value_in
from reports.tables.shared_columns import CLUSTERS

FEW_CLUSTERS: Final = 20
"Below this many documents (or sentences) a bootstrap interval is rough, and is marked."


def few_clusters(clusters: int) -> tuple[Mark, ...]:
    """Return the mark of a number that rests on few clusters; none where they are enough, or nothing was counted."""
    if not 0 < clusters < FEW_CLUSTERS:
        return ()
    return (Mark("⚠", f"{clusters} clusters, fewer than {FEW_CLUSTERS}: intervals and tests are rough", "few"),)


def few_documents(effective: float) -> tuple[Mark, ...]:
    """Return the mark of a score whose effective number of documents is small; none where it is enough."""
    if not 0 < effective < FEW_CLUSTERS:
        return ()
    text = f"effective number of documents {decimal(effective, 1)}, below {FEW_CLUSTERS}: intervals and tests are rough"
    return (Mark("⚠", text, "few"),)


def clusters_shown(**more: Any) -> TextColumn:
    """Return the column of clusters as tables for people have it: few ones are marked."""
    clusters = value_in("", "clusters")

    def marked(row: Any) -> Cell:
        return Cell(count(clusters(row)), sort=clusters(row), marks=few_clusters(clusters(row)))

    return CLUSTERS.shown(write=marked, **more)


VERDICT_CLASSES: Final[Mapping[str, str]] = {
    **dict.fromkeys(("holds", "reproduced", "kept"), "kept"),
    **dict.fromkeys(("does not hold", "not reproduced", "missed"), "missed"),
    **dict.fromkeys(("not decided", "differs", "weaker version holds"), "open"),
}
"Verdict on a statement, a finding or a claim -> its class in the style sheets; all others are none."


def verdict_class(verdict: str) -> str:
    """Return the class of a verdict."""
    return VERDICT_CLASSES.get(verdict, "none")


def verdict_cell(verdict: str, *, bold: bool = False) -> Cell:
    """Return a verdict as the cell of a table, bold in Markdown where it is asked for."""
    return Cell(verdict, css=verdict_class(verdict), markdown=f"**{verdict}**" if bold else None)
