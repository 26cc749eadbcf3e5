"""A table of measures by layer: a row a measure, a column a layer, each value with its interval."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any

import pandas as pd

from reports.formats import decimal
from reports.tables.cells import Cell, TextColumn
from reports.tables.text_table import TextTable


def by_layer(title: str, frame: pd.DataFrame, of: Sequence[str], layer: str = "layer") -> TextTable:
    """Return the table of `value` [low, high], a row for each combination of the columns `of` and a column a layer.

    Layer 0 is the input. Rows keep the order of `frame`.
    """
    rows: dict[str, dict[Any, Any]] = {}
    for one in frame.to_dict("records"):
        name = ": ".join(dict.fromkeys(str(one[column]) for column in of))
        rows.setdefault(name, {"name": name})[int(one[layer])] = one
    columns = [
        TextColumn("Measure", lambda row: row["name"], "row"),
        *(
            TextColumn(f"Layer {depth}" if depth else "Input", partial(_cell, depth), kind="num")
            for depth in sorted(frame[layer].unique().tolist())
        ),
    ]
    return TextTable.of(title, columns, list(rows.values()))


def _cell(depth: int, row: dict[Any, Any]) -> Cell | str:
    if depth not in row:
        return ""
    one = row[depth]
    return Cell(decimal(one["value"]), f"[{decimal(one['low'])}, {decimal(one['high'])}]")
