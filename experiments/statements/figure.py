"""Figures of findings as plain numbers, drawn by `reports`; each looks like the paper's own."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

Point = tuple[float, float] | tuple[float, float, float, float]
"x and y, and the two ends of the interval of y."


@dataclass(frozen=True)
class Figure:
    """A chart of points, lines or bars, or a matrix."""

    kind: Literal["dots", "lines", "bars", "matrix"]
    title: str
    across: str
    "What x is; of a matrix, its columns."
    up: str
    "What y is; of a matrix, its rows."
    series: Mapping[str, Sequence[Point]] = field(default_factory=dict)
    "Name of a series -> its points; of bars, x is the place in `names`."
    names: Sequence[str] = ()
    "Names of the places on x, of bars and where x is no number."
    matrix: Sequence[Sequence[float]] = ()
    "Rows of a matrix from the top; NaN for an empty cell."
    rows: Sequence[str] = ()
    "Names of the rows of a matrix from the top; without them they are counted from 1."
    level: float | None = None
    "A horizontal line to compare with, such as chance."
    level_name: str = ""

    def recorded(self) -> dict[str, Any]:
        """Return the figure as JSON has it: what is missing is null."""
        cells = [[None if value != value else float(value) for value in row] for row in self.matrix]
        series = {
            name: [[None if value != value else float(value) for value in point] for point in points]
            for name, points in self.series.items()
        }
        about = {name: getattr(self, name) for name in ("kind", "title", "across", "up", "level", "level_name")}
        return about | {"names": list(self.names), "series": series, "matrix": cells, "rows": list(self.rows)}
