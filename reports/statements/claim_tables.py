"""The tables in the record of a claim: its statements, and the numbers of its measures."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, Final

from reports.formats import cost, plain
from reports.tables.shared_columns import UNIT, ends, number, place, text, whole
from reports.tables.table import JsonRow, Table, check_rows

HOLDS, FAILS, OPEN = "holds", "does not hold", "not decided"
"Verdicts on a statement."

CLAIM, KINDS = "claim", ("claim", "identity", "measurement")
"What a statement can be; claims alone are counted."

_UNIT: Final = replace(UNIT, meaning="Unit of the numbers; % stands for fractions, which pages write in percent.")
_N: Final = whole("n", "Number of repeats that the number is a mean of.")
_MEASURE: Final = text("measure", "Quantity that was measured.")
_CONDITION: Final = text("condition", "What it was measured under, such as a number of heads.")
_AT: Final = number("at", "Place on the axis of the measure, such as a length; missing without an axis.", write=cost)

STATEMENTS: Final = Table(
    "One row for each statement of a claim, with the number and the rule that decide it.",
    ("text", "number"),
    (
        replace(text("text", "The statement, a sentence that is true or not."), title="statement"),
        text("number", "What the number is that decides the statement."),
        _UNIT,
        text("rule", "Range in which the whole 95 % interval must lie."),
        number("value", "The number, in its unit; missing where nothing was measured.", None, "", cost),
        *ends("", "the number", cost),
        _N,
        text("verdict", "What the rule makes of the interval.", (HOLDS, FAILS, OPEN)),
        text("kind", "A claim is counted; what holds by arithmetic is not, nor a number that decides nothing.", KINDS),
        text("why", "Why it is not counted; empty for a claim."),
    ),
)

MEASURES: Final = Table(
    "One row for each measure: a quantity under all conditions.",
    ("name",),
    (
        replace(_MEASURE, name="name"),
        _UNIT,
        text("repeat", "What is repeated; count for what was counted once.", ("seed", "round", "count")),
        text("axis", "What the places are where it was measured, such as lengths; empty without an axis."),
    ),
)

MEANS: Final = Table(
    "One row for each measure, condition and place on its axis: the mean over repeats.",
    ("measure", "condition", "at"),
    (
        *(_MEASURE, _CONDITION, _AT),
        number("value", "Mean over repeats, in the unit of the measure; missing without any.", None, "", cost),
        *ends("", "the mean", cost),
        _N,
    ),
)

REPEATS: Final = Table(
    "One row for each measure, condition, place on its axis and repeat.",
    ("measure", "condition", "at", "repeat"),
    (
        *(_MEASURE, _CONDITION, _AT),
        replace(place("repeat", "Seed or round of the repeat."), write=plain),
        number("value", "What was measured, in the measure's unit; missing where it could not be.", write=cost),
    ),
)

CLAIM_TABLES: Final[Mapping[str, Table]] = {
    "claim.statements": STATEMENTS,
    "claim.measures": MEASURES,
    "claim.measures.cells": MEANS,
    "claim.measures.rows": REPEATS,
}
"Place in claim.json -> what its rows must hold."


def check_claim(record: Mapping[str, Any], where: str) -> None:
    """Refuse the record of a claim in which a row is wrong; ValueError begins with `where` and names its list."""
    statements, measures = record["statements"], record["measures"]
    rows = (statements, measures, _within(measures, "cells"), _within(measures, "rows"))
    for (name, table), found in zip(CLAIM_TABLES.items(), rows, strict=True):
        check_rows(table, found, f"{where}: {name.removeprefix('claim.')}")


def _within(measures: Sequence[JsonRow], part: str) -> Iterator[JsonRow]:
    return ({"measure": one["name"], **row} for one in measures for row in one[part])
