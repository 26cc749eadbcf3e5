"""Our numbers beside the published ones, for findings that have no figure of their own."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from typing import Any

SCALE = {"%": 100.0, "points": 100.0}
"Of fractions, which pages show in percent and in points."

SERIES = ("ours", "our baseline", "published", "published baseline")


def beside_published(finding: Mapping[str, Any], result: Mapping[str, Any]) -> dict[str, Any] | None:
    """Return bars of the numbers of one model and of the paper, a place a statement; None where none has a number.

    Statements whose numbers are in another unit than those of most are left out.
    """
    known = [
        (said, told)
        for said, told in zip(finding["statements"], result["statements"], strict=True)
        if "decides" in told
    ]
    if not known:
        return None
    unit = Counter(_unit(said, told) for said, told in known).most_common(1)[0][0]
    kept = [(said, told) for said, told in known if _unit(said, told) == unit]
    series: dict[str, list[list[float | None]]] = {name: [] for name in SERIES}
    for place, (said, told) in enumerate(kept):
        for name, point in zip(SERIES, _points(said, told, unit), strict=True):
            if point[0] is not None:
                series[name].append([float(place), *point])
    title = "Ours beside the published numbers" if series["published"] else "Our numbers: the paper's text has none"
    about: dict[str, Any] = {"kind": "bars", "title": title, "across": "", "up": unit}
    about |= {"level": None, "level_name": "", "matrix": [], "rows": []}
    shown = {name: points for name, points in series.items() if points}
    return about | {"names": [said["name"] for said, _ in kept], "series": shown}


def _unit(said: Mapping[str, Any], told: Mapping[str, Any]) -> str:
    """Return what the number beside the published one is in: `ours`, or the one that decides."""
    return str(said["shown"] if told["ours"] else said["unit"])


def _points(said: Mapping[str, Any], told: Mapping[str, Any], unit: str) -> tuple[list[float | None], ...]:
    """Return the points of SERIES without their place; those of the paper only where they are in the same unit."""
    scale, ours = SCALE.get(unit, 1.0), told["ours"] or told["decides"]
    paper = said["published"] if said["shown"] == unit else {"value": None, "baseline": None}
    single = (told["baseline"], paper["value"], paper["baseline"])
    return (
        [_scaled(ours[name], scale) for name in ("value", "low", "high")],
        *([_scaled(value, scale)] for value in single),
    )


def _scaled(value: float | None, scale: float) -> float | None:
    return None if value is None else scale * value
