"""The tables of a comparison: the runs, role by role, head by head."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any, Final

import pandas as pd

from reports.compare.table import RunPair
from reports.formats import MISSING, count, decimal3, interval, p_value, percent, signed, signed_interval
from reports.tables.cells import PERCENT, Cell, TextColumn
from reports.tables.text_table import TextTable

Row = Mapping[str, Any]

RUNS: Final = (
    TextColumn("Run", lambda run: run.name, "row"),
    TextColumn("Model", lambda run: run.model, "text"),
    TextColumn("Told on", lambda run: run.texts, "text"),
    TextColumn("Made", lambda run: run.made, "text"),
)


def _head(column: str, row: Row) -> Cell:
    name = row[column]
    layer, head = (int(part) for part in name.split("-")) if name else (0, 0)
    return Cell(name or MISSING, sort=10000 * layer + head if name else "")


def _accuracy(side: str, row: Row) -> Cell:
    number, low, high = (float(row[f"{side}_{end}"]) for end in ("accuracy", "low", "high"))
    look = "strong" if row[f"{side}_specialised"] else ""
    return Cell(percent(number), interval(low, high), look, sort=number)


def _difference(row: Row) -> Cell:
    number, ends = float(row["difference"]), signed_interval(row["difference_low"], row["difference_high"])
    look = ("up" if number > 0 else "down") if row["sure"] else ""
    return Cell(signed(number) + ("" if row["paired"] else " ∥"), ends, look, sort=number)


def _of_partner(row: Row) -> Cell:
    number = float(row["partner_difference"])
    return Cell(signed(number), signed_interval(row["partner_low"], row["partner_high"]), sort=number)


LABEL: Final = (
    TextColumn("label", lambda row: Cell(row["label"], row["probe"]), "row", only="page"),
    TextColumn("role", lambda row: f"{row['probe']}: {row['label']}", "row", only="text"),
    TextColumn("variant", lambda row: row["variant"], "text", "muted"),
    TextColumn("change", lambda row: row["change"] or MISSING, "text"),
)

CHANGED: Final = (
    TextColumn("difference", _difference),
    TextColumn("adjusted p", lambda row: Cell(p_value(row["p_adjusted"]), sort=float(row["p_adjusted"])), "rising"),
    TextColumn("head before", partial(_head, "partner"), "text", "head"),
    TextColumn("its difference", _of_partner),
    TextColumn("n", lambda row: Cell(count(row["n"]), sort=float(row["n"])), only="page"),
)


def role_table(pair: RunPair, rows: pd.DataFrame, title: str) -> TextTable:
    """Return label–variant pairs: the head of either run, and how they differ."""
    sides = [
        column
        for side, name in (("one", pair.one), ("other", pair.other))
        for column in (
            TextColumn(f"head in {name}", partial(_head, f"{side}_head"), "text", "head"),
            TextColumn("accuracy", partial(_accuracy, side), plain="accuracy, %"),
        )
    ]
    return TextTable.of(title, (*LABEL, *sides, *CHANGED), rows.to_dict("records"))


def _number(column: str, row: Row) -> Cell:
    return Cell(str(row[column]), sort=float(row[column]))


def _share(column: str, row: Row) -> Cell:
    return PERCENT.cell(row[column])


HEADS: Final = (
    TextColumn("change", lambda row: row["change"], "text"),
    TextColumn("main role before", lambda row: row["one_role"] or MISSING, "text"),
    TextColumn("main role after", lambda row: row["other_role"] or MISSING, "text"),
    TextColumn("roles before", partial(_number, "one_roles")),
    TextColumn("roles after", partial(_number, "other_roles")),
    TextColumn("largest change in", lambda row: row["largest"] or MISSING, "text", "muted"),
    TextColumn("from, %", partial(_share, "largest_from")),
    TextColumn("to, %", partial(_share, "largest_to")),
)

DISTANCE: Final = TextColumn(
    "distance, nats", lambda row: Cell(decimal3(row["distance"]), sort=float(row["distance"])), "rising"
)


def head_table(pair: RunPair) -> TextTable:
    """Return every head with its counterpart, and what became of it."""
    named: Sequence[TextColumn] = (
        TextColumn(f"head in {pair.one}", partial(_head, "head"), "text", "head"),
        TextColumn(f"head in {pair.other}", partial(_head, "partner"), "text", "head"),
    )
    columns = (*named, *HEADS, *([DISTANCE] if pair.by_maps else []))
    return TextTable.of("Head by head", columns, pair.heads.to_dict("records"))


def head_counts(pair: RunPair) -> TextTable:
    """Return how many heads changed in which way."""
    columns = (TextColumn("what became of heads", lambda row: row[0], "row"), TextColumn("heads", lambda row: row[1]))
    return TextTable.of("Heads", columns, pair.head_counts.items())
