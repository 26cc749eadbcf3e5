"""How far two runs differ on one question: the difference of two accuracies, its interval and a two-sided test."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from probes.evidence.question import Draws
from probes.scoring.tally import Numbers

FAR = 1.959963984540054
"Standard deviations between a number and the ends of its 95 % interval, where it is normal."

Interval = tuple[float, float, float]
"A number with the ends of its 95 % interval: value, low, high."


@dataclass(frozen=True)
class Difference:
    """Accuracy of the other run minus that of the one; fractions in [-1, 1], NaN where nothing can be said."""

    value: float
    low: float
    high: float
    p: float
    "Two-sided, of this difference by itself."
    paired: bool
    "Whether both runs were held against each other item group by item group."


def paired_difference(groups: Sequence[int], n: Numbers, one: Numbers, other: Numbers, draws: Draws) -> Difference:
    """Return the difference where both runs answered the same items: `n`, hits of `one` and of `other` are [group].

    Groups are resampled for both at once, and p is twice that of the sign flips in the direction that was seen.
    """
    resamples = draws.bootstrap.of(groups, n)
    means = resamples.means(np.stack([one, other], 1))
    low, high = resamples.interval(means[:, 1:] - means[:, :1])[:, 0].tolist()
    tests = [draws.flips.test(groups, up[:, None], down[:, None]) for up, down in ((other, one), (one, other))]
    p = float(np.minimum(2 * min(test.p[0] for test in tests), 1))
    return Difference(float((other.sum() - one.sum()) / n.sum()), low, high, p, paired=True)


def independent_difference(one: Interval, other: Interval) -> Difference:
    """Return the difference as it follows from both numbers' own intervals, as if they were independent.

    Each end of the interval takes the ends of both that lie in its direction (Zou and Donner 2008, Statistics in
    Medicine 27:10, the MOVER). Runs that read the same texts err in the same direction, mostly, and then this interval
    is too wide. p is below 0.05 exactly where the interval leaves 0 out.
    """
    value = other[0] - one[0]
    low = value - math.hypot(other[0] - other[1], one[2] - one[0])
    high = value + math.hypot(other[2] - other[0], one[0] - one[1])
    return Difference(value, low, high, _p(abs(value), value - low if value > 0 else high - value), paired=False)


def _p(distance: float, reach: float) -> float:
    """Return the two-sided p of a difference that lies `distance` from 0, and `reach` from the end nearest to 0."""
    if math.isnan(distance) or math.isnan(reach):
        return math.nan
    if distance == 0:
        return 1.0
    return math.erfc(FAR * distance / reach / math.sqrt(2)) if reach > 0 else 0.0
