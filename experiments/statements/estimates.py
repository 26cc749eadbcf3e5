"""Estimates with 95 % intervals over repeats: seeds of trainings, rounds of timings."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

import numpy as np

from reports.tables.estimate import Estimate as Estimate

LEVEL = 0.95


def exact(value: float) -> Estimate:
    """Return a number that was counted and not measured: its interval has no width."""
    return Estimate(value, value, value, 1)


def mean_of(values: Sequence[float]) -> Estimate:
    """Return the mean with Student's t interval over repeats; its ends are NaN for fewer than two repeats.

    >>> mean_of([1.0, 2.0, 3.0])  # doctest: +ELLIPSIS
    Estimate(value=2.0, low=-0.484..., high=4.484..., n=3)
    """
    from scipy import stats

    n = len(values)
    if n == 0:
        return Estimate(math.nan, math.nan, math.nan, 0)
    mean = float(np.mean(values))
    if n < 2:
        return Estimate(mean, math.nan, math.nan, n)
    half = float(stats.t.ppf((1 + LEVEL) / 2, n - 1) * np.std(values, ddof=1) / math.sqrt(n))
    return Estimate(mean, mean - half, mean + half, n)


def difference(ours: Mapping[int, float], theirs: Mapping[int, float]) -> Estimate:
    """Return the mean of ours - theirs, paired by repeat; repeats that only one of them has are left out."""
    return mean_of([ours[repeat] - theirs[repeat] for repeat in sorted(ours.keys() & theirs.keys())])


def ratio(ours: Sequence[float], theirs: Sequence[float]) -> Estimate:
    """Return the geometric mean of ours / theirs, paired by round: the interval is that of the mean log ratio."""
    return geometric_mean([one / other for one, other in zip(ours, theirs, strict=True)])


def geometric_mean(values: Sequence[float]) -> Estimate:
    """Return the geometric mean of positive numbers, with the interval of the mean of their logarithms."""
    logs = mean_of([math.log(value) for value in values])
    return Estimate(math.exp(logs.value), math.exp(logs.low), math.exp(logs.high), logs.n)
