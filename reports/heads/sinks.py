"""Which heads are sinks, and of which kind, in sentences."""

from __future__ import annotations

from reports.formats import percent
from reports.heads.card_parts import CardPart, CardSource
from reports.run.folder import RunFolder
from reports.studies.sinks.tables import KINDS, SPREADS
from reports.tables.table import last_step


def sink(source: CardSource, name: str) -> CardPart | None:
    """What a sink does with special tokens; None for a head that is none."""
    rows = [row for row in source.of_head("sinks", name) if row["kind"]]
    said = tuple(
        f"{percent(row['special'])} % of the attention of words goes to special tokens, which have "
        f"{percent(row['written'])} % of what the head writes: "
        + ("it spreads what they hold." if row["kind"] == SPREADS else "it writes little.")
        for row in rows
    )
    return CardPart("A sink", said) if said else None


def sinks_said(run: RunFolder) -> str:
    """Count the sinks by kind, in a sentence; "" where that was not measured or there are none."""
    table = run.studies.get("sinks")
    kinds = [] if table is None else last_step(table)["kind"].tolist()
    little, spread = (kinds.count(kind) for kind in KINDS)
    if not little + spread:
        return ""
    return (
        f"Sinks, heads that give at least half of their attention to special tokens: {little + spread}; {little} write "
        f"little from there, {spread} spread what these hold."
    )
