"""How many scored words are needed: read off the power curves of the sandbox."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

POWERS = (0.8, 0.95)
"Shares of runs in which a head is to be called specialised."


def needed_items(power: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """Return how many items each margin needs for each of POWERS: of all roles the one that needs most.

    Between the sizes that were simulated, power is interpolated over the logarithm of the items. `items` is None where
    even the largest size has less power; where the smallest has more already, its items are told.
    """
    rows = []
    for margin in sorted({row["margin"] for row in power}):
        for wanted in POWERS:
            by_role = {
                role: _crossing([row for row in power if (row["role"], row["margin"]) == (role, margin)], wanted)
                for role in dict.fromkeys(row["role"] for row in power)
            }
            missed = [role for role, items in by_role.items() if items is None]
            most = max((items, role) for role, items in by_role.items() if items is not None) if not missed else None
            rows.append(
                {
                    "margin": margin,
                    "power": wanted,
                    "items": None if most is None else int(np.ceil(most[0])),
                    "role": missed[0] if most is None else most[1],
                }
            )
    return rows


def _crossing(curve: Sequence[Mapping[str, Any]], wanted: float) -> float | None:
    """Return the items at which a curve of power first reaches `wanted`; None where it never does."""
    points = sorted((float(row["items"]), float(row["specialised"]["rate"])) for row in curve)
    for number, (items, rate) in enumerate(points):
        if rate >= wanted:
            if number == 0:
                return items
            before, lower = points[number - 1]
            part = (wanted - lower) / (rate - lower)
            return float(np.exp(np.log(before) + part * (np.log(items) - np.log(before))))
    return None
