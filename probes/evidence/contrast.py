"""How far two runs differ on one question: the difference of two accuracies, its interval and a two-sided test."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from probes.evidence.leads import Documents
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


def paired_difference(n: Numbers, first: Numbers, second: Numbers) -> Difference:
    """Return the difference where both runs answered the same items; `n` and the hits of both are [document].

    Interval and p are those of leads (`Documents`), p twice that of the direction that was seen.
    """
    documents, more = Documents.of(n), (second - first)[:, None]
    low, high = documents.lead_interval(more)[:, 0].tolist()
    p = 2 * np.fmin(documents.p_above(more, 0), documents.p_above(-more, 0))
    return Difference(float(more.sum() / n.sum()), low, high, float(np.minimum(p, 1)[0]), paired=True)


def independent_difference(first: Interval, second: Interval) -> Difference:
    """Return the difference as it follows from both numbers' own intervals, as if they were independent.

    Each end of the interval takes the ends of both that lie in its direction (Zou and Donner 2008, Statistics in
    Medicine 27:10, the MOVER). Runs that read the same texts err in the same direction, mostly, and then this interval
    is too wide. p is below 0.05 exactly where the interval leaves 0 out.
    """
    value = second[0] - first[0]
    low = value - math.hypot(second[0] - second[1], first[2] - first[0])
    high = value + math.hypot(second[2] - second[0], first[0] - first[1])
    return Difference(value, low, high, _p(abs(value), value - low if value > 0 else high - value), paired=False)


def _p(distance: float, reach: float) -> float:
    """Return the two-sided p of a difference that lies `distance` from 0, and `reach` from the end nearest to 0."""
    if math.isnan(distance) or math.isnan(reach):
        return math.nan
    if distance == 0:
        return 1.0
    return math.erfc(FAR * distance / reach / math.sqrt(2)) if reach > 0 else math.nan
