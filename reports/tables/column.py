"""A column of a table, declared once: its type, its meaning, what it may hold, and how a cell is written."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import pandas as pd

from reports.formats import MISSING, UNITS, percent

Write = Callable[[Any], str]
"Writes one value of a column, NaN included, as a reader sees it."

SLACK: Final = 1e-6
"What rounding can do: a value so far outside its bounds is not refused."


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
    def heading(self) -> str:
        """The title with the unit that the writer leaves out, such as "accuracy, %"."""
        words, unit = self.title or self.name.replace("_", " "), UNITS.get(self.write, "")
        return f"{words}, {unit}" if unit else words

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

    def cast(self, values: pd.Series, where: str | Path) -> pd.Series:
        """Return `values` with the column's dtype; ValueError says why they cannot have it."""
        if self.dtype == "object":
            return values
        if self.dtype == "str" and values.isna().any():
            gaps = int(values.isna().sum())
            raise ValueError(f"{where}: column {self.name!r} has {gaps} missing value(s); use '' for none")
        try:
            return values.astype(pd.api.types.pandas_dtype(self.dtype))
        except (TypeError, ValueError) as error:
            message = f"{where}: column {self.name!r} is {values.dtype}, expected {self.dtype} ({error})"
            raise ValueError(message) from error

    def wrong(self, frame: pd.DataFrame) -> Iterator[tuple[pd.Series, str, tuple[str, ...]]]:
        """Yield marks of the rows that break the declaration, the complaint, and the columns that break it."""
        values = frame[self.name]
        if self.choices:
            yield ~values.isin(self.choices), f"`{self.name}` is not one of {', '.join(self.choices)}", (self.name,)
        if self.bounds is not None:
            yield outside(values, *self.bounds), f"`{self.name}` {self._limits()}", (self.name,)
        if self.interval is not None:
            low, high = self.interval
            yield frame[low] > frame[high] + SLACK, f"`{low}` lies above `{high}`", self.interval

    def _limits(self) -> str:
        low, high = self.bounds or (-math.inf, math.inf)
        if math.isinf(high):
            return "is negative" if low == 0 else f"is below {low:g}"
        return f"lies outside [{low:.3g}, {high:.3g}]" + (" (fractions, not percent)" if self.write is percent else "")


def outside(values: pd.Series, low: float, high: float | pd.Series) -> pd.Series:
    """Mark the values that lie outside [low, high] by more than rounding can do; missing ones do not."""
    marked: pd.Series = ((values < low - SLACK) | (values > high + SLACK)).fillna(False)
    return marked.astype(bool)
