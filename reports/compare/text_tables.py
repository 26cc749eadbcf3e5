"""The tables of a comparison: the runs, role by role, head by head."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Any, Final

import pandas as pd

from reports.compare.table import RunPair
from reports.compare.tables import COMPARED, HEADS
from reports.formats import signed, signed_interval
from reports.tables.cells import Cell, TextColumn, head_cell
from reports.tables.shared_columns import label_columns
from reports.tables.table import Table
from reports.tables.text_table import TextTable

Row = Mapping[Any, Any]

RUNS: Final = (
    TextColumn("Run", lambda run: run.name, "row"),
    TextColumn("Model", lambda run: run.model, "text"),
    TextColumn("Evaluated on", lambda run: run.texts, "text"),
    TextColumn("Made", lambda run: run.made, "text"),
)


def _head(table: Table, name: str, title: str) -> TextColumn:
    return table[name].shown(title, css="head", write=lambda row: head_cell(row[name]))


def _difference(row: Row) -> Cell:
    number, ends = float(row["difference"]), signed_interval(row["difference_low"], row["difference_high"])
    look = ("up" if number > 0 else "down") if row["significant"] else ""
    return Cell(signed(number) + ("" if row["paired"] else " ∥"), ends, look, sort=number)


LABEL: Final = (
    *label_columns("label", "role", "ci"),
    COMPARED["variant"].shown("variant", css="muted"),
    COMPARED["change"].shown("change"),
)

CHANGED: Final = (
    COMPARED["difference"].shown("difference", write=_difference),
    COMPARED["p_adjusted"].shown("adjusted p"),
    _head(COMPARED, "partner", "previous head"),
    COMPARED["partner_difference"].shown_beside("its difference"),
    COMPARED["n"].shown(only="page"),
)


def role_table(pair: RunPair, rows: pd.DataFrame, title: str) -> TextTable:
    """Return label–variant pairs: the head of either run, and how they differ."""
    return TextTable.of(title, (*LABEL, *_sides(pair), *CHANGED), rows.to_dict("records"))


def change_table(pair: RunPair) -> TextTable:
    """Return the roles that are no longer the same head's, and every significant difference, for a terminal."""
    return TextTable.of("Changes", (*LABEL, *_sides(pair), CHANGED[0]), pair.changed.to_dict("records"))


def _sides(pair: RunPair) -> list[TextColumn]:
    return [
        column
        for side, name in (("one", pair.first), ("other", pair.second))
        for column in (
            _head(COMPARED, f"{side}_head", f"head in {name}"),
            COMPARED[f"{side}_accuracy"].shown_beside(
                "accuracy", css=partial(_strong, f"{side}_graded"), plain="accuracy, %"
            ),
        )
    ]


def _strong(flag: str, row: Row) -> str:
    return "strong" if row[flag] else ""


WHOLE: Final = (
    HEADS["change"].shown("change"),
    HEADS["one_role"].shown("main role before"),
    HEADS["other_role"].shown("main role after"),
    HEADS["one_roles"].shown("roles before"),
    HEADS["other_roles"].shown("roles after"),
    HEADS["largest"].shown("largest change in", css="muted"),
    HEADS["largest_from"].shown("from, %"),
    HEADS["largest_to"].shown("to, %"),
)

DISTANCE: Final = HEADS["distance"].shown("distance, nats", "rising")


def head_table(pair: RunPair) -> TextTable:
    """Return every head with its counterpart, and what became of it."""
    named = (_head(HEADS, "head", f"head in {pair.first}"), _head(HEADS, "partner", f"head in {pair.second}"))
    columns = (*named, *WHOLE, *([DISTANCE] if pair.by_maps else []))
    return TextTable.of("Head by head", columns, pair.heads.to_dict("records"))


def head_counts(pair: RunPair) -> TextTable:
    """Return how many heads changed in which way."""
    columns = (TextColumn("changes of heads", lambda row: row[0], "row"), TextColumn("heads", lambda row: row[1]))
    return TextTable.of("Heads", columns, pair.head_counts.items())
