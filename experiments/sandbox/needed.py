"""How many scored words and documents are needed: read off the power curves of the sandbox."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

POWERS = (0.8, 0.95)
"Shares of runs in which a head is to have the first grade."


def needed_items(power: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """Return how many items and documents each margin needs for each of POWERS: those of the neediest role.

    Between the sizes that were simulated, power is interpolated over the logarithm of the items. A role that has more
    power than wanted at the smallest size already says nothing, unless all do (`at_most`). `items` is None where the
    largest size of some role has less power. Curves of the first grade count alone.
    """
    rows, power = [], [row for row in power if row["grade"] == 1]
    for margin in sorted({row["margin"] for row in power}):
        for wanted in POWERS:
            by_role = {
                role: _crossing([row for row in power if (row["role"], row["margin"]) == (role, margin)], wanted)
                for role in dict.fromkeys(row["role"] for row in power if row["margin"] == margin)
            }
            rows.append({"margin": margin, "power": wanted} | _most(by_role))
    return rows


@dataclass(frozen=True)
class Crossing:
    """Where a curve of power reaches what is wanted."""

    items: float
    documents: float
    crosses: bool
    "Whether it was below at a smaller size."


def _most(by_role: Mapping[str, Crossing | None]) -> dict[str, Any]:
    """Return what the role takes that needs most documents: it has few items in each, so that items count too."""
    found = {role: crossing for role, crossing in by_role.items() if crossing is not None}
    if len(found) < len(by_role):
        missed = next(role for role in by_role if role not in found)
        return {"items": None, "documents": None, "role": missed, "at_most": False}
    crossed = {role: crossing for role, crossing in found.items() if crossing.crosses}
    if crossed:
        role = max(crossed, key=lambda name: crossed[name].documents)
    else:
        role = min(found, key=lambda name: found[name].items)
    items, documents = _whole(found[role].items), _whole(found[role].documents)
    return {"items": items, "documents": documents, "role": role, "at_most": not crossed}


def _whole(items: float) -> int:
    """Return the next whole number, rounding errors aside."""
    return int(np.ceil(items - 1e-6))


def _crossing(curve: Sequence[Mapping[str, Any]], wanted: float) -> Crossing | None:
    """Return where a curve of power first reaches `wanted`; None where it never does."""
    points = sorted((float(row["items"]), float(row["documents"]), float(row["graded"]["rate"])) for row in curve)
    for number, (items, documents, rate) in enumerate(points):
        if rate >= wanted:
            if number == 0:
                return Crossing(items, documents, crosses=False)
            fewer, less, lower = points[number - 1]
            part = (wanted - lower) / (rate - lower)
            return Crossing(fewer * (items / fewer) ** part, less * (documents / less) ** part, crosses=True)
    return None
