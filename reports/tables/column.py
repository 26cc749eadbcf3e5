"""A column of a table, declared once: its type, its meaning, what it may hold, and how a cell is written."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import Any, Final

import numpy as np
import numpy.typing as npt
import pandas as pd

from reports.formats import MISSING, UNITS, p_value, percent
from reports.messages import one_line
from reports.tables.cells import Cell, TextColumn

Write = Callable[[Any], str]
"Writes one value of a column, NaN included, as a reader sees it."

SLACK: Final = 1e-6
"What rounding can do: a value so far outside its bounds is not refused."

CssClasses = Callable[[Any], str]
"Returns the classes that the page's style sheets have for a row's cell."


@dataclass(frozen=True)
class Column:
    """What a column holds. Schema, checks, CSV, tooltips, glossary, cards and reference follow from it."""

    name: str
    dtype: str
    "str, bool, int64, Int64 (whole numbers, some missing), float64, or object (a list a row)."
    meaning: str
    "One sentence: unit, range and direction where the name does not say them, and what NaN means."
    write: Write
    bounds: tuple[float, float] | None = None
    "Least and largest value, both allowed; missing values always are."
    interval: tuple[str, str] | None = None
    "The columns with the lower and the upper end of this column's interval."
    title: str = ""
    "What stands above the column; the name in words where it is empty."
    choices: tuple[str, ...] = ()
    "The texts that it may hold; any where there are none."

    @property
    def missing(self) -> str | float | bool:
        """What stands where nothing was measured: an empty text, no items, NaN."""
        nothing: dict[str, str | float | bool] = {"str": "", "bool": False, "int64": 0}
        return nothing.get(self.dtype, math.nan)

    @property
    def words(self) -> str:
        """What stands above the column, without a unit."""
        return self.title or self.name.replace("_", " ")

    @property
    def heading(self) -> str:
        """The title with the unit that the writer leaves out, such as "accuracy, %"."""
        unit = UNITS.get(self.write, "")
        return f"{self.words}, {unit}" if unit else self.words

    @property
    def values(self) -> str:
        """What it may hold, in a few signs, such as "[0, 1]" or "at least 0"; "" where that is anything."""
        if self.choices:
            return ", ".join(self.choices)
        if self.bounds is None:
            return ""
        low, high = self.bounds
        return f"at least {low:g}" if math.isinf(high) else f"[{low:.3g}, {high:.3g}]"

    def cell(self, value: Any) -> str:
        """Write one value; what is missing is a dash."""
        return MISSING if value is None or value is pd.NA else self.write(value)

    def shown(self, title: str = "", kind: str = "", *, within: str = "", unit: bool = True, **more: Any) -> TextColumn:
        """Return the column as tables for people have it, its meaning as tooltip.

        Rows are mappings or objects that have the value under the column's name, or do so `within` a part of them.
        Without a title of its own a table has the column's, without its unit where it is said elsewhere.
        """
        told = self.heading if unit else self.words
        capital = told[:1].upper() + told[1:] if told[1:2].islower() else told
        value = value_in(within, self.name)
        column = TextColumn(title or capital, lambda row: self._cell_of(value(row)), kind or self._kind)
        return replace(column, **{"tip": self.meaning, **more})

    def shown_interval(
        self, title: str = "95 % interval", *, within: str = "", missing: str = MISSING, **more: Any
    ) -> TextColumn:
        """Return a column for people with the interval of this one; `missing` where there is none."""
        between = self._between(within)
        tip = f"95 % interval of {self.words}."
        return TextColumn(title, lambda row: between(row) or missing, "text", "ci", **{"tip": tip, **more})

    def shown_beside(
        self, title: str = "", *, within: str = "", css: CssClasses = lambda row: "", **more: Any
    ) -> TextColumn:
        """Return a column for people with the number, and its interval beside it."""
        value, between = value_in(within, self.name), self._between(within)
        number = self.shown(title, within=within, unit=False, **more)
        return replace(number, write=lambda row: replace(self._cell_of(value(row)), aside=between(row), css=css(row)))

    def shown_with_interval(
        self, title: str = "", *, within: str = "", css: CssClasses = lambda row: "", missing: str = "", **more: Any
    ) -> tuple[TextColumn, ...]:
        """Return columns for people: on a page the interval stands beside the number, elsewhere on its own."""
        return (
            self.shown_beside(title, within=within, css=css, only="page", **more),
            self.shown(title, within=within, unit=False, only="text", **more),
            self.shown_interval("interval", within=within, missing=missing, only="text"),
        )

    @property
    def _kind(self) -> str:
        """How the column stands in a table for people."""
        if self.dtype not in NUMBERS:
            return "text"
        return "rising" if self.write is p_value else "num"

    def _cell_of(self, value: Any) -> Cell:
        """Return a value as a cell; numbers are sorted by as they are."""
        known = self.dtype in NUMBERS and value is not None and value is not pd.NA
        return Cell(self.cell(value) or MISSING, sort=NUMBERS[self.dtype](value) if known else None)

    def _between(self, within: str) -> Callable[[Any], str]:
        """Return what writes a row's interval; "" where it was not measured."""
        lower, upper = (value_in(within, end) for end in self.interval or ())

        def written(row: Any) -> str:
            low, high = lower(row), upper(row)
            return "" if math.isnan(low) or math.isnan(high) else f"[{self.write(low)}, {self.write(high)}]"

        return written

    def cast(self, values: pd.Series, where: str | Path) -> pd.Series:
        """Return `values` with the column's dtype; ValueError says why they cannot have it."""
        if self.dtype == "object":
            return values
        if self.dtype == "str" and values.isna().any():
            gaps = int(values.isna().sum())
            raise ValueError(f"{where}: column {self.name!r} has {gaps} missing value(s); use '' for none")
        if values.dtype == (wanted := _dtype(self.dtype)):
            return values
        try:
            return values.astype(wanted)
        except (TypeError, ValueError) as error:
            message = f"{where}: column {self.name!r} is {values.dtype}, expected {self.dtype} ({error})"
            raise ValueError(one_line(message)) from error

    def wrong(self, frame: pd.DataFrame) -> Iterator[tuple[pd.Series, str, tuple[str, ...]]]:
        """Yield marks of the rows that break the declaration, the complaint, and the columns that break it."""
        values = frame[self.name]
        if self.choices and not {*values.unique()} <= {*self.choices}:
            yield ~values.isin(self.choices), f"`{self.name}` is not one of {', '.join(self.choices)}", (self.name,)
        if self.bounds is not None:
            yield outside(values, *self.bounds), f"`{self.name}` {self._limits()}", (self.name,)
        if self.interval is not None:
            low, high = self.interval
            yield (
                _marked(_numbers(frame[low]) > _numbers(frame[high]) + SLACK, values),
                f"`{low}` lies above `{high}`",
                self.interval,
            )

    def _limits(self) -> str:
        low, high = self.bounds or (-math.inf, math.inf)
        if math.isinf(high):
            return "is negative" if low == 0 else f"is below {low:g}"
        return f"lies outside [{low:.3g}, {high:.3g}]" + (" (fractions, not percent)" if self.write is percent else "")


NUMBERS: Final[Mapping[str, Callable[[Any], float]]] = {"int64": int, "Int64": int, "float64": float}
"Types of numbers -> what makes a number of a value."


def value_in(within: str, name: str) -> Callable[[Any], Any]:
    """Return what finds a value in a row, a mapping or an object; `within` names the part of the row that has it."""
    path = [*within.split("."), name] if within else [name]

    def found(row: Any) -> Any:
        for part in path:
            row = row[part] if isinstance(row, Mapping) else getattr(row, part)
        return row

    return found


def outside(values: pd.Series, low: float, high: float | pd.Series) -> pd.Series:
    """Mark the values that lie outside [low, high] by more than rounding can do; missing ones do not."""
    numbers, highest = _numbers(values), high if isinstance(high, float | int) else _numbers(high)
    return _marked((numbers < low - SLACK) | (numbers > highest + SLACK), values)


def _numbers(values: pd.Series) -> npt.NDArray[np.float64]:
    return values.to_numpy(np.float64, na_value=np.nan)


def _marked(wrong: npt.NDArray[np.bool_], values: pd.Series) -> pd.Series:
    return pd.Series(wrong, index=values.index)


@cache
def _dtype(name: str) -> Any:
    return pd.api.types.pandas_dtype(name)
