"""A number and its 95 % interval: what is measured of anything, in any package."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, Self


@dataclass(frozen=True)
class Estimate:
    """A number and the interval that holds its true value in 95 % of repetitions; NaN where it was not measured."""

    value: float = math.nan
    low: float = math.nan
    high: float = math.nan
    n: int = 0
    "Repeats or items that it is made from."

    @classmethod
    def of(cls, entry: Mapping[str, Any], **more: Any) -> Self:
        """Read it from JSON, where null is what is missing; `more` is what a kind of estimate has beside."""
        value, low, high = (math.nan if entry[end] is None else float(entry[end]) for end in ("value", "low", "high"))
        return cls(value, low, high, int(entry["n"]), **more)

    @classmethod
    def share(cls, share: float, n: int) -> Self:
        """Return a share of n with Wilson's interval, which holds also where the share is a mean of shares.

        The mean of shares that are measured on the same n varies no more than one share of n.
        """
        if not n or math.isnan(share):
            return cls()
        far = 1.959963984540054
        middle = (share + far**2 / (2 * n)) / (1 + far**2 / n)
        half = far * math.sqrt(share * (1 - share) / n + (far / (2 * n)) ** 2) / (1 + far**2 / n)
        return cls(share, max(middle - half, 0), min(middle + half, 1), n)

    def recorded(self) -> dict[str, Any]:
        """Return it as JSON has it: what is missing is null."""
        ends = {"value": self.value, "low": self.low, "high": self.high}
        return {name: None if math.isnan(one) else one for name, one in ends.items()} | {"n": self.n}

    @property
    def known(self) -> bool:
        """Whether it was measured."""
        return not math.isnan(self.value)

    def at(self, place: float) -> tuple[float, float, float, float]:
        """Return it as a point of a figure at a place on x."""
        return place, self.value, self.low, self.high

    def within(self, lowest: float, highest: float) -> Estimate:
        """Return the same with an interval that leaves out what cannot be, such as shares above 1."""
        return replace(self, low=max(self.low, lowest), high=min(self.high, highest))
