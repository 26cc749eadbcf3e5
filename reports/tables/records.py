"""Lists of rows in a JSON record as tables: what is written into a record, and read from it, is checked."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

import pandas as pd

from reports.tables.table import Table

JsonRow = Mapping[str, Any]


def check_rows(table: Table, rows: Iterable[JsonRow], where: str) -> None:
    """Refuse rows that are none of the table's; ValueError begins with `where`. No rows are fine."""
    flat = [dict(_flat(row)) for row in rows]
    for row in flat:
        if missing := [name for name in table.names if name not in row]:
            raise ValueError(f"{where}: {', '.join(missing)} missing in a row; make the record again")
    if flat:
        table.validated(pd.DataFrame([{name: row[name] for name in table.names} for row in flat]), where)


def _flat(row: JsonRow, stem: str = "") -> Iterator[tuple[str, Any]]:
    """Yield name and value of every number of a row: those of its parts are named after part and number.

    The rate of a part, which has an interval, is named after the part alone.
    """
    for key, value in row.items():
        name = stem.rstrip("_") if stem and key == "rate" else f"{stem}{key}"
        yield from _flat(value, f"{name}_") if isinstance(value, Mapping) else [(name, value)]
