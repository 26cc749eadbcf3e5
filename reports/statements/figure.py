"""Figures as plain numbers, which `drawn` draws; those of findings look like the paper's own."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, fields
from typing import Any, Final, Literal, Self

Point = tuple[float, float] | tuple[float, float, float, float]
"x and y, and the two ends of the interval of y."

SCALE: Final = {"%": 100.0, "points": 100.0}
"Of fractions, which pages show in percent and in points."


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
    log: str = ""
    'Which axes are logarithmic: "x", "y" or "xy".'
    dashed: Sequence[str] = ()
    "Series whose lines are dashed."

    @classmethod
    def of(cls, entry: Mapping[str, Any]) -> Self:
        """Read a figure of a record, in which null is what is missing."""
        return cls(**{one.name: _with_nan(entry[one.name]) for one in fields(cls) if one.name in entry})

    def recorded(self) -> dict[str, Any]:
        """Return the figure as JSON has it: what is missing is null."""
        found: dict[str, Any] = _with_null(asdict(self))
        return found

    @property
    def points(self) -> dict[str, list[tuple[float, float, float, float]]]:
        """The points of every series that have a value, with the ends of y's interval: y where there is none."""
        return {name: [_whole(one) for one in points if _known(one[:2])] for name, points in self.series.items()}


def _whole(point: Sequence[float]) -> tuple[float, float, float, float]:
    low, high = point[2:] if len(point) > 3 and _known(point) else (point[1], point[1])
    return (point[0], point[1], low, high)


def _known(numbers: Sequence[float]) -> bool:
    return all(map(math.isfinite, numbers))


def _with_null(found: Any) -> Any:
    if isinstance(found, Mapping):
        return {name: _with_null(one) for name, one in found.items()}
    if isinstance(found, (list, tuple)):
        return [_with_null(one) for one in found]
    if found is None or isinstance(found, (str, int)):
        return found
    return None if math.isnan(found) else float(found)


def _with_nan(found: Any, *, inside: bool = False) -> Any:
    if isinstance(found, Mapping):
        return {name: _with_nan(one, inside=True) for name, one in found.items()}
    if isinstance(found, list):
        return [_with_nan(one, inside=True) for one in found]
    return math.nan if found is None and inside else found


BESIDE: Final = ("ours", "our baseline", "published", "published baseline")


def beside_published(finding: Mapping[str, Any], result: Mapping[str, Any]) -> Figure | None:
    """Return bars of the numbers of one model and of the paper, a place a statement; None where none has a number.

    Statements whose numbers are in another unit than those of most are left out.
    """
    pairs = zip(finding["statements"], result["statements"], strict=True)
    known = [(said, told) for said, told in pairs if "decides" in told]
    if not known:
        return None
    unit = Counter(_unit(said, told) for said, told in known).most_common(1)[0][0]
    kept = [(said, told) for said, told in known if _unit(said, told) == unit]
    series: dict[str, list[Point]] = {name: [] for name in BESIDE}
    for place, (said, told) in enumerate(kept):
        for name, point in zip(BESIDE, _points(said, told, unit), strict=True):
            if point[0] is not None:
                series[name].append((place, *point))
    title = "Ours beside the published numbers" if series["published"] else "Our numbers: the paper's text has none"
    shown = {name: points for name, points in series.items() if points}
    return Figure("bars", title, "", unit, shown, [said["name"] for said, _ in kept])


def _unit(said: Mapping[str, Any], told: Mapping[str, Any]) -> str:
    """Return what the number beside the published one is in: `ours`, or the one that decides."""
    return str(said["shown"] if told["ours"] else said["unit"])


def _points(said: Mapping[str, Any], told: Mapping[str, Any], unit: str) -> tuple[list[Any], ...]:
    """Return the points of BESIDE without their place; those of the paper only where they are in the same unit."""
    scale, ours = SCALE.get(unit, 1.0), told["ours"] or told["decides"]
    paper = said["published"] if said["shown"] == unit else {"value": None, "baseline": None}
    numbers = ([ours["value"], *(math.nan if ours[end] is None else ours[end] for end in ("low", "high"))],)
    numbers += tuple([value] for value in (told["baseline"], paper["value"], paper["baseline"]))
    return tuple([None if one is None else scale * one for one in several] for several in numbers)
