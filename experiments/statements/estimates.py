"""Estimates with 95 % intervals: over repeats, such as seeds of trainings, and over heads and texts at once."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd
from jaxtyping import Float64

from probes.evidence.statistics import expanded_tail
from reports.tables.estimate import Estimate as Estimate

LEVEL = 0.95

REPLICATES = 2000

Means = Float64[np.ndarray, "column head"]


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


@dataclass(frozen=True)
class CrossedSums:
    """Sums over the texts of each document of numbers that every head has on every text."""

    totals: Float64[np.ndarray, "document column head"]
    texts: Float64[np.ndarray, " document"]
    "How many texts of a document are counted."

    def means(self, drawn: Float64[np.ndarray, " document"]) -> Means:
        """Return the mean over texts for every head, documents drawn so often; NaN where no text is drawn."""
        texts = float(drawn @ self.texts)
        if not texts:
            return np.full(self.totals.shape[1:], np.nan)
        means: Means = np.einsum("d,dch->ch", drawn, self.totals) / texts
        return means

    @property
    def whole(self) -> Float64[np.ndarray, " column"]:
        """The mean over all texts and heads."""
        whole: Float64[np.ndarray, " column"] = self.means(np.ones(len(self.texts))).mean(-1)
        return whole


def crossed_sums(table: pd.DataFrame, columns: Sequence[str], counted: pd.Series) -> CrossedSums:
    """Return the sums of columns over the rows that are `counted`, of a table with a row a head and text.

    All documents and heads of the table have a place, so that several sums of one table can be resampled together.
    """
    documents, document = np.unique(table["document"], return_inverse=True)
    names, head = np.unique(table["name"], return_inverse=True)
    totals = np.zeros((len(documents), len(columns), len(names)))
    rows = np.flatnonzero(counted.to_numpy(bool))
    for place, column in enumerate(columns):
        np.add.at(totals[:, place], (document[rows], head[rows]), table[column].to_numpy(np.float64)[rows])
    texts = np.bincount(document[rows], minlength=len(documents)) / len(names)
    return CrossedSums(totals, texts)


def over_heads_and_texts(
    function: Callable[[Sequence[Float64[np.ndarray, " column"]]], float], parts: Sequence[CrossedSums]
) -> Estimate:
    """Return a function of means over heads and texts, with a 95 % interval in which both are sampled.

    `function` takes for each part the mean of every column, and gives NaN where it cannot be. A resample draws
    documents and, independently of them, heads with replacement, and keeps every pair of the two (the pigeonhole
    bootstrap, Owen 2007, Annals of Applied Statistics 1:2): where heads differ the interval is wide even if all texts
    agree, and the other way round; variance that belongs to single pairs is overestimated, never left out. Heads are
    resampled and not layers: the averages are over heads, each of which has weights of its own, and a model has too
    few layers, each of which stands at a depth of its own. Tails are those of as many units as there are of the rarer
    kind (`expanded_tail`). NaN ends for fewer than two heads or documents. The resamples are the same in every run.
    """
    documents, _, heads = parts[0].totals.shape
    value = function([part.whole for part in parts])
    units = min(heads, *(int(np.count_nonzero(part.texts)) for part in parts))
    if units < 2 or np.isnan(value):
        return Estimate(value, np.nan, np.nan, units)
    random, found = np.random.default_rng(0), []
    for _ in range(REPLICATES):
        texts = random.multinomial(documents, np.full(documents, 1 / documents)).astype(np.float64)
        chosen = random.integers(0, heads, heads)
        found.append(function([part.means(texts)[:, chosen].mean(-1) for part in parts]))
    tail = expanded_tail(units, LEVEL)
    low, high = np.nanquantile(found, [tail, 1 - tail])
    return Estimate(value, float(low), float(high), units)
