"""A table, declared once: what it is about, what tells its rows apart, its columns, and its JSON Schema."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from types import MappingProxyType
from typing import Any, Final

import pandas as pd

from reports.formats import MISSING, minus
from reports.messages import one_line
from reports.tables.cells import TextColumn, written
from reports.tables.column import Column
from reports.tables.files import read_csv, read_parquet, replace_file
from reports.tables.text_table import TextTable

JsonRow = Mapping[str, Any]
"A row of a table in a JSON record; a part of it may be a mapping itself."

Refuse = Callable[[pd.Series, str], None]
"Called with a mark a row, and what is wrong with those that are marked."

Check = Callable[[pd.DataFrame, Refuse], None]
"Refuses what a declaration of columns cannot say."


@dataclass(frozen=True)
class Table:
    """What a table must hold, and everything that follows: schema, checks, files, and the same for people to read."""

    about: str
    "What a row is, and what the columns have in common, in a sentence or two."
    key: tuple[str, ...]
    "The columns that tell its rows apart."
    columns: tuple[Column, ...]
    "In order; a file may have further ones behind them."
    check: Check | None = None
    csv: bool = True
    "Whether it is written as CSV too; a table that only our own commands read is not."

    @cached_property
    def dtypes(self) -> Mapping[str, str]:
        """Column -> dtype, in order."""
        return MappingProxyType({column.name: column.dtype for column in self.columns})

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the columns, in order."""
        return tuple(self.dtypes)

    @cached_property
    def by_name(self) -> Mapping[str, Column]:
        """The columns by their names."""
        return MappingProxyType({column.name: column for column in self.columns})

    @property
    def missing(self) -> dict[str, Any]:
        """A row of which nothing was measured."""
        return {column.name: column.missing for column in self.columns}

    def __getitem__(self, name: str) -> Column:
        """Return a column."""
        return self.by_name[name]

    def meaning(self, name: str) -> str:
        """Return what a column means; "" of a column that is not declared."""
        return self[name].meaning if name in self.by_name else ""

    def validated(self, frame: pd.DataFrame, where: str | Path) -> pd.DataFrame:
        """Return a copy of `frame` with its columns in order and with their dtypes; further columns follow.

        Raises ValueError, one line that begins with `where`, on missing columns, wrong dtypes, names of heads that do
        not match layer and head, values that are none of the choices or out of bounds, intervals whose ends are the
        wrong way round, what `check` refuses, and two rows with the same key.
        """
        ordered = self._typed(frame, where)
        self.refuse(ordered, _misnamed(ordered), where, "`name` is not layer + 1, '-', head + 1", ("layer", "head"))
        for column in self.columns:
            for wrong, complaint, of in column.wrong(ordered):
                self.refuse(ordered, wrong, where, complaint, of)
        if self.check is not None:
            self.check(ordered, lambda wrong, complaint: self.refuse(ordered, wrong, where, complaint))
        twice = ordered.duplicated(list(self.key))
        self.refuse(ordered, twice, where, f"two rows have the same {', '.join(self.key)}")
        return ordered

    def write(self, frame: pd.DataFrame, folder: Path, name: str) -> Path:
        """Write NAME.parquet, and the same rows as NAME.csv where that is wanted, into `folder`; return the first."""
        path = folder / f"{name}.parquet"
        checked = self.validated(frame, path)
        if self.csv:
            replace_file(checked, path.with_suffix(".csv"))
        return replace_file(checked, path)

    def read(self, path: Path) -> pd.DataFrame:
        """Read a parquet file, or a CSV file with the same result; ValueError says what is wrong with it."""
        return self.validated(read_csv(path, self.dtypes) if path.suffix == ".csv" else read_parquet(path), path)

    def text_columns(self, *columns: str | TextColumn) -> tuple[TextColumn, ...]:
        """Return columns of a table for people: declared ones are named, those made for display are given."""
        return tuple(self[one].shown() if isinstance(one, str) else one for one in columns)

    def shown(self, frame: pd.DataFrame, title: str, note: str = "") -> TextTable:
        """Return those columns that `frame` has as people read them: declared ones by their writers, then the others.

        Headings carry the columns' meanings, which HTML shows as tooltips.
        """
        columns = tuple(
            self[name].shown(plain=self[name].heading) if name in self.by_name else _undeclared(name)
            for name in map(str, frame.columns)
        )
        return TextTable(title, columns, written(columns, frame.to_dict("records")), frame, note)

    def beside(self, frame: pd.DataFrame, title: str, *names: str) -> TextTable:
        """Return columns as people read them, those named or all, each interval beside its number."""
        ends = {end for column in self.columns for end in column.interval or ()}
        shown = [self[name] for name in names or self.names if name not in ends]
        kinds = ["row", *[""] * (len(shown) - 1)]
        columns = [
            one.shown_beside(kind=kind) if one.interval else one.shown(kind=kind)
            for one, kind in zip(shown, kinds, strict=True)
        ]
        return TextTable.of(title, columns, frame.to_dict("records"))

    def _typed(self, frame: pd.DataFrame, where: str | Path) -> pd.DataFrame:
        missing = [name for name in self.names if name not in frame.columns]
        if missing:
            raise ValueError(
                f"{where}: column(s) {', '.join(missing)} missing; expected {', '.join(self.names)}; run again"
            )
        ordered = frame[[*self.names, *(name for name in frame.columns if name not in self.dtypes)]].copy()
        for column in self.columns:
            found = ordered[column.name]
            if (cast := column.cast(found, where)) is not found:
                ordered[column.name] = cast
        return ordered

    def refuse(
        self, frame: pd.DataFrame, wrong: pd.Series, where: str | Path, complaint: str, of: tuple[str, ...] = ()
    ) -> None:
        """Raise ValueError that shows the first of the marked rows by its key, and what it has in the columns `of`."""
        if not wrong.any():
            return
        row = frame.loc[wrong].iloc[0]
        named = ", ".join(str(row[column]) for column in self.key)
        got = f" (got {' and '.join(str(row[column]) for column in of)})" if of else ""
        raise ValueError(one_line(f"{where}: {complaint}, in {int(wrong.sum())} row(s); the first is {named}{got}"))


def _misnamed(frame: pd.DataFrame) -> pd.Series:
    """Mark the rows whose `name` is not that of `layer` and `head`; names of several heads are never wrong."""
    if not {"name", "layer", "head"} <= {*frame.columns}:
        return pd.Series(False, index=frame.index)
    heads = frame[["name", "layer", "head"]].drop_duplicates().dropna()
    expected = [f"{layer + 1}-{head + 1}" for layer, head in zip(heads["layer"], heads["head"], strict=True)]
    if list(heads["name"]) == expected:
        return pd.Series(False, index=frame.index)
    single = frame["layer"].notna() & frame["head"].notna()
    return single & (frame["name"] != (frame["layer"] + 1).astype("str") + "-" + (frame["head"] + 1).astype("str"))


def _undeclared(name: str) -> TextColumn:
    """Return a column that a table does not declare."""
    return TextColumn(name, lambda row: _plain(row[name]), "text", plain=name)


def _plain(value: Any) -> str:
    if isinstance(value, float):
        return MISSING if math.isnan(value) else minus(f"{value:.4g}")
    return MISSING if value is None or value is pd.NA else str(value)


def read_tables(folder: Path, tables: Mapping[str, Table]) -> dict[str, pd.DataFrame]:
    """Return those of the tables that lie in `folder`, by name; ValueError says what is wrong with one."""
    paths = {name: folder / f"{name}.parquet" for name in tables}
    return {name: tables[name].read(path) for name, path in paths.items() if path.is_file()}


def last_step(frame: pd.DataFrame) -> pd.DataFrame:
    """Return the rows of the model's last step of training; all where its steps are not known."""
    return frame[frame["step"] == frame["step"].max()] if frame["step"].notna().any() else frame


def rows_frame(table: Table, rows: Iterable[JsonRow], where: str) -> pd.DataFrame:
    """Return rows of a JSON record as a frame, which may be empty.

    ValueError, which begins with `where`, says what is wrong with those that are none of the table's.
    """
    flat = [dict(_flat(row)) for row in rows]
    for row in flat:
        if missing := [name for name in table.names if name not in row]:
            raise ValueError(f"{where}: {', '.join(missing)} missing in a row; make the record again")
    frame = pd.DataFrame([{name: row[name] for name in table.names} for row in flat], columns=[*table.names])
    return table.validated(frame, where) if flat else frame


def _flat(row: JsonRow, stem: str = "") -> Iterator[tuple[str, Any]]:
    """Yield name and value of every number of a row: those of its parts are named after part and number.

    The rate of a part, which has an interval, is named after the part alone.
    """
    for key, value in row.items():
        name = stem.rstrip("_") if stem and key == "rate" else f"{stem}{key}"
        yield from _flat(value, f"{name}_") if isinstance(value, Mapping) else [(name, value)]


VERSION: Final = 4
"""Of the schemas of exported tables. A column that goes, or whose type or meaning changes, raises it; one that is added
does not."""

DIALECT: Final = "https://json-schema.org/draft/2020-12/schema"

TYPES: Final[Mapping[str, list[str]]] = {
    "str": ["string"],
    "bool": ["boolean"],
    "int64": ["integer"],
    "Int64": ["integer", "null"],
    "float64": ["number", "null"],
    "object": ["array"],
}
"Type of a column -> its types in JSON; a missing number is null."


def json_schema(name: str, table: Table) -> dict[str, Any]:
    """Return the JSON Schema (draft 2020-12) of a table as a list of rows.

    Each column has its meaning as description, bounds and choices where they are declared, and the names of the columns
    with its interval as `interval`; `key` names the columns that tell rows apart.
    """
    return {
        "$schema": DIALECT,
        "title": f"headscope {name}",
        "description": table.about,
        "version": VERSION,
        "key": [*table.key],
        "type": "array",
        "items": {
            "type": "object",
            "properties": {column.name: _property(column) for column in table.columns},
            "required": [*table.names],
            "additionalProperties": True,
        },
    }


def _property(column: Column) -> dict[str, Any]:
    found: dict[str, Any] = {"type": TYPES[column.dtype], "description": column.meaning}
    if column.choices:
        found["enum"] = [*column.choices]
    if column.bounds is not None:
        limits = zip(("minimum", "maximum"), column.bounds, strict=True)
        found |= {key: limit for key, limit in limits if math.isfinite(limit)}
    if column.interval is not None:
        found["interval"] = [*column.interval]
    return found
