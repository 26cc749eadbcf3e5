"""How far two runs differ on one question: the difference of two accuracies, its interval and a two-sided test."""

from __future__ import annotations

import math

import numpy as np

from probes.evidence.leads import Documents
from probes.scoring.tally import Numbers
from reports.tables.estimate import Estimate

FAR = 1.959963984540054
"Standard deviations between a number and the ends of its 95 % interval, where it is normal."


def paired_difference(n: Numbers, first: Numbers, second: Numbers) -> tuple[Estimate, float]:
    """Return second minus first where both runs answered the same items, and its p; `n` and the hits are [document].

    Interval and p are those of leads (`Documents`), p twice that of the direction that was seen.
    """
    documents, more = Documents.of(n), (second - first)[:, None]
    low, high = documents.lead_interval(more)[:, 0].tolist()
    p = 2 * np.fmin(documents.p_above(more, 0), documents.p_above(-more, 0))
    return Estimate(float(more.sum() / n.sum()), low, high, int(n.sum())), float(np.minimum(p, 1)[0])


def independent_difference(first: Estimate, second: Estimate) -> tuple[Estimate, float]:
    """Return second minus first, and its p, as they follow from both numbers' intervals, as if independent.

    Each end of the interval takes the ends of both that lie in its direction (Zou and Donner 2008, Statistics in
    Medicine 27:10, the MOVER). Runs that read the same texts err in the same direction, mostly, and then this interval
    is too wide. p is below 0.05 exactly where the interval leaves 0 out.
    """
    value = second.value - first.value
    low = value - math.hypot(second.value - second.low, first.high - first.value)
    high = value + math.hypot(second.high - second.value, first.value - first.low)
    found = Estimate(value, low, high, min(first.n, second.n))
    return found, _p(abs(value), value - low if value > 0 else high - value)


def _p(distance: float, reach: float) -> float:
    """Return the two-sided p of a difference that lies `distance` from 0, and `reach` from the end nearest to 0."""
    if math.isnan(distance) or math.isnan(reach):
        return math.nan
    if distance == 0:
        return 1.0
    return math.erfc(FAR * distance / reach / math.sqrt(2)) if reach > 0 else math.nan
