"""How many scored words are needed: read off the power curves of the sandbox."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

POWERS = (0.8, 0.95)
"Shares of runs in which a head is to be called specialised."


def needed_items(power: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """Return how many items each margin needs for each of POWERS: of all roles the one that needs most.

    Between the sizes that were simulated, power is interpolated over the logarithm of the items. A role that has more
    power than wanted at the smallest size already says nothing, unless all do (`at_most`). `items` is None where the
    largest size of some role has less power.
    """
    rows = []
    for margin in sorted({row["margin"] for row in power}):
        for wanted in POWERS:
            by_role = {
                role: _crossing([row for row in power if (row["role"], row["margin"]) == (role, margin)], wanted)
                for role in dict.fromkeys(row["role"] for row in power if row["margin"] == margin)
            }
            rows.append({"margin": margin, "power": wanted} | _most(by_role))
    return rows


def _most(by_role: Mapping[str, tuple[float, bool] | None]) -> dict[str, Any]:
    """Return the items of the role that needs most."""
    found = {role: crossing for role, crossing in by_role.items() if crossing is not None}
    if len(found) < len(by_role):
        return {"items": None, "role": next(role for role in by_role if role not in found), "at_most": False}
    crossed = {role: items for role, (items, crosses) in found.items() if crosses}
    if crossed:
        role = max(crossed, key=crossed.__getitem__)
        return {"items": _whole(crossed[role]), "role": role, "at_most": False}
    role = min(found, key=lambda name: found[name][0])
    return {"items": _whole(found[role][0]), "role": role, "at_most": True}


def _whole(items: float) -> int:
    """Return the next whole number, rounding errors aside."""
    return int(np.ceil(items - 1e-6))


def _crossing(curve: Sequence[Mapping[str, Any]], wanted: float) -> tuple[float, bool] | None:
    """Return the items at which a curve of power first reaches `wanted`, and whether it was below before.

    None where it never does.
    """
    points = sorted((float(row["items"]), float(row["specialised"]["rate"])) for row in curve)
    for number, (items, rate) in enumerate(points):
        if rate >= wanted:
            if number == 0:
                return items, False
            before, lower = points[number - 1]
            part = (wanted - lower) / (rate - lower)
            return float(np.exp(np.log(before) + part * (np.log(items) - np.log(before)))), True
    return None
