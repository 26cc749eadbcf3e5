"""Axes of numbers: their range, whether they are logarithmic, and their marks, for pages and static figures alike."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

import altair as alt

Channel = TypeVar("Channel", alt.X, alt.Y)


@dataclass(frozen=True)
class Axis:
    """Where numbers lie on an axis: evenly, or by their logarithms where they span more than a factor of 20."""

    low: float
    high: float
    log: bool

    @classmethod
    def over(cls, values: Sequence[float], *, log: bool | None = None) -> Axis:
        """Return the axis that shows all of `values`, with some room."""
        known = [value for value in values if math.isfinite(value)] or [0.0, 1.0]
        low, high = min(known), max(known)
        logarithmic = low > 0 and high / low > 20 if log is None else log and low > 0
        if logarithmic:
            room = (high / low) ** 0.06 if high > low else 1.1
            return cls(low / room, high * room, True)
        gap = 0.07 * (high - low) or 0.05 * (abs(high) or 1)
        return cls(low - gap, high + gap, False)

    def marks(self) -> list[float]:
        """Return a few round numbers on the axis."""
        if not self.log:
            return _marks(self.low, self.high)
        powers = range(math.ceil(math.log10(self.low)), math.floor(math.log10(self.high)) + 1)
        every = [10.0**power for power in powers]
        if len(every) >= 2:
            return every[:: -(-len(every) // 6)]
        steps = [part * 10.0**power for power in range(powers.start - 1, powers.stop) for part in (1, 2, 5)]
        return [step for step in steps if self.low <= step <= self.high]


def scaled(channel: Channel, axis: Axis, **options: Any) -> Channel:
    """Return the channel with the range, the scale and the marks of an axis; `options` has more of Vega-Lite's axis."""
    ends = [axis.low, axis.high]
    scale = alt.Scale(type="log" if axis.log else "linear", domain=ends, nice=False)
    found: Channel = channel.scale(scale).axis(alt.Axis(**{"values": axis.marks(), "format": ",.6~g"} | options))
    return found


def _marks(low: float, high: float) -> list[float]:
    """Return two to six round numbers between `low` and `high`."""
    step = 10 ** math.floor(math.log10(high - low))
    step = next(one for one in (step / 5, step / 2, step, 2 * step) if (high - low) / one <= 6)
    first = math.ceil(low / step)
    return [round(number * step, 10) for number in range(first, math.floor(high / step) + 1)]
