"""The whole distribution of a head's attention between words, for its card."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from reports.formats import decimal, percent, signed
from reports.heads.card_parts import CardPart, CardSource


def whole_distribution(source: CardSource, name: str) -> CardPart | None:
    """What a head's attention between words looks like over the whole report split: a description and its deciles."""
    described, rows = source.of_head("descriptions", name), source.of_head("deciles", name)
    if not described or not rows:
        return None
    one = described[-1]
    sentences = (
        f"{one['description']} Accuracy on held-out text: {percent(one['accuracy'])} %; of the offset "
        f"“{one['offset']}”: {percent(one['offset_accuracy'])} % (difference {signed(one['gain'])} points); of "
        f"descriptions of a randomly initialised model: {percent(one['random_accuracy'])} %.",
        f"Other words get {percent(one['between'])} % of its attention. Pairs of words by attention, the tenth decile "
        "first:",
    )
    falling = sorted(rows[-10:], key=lambda row: -row["decile"])
    cells = tuple(_cells(row) for row in falling)
    columns = ("decile", "from, %", "arcs, %", "distance", "parts of speech", "offsets")
    return CardPart("All of its attention", sentences, columns, cells)


def _cells(row: Mapping[Any, Any]) -> tuple[str, ...]:
    numbers = (str(row["decile"]), percent(row["low"]), percent(row["arcs"]), decimal(row["distance"]))
    return (*numbers, row["tags"], row["offsets"])
