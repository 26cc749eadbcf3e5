"""The rule that turns an interval into a verdict; it is written down before anything is measured."""

from __future__ import annotations

import math
from dataclasses import dataclass

from experiments.statements.estimates import Estimate

HOLDS, FAILS, OPEN = "holds", "does not hold", "not decided"

VERDICTS = (HOLDS, FAILS, OPEN)


@dataclass(frozen=True)
class Rule:
    """A statement holds where the whole interval lies in a range, and does not hold where all of it lies outside.

    The ends themselves are outside: an interval without width at `above` does not hold.
    """

    above: float | None = None
    below: float | None = None

    def __post_init__(self) -> None:
        """Refuse a range that has no end or no room."""
        if self.above is None and self.below is None:
            raise ValueError("a rule has an end: above, below, or both")
        if self.above is not None and self.below is not None and self.above >= self.below:
            raise ValueError(f"the range from {self.above} to {self.below} is empty")

    def verdict(self, estimate: Estimate) -> str:
        """Return one of VERDICTS; "not decided" also where there is no interval."""
        low, high = estimate.low, estimate.high
        if math.isnan(low) or math.isnan(high):
            return OPEN
        least = -math.inf if self.above is None else self.above
        most = math.inf if self.below is None else self.below
        if least < low and high < most:
            return HOLDS
        return FAILS if high <= least or low >= most else OPEN

    def words(self, unit: str = "") -> str:
        """Return the rule as a sentence; of fractions that are told in percent or points its ends are told so, too."""
        scale, behind = {"%": (100, " %"), "points": (100, " points")}.get(unit, (1, ""))
        least, most = (None if end is None else f"{scale * end:g}{behind}" for end in (self.above, self.below))
        if least is not None and most is not None:
            inside, outside = f"between {least} and {most}", "outside of that"
        elif least is not None:
            inside, outside = f"above {least}", f"at {least} or below"
        else:
            inside, outside = f"below {most}", f"at {most} or above"
        return (
            f"Holds if the whole 95 % interval lies {inside}, does not hold if all of it lies {outside}, "
            "else not decided."
        )
