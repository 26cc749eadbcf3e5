"""Which heads are sinks, and of which kind, in sentences."""

from __future__ import annotations

from reports.formats import decimal, percent
from reports.heads.card_parts import CardPart, CardSource
from reports.run.folder import RunFolder
from reports.tables.grades import SPREADS
from reports.tables.table import last_step


def sink(source: CardSource, name: str) -> CardPart | None:
    """What a sink does with special tokens; None for a head that is none."""
    rows = [row for row in source.of_head("sinks", name) if row["kind"]]
    sentences = tuple(
        f"{percent(row['special'])} % of the attention of words goes to special tokens, which have "
        f"{percent(row['written'])} % of what the head writes: "
        + ("it spreads what they hold." if row["kind"] == SPREADS else "it writes little.")
        + f" Its outputs take up {decimal(row['rank'])} directions in a text on average (1: the same for all words)."
        for row in rows
    )
    return CardPart("A sink", sentences) if sentences else None


def kinds_of_sinks(run: RunFolder) -> dict[str, str]:
    """Return the kind of every head by its name, "" of one that is no sink; empty where that was not measured."""
    if (table := run.studies.get("sinks")) is None:
        return {}
    heads = last_step(table)
    return dict(zip(heads["name"], heads["kind"], strict=True))
