"""The uncertainty of the numbers of heads: resamples, corrections for many labels, and grades.

Everything is computed from sums by cluster (documents, or sentences where a corpus has none), never from single items.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
import numpy.typing as npt

from probes.scoring.tally import Numbers

MARGIN = 0.05
"A head leads a baseline if its accuracy is above the baseline's by more than this: five percentage points."


@dataclass(frozen=True)
class Bootstrap:
    """Resamples of the clusters of one split, shared by all labels so that everything is paired."""

    clusters: tuple[int, ...]
    weights: Numbers
    "[replicate, cluster] How often each cluster is drawn."

    @classmethod
    def draw(cls, clusters: Sequence[int], replicates: int, seed: int) -> Bootstrap:
        """Draw as many clusters as there are, with replacement, `replicates` times."""
        random = np.random.default_rng(seed)
        count = len(clusters)
        weights = random.multinomial(count, np.full(count, 1 / count), size=replicates) if count else np.zeros((0, 0))
        return cls(tuple(sorted(clusters)), weights.astype(np.float64))

    def of(self, clusters: Sequence[int], n: Numbers) -> Resamples:
        """Return the resamples as a label sees them that has `n` items in each of `clusters`."""
        weights = self.weights[:, np.searchsorted(self.clusters, clusters)] if len(clusters) else self.weights[:, :0]
        drawn = weights @ n
        return Resamples(weights[drawn > 0], drawn[drawn > 0], len(clusters))


@dataclass(frozen=True)
class Resamples:
    """The resamples of one label; those without an item are left out (Efron and Tibshirani 1993, chapter 13)."""

    weights: Numbers
    "[replicate, cluster]"
    n: Numbers
    "[replicate] Number of items."
    clusters: int
    level: float = 0.95

    def means(self, totals: Numbers) -> Numbers:
        """Return [replicate, scored], sum(totals) / sum(n) of each resample; `totals` is [cluster, scored]."""
        means: Numbers = (self.weights @ totals) / self.n[:, None]
        return means

    def interval(self, means: Numbers) -> Numbers:
        """Return [2, scored], the expanded percentile interval of `means` [replicate, scored].

        A percentile interval whose tails are those of Student's t with a degree of freedom less than there are
        clusters, and are widened by sqrt(c / (c - 1)), so that it covers what it says also with few clusters
        (Hesterberg 2015, The American Statistician 69:4, expanded percentile). NaN for fewer than two clusters.
        """
        if self.clusters < 2:
            return np.full((2, means.shape[1]), np.nan)
        return _quantiles(means, expanded_tail(self.clusters, self.level))

    def wins(self, means: Numbers) -> Numbers:
        """Return [scored], the share of resamples in which each has the highest of `means`, the first of equals."""
        if not len(means):
            return np.full(means.shape[1], np.nan)
        return np.bincount(means.argmax(1), minlength=means.shape[1]) / len(means)


@lru_cache(maxsize=4096)
def expanded_tail(clusters: int, level: float) -> float:
    """Return the share of replicates to be cut off at each end of an interval over that many clusters."""
    from scipy.special import ndtr, stdtrit

    far = stdtrit(clusters - 1, (1 + level) / 2)
    return float(ndtr(-far * np.sqrt(clusters / (clusters - 1))))


def _quantiles(means: Numbers, tail: float) -> Numbers:
    """Return [2, scored], the quantiles `tail` and 1 - `tail` of each column, interpolated as `numpy.quantile` does."""
    rows = np.array(means.T, order="C")  # a copy, which is put out of order
    place = np.array([tail, 1 - tail]) * (len(means) - 1)
    below = np.floor(place).astype(int)
    above = np.ceil(place).astype(int)
    rows.partition(sorted({*below.tolist(), *above.tolist()}), axis=1)
    part = place - below
    bounds: Numbers = (rows[:, below] * (1 - part) + rows[:, above] * part).T
    return bounds


def adjust(families: Sequence[Numbers], *, dependent: bool) -> list[Numbers]:
    """Return the p-values of heads, corrected within their label, corrected once more for all labels of a family.

    Labels are selected by their smallest p; within the selected share of labels, heads are held to the same share of
    the level (Benjamini and Bogomolov 2014): at level a, on average a share of at most a of the labels with a find has
    a false one. For `dependent` labels the selection is that of Benjamini and Yekutieli (2001, Annals of Statistics
    29:4, theorem 1.3), which holds however they depend on each other: the labels of a run share documents and heads,
    "nsubj" and "nsubj:*" share items. Its price is a factor of 1 + 1/2 + ... + 1/labels over Benjamini and Hochberg
    (1995), which is proven for independent labels. NaN, what could not be tested, stays NaN and does not count.
    """
    least = np.array([np.nanmin(family) if np.isfinite(family).any() else np.nan for family in families])
    tested = np.sort(least[np.isfinite(least)])
    if not len(tested):
        return [np.array(family, np.float64) for family in families]
    labels = np.arange(1, len(tested) + 1)
    harmonic = (1 / labels).sum() if dependent else 1
    raised = tested * (len(tested) / labels) * harmonic
    selected = np.minimum(np.minimum.accumulate(raised[::-1])[::-1], 1)
    price = len(tested) * harmonic / labels
    return [np.minimum(np.maximum(np.asarray(family)[:, None] * price, selected).min(1), 1) for family in families]


def pearson(first: Numbers, second: Numbers) -> Numbers:
    """Return the linear correlation of the last axes of two arrays, in [-1, 1]; NaN where one does not vary."""
    x, y = (part - part.mean(-1, keepdims=True) for part in (first, second))
    spread = np.sqrt((x**2).sum(-1) * (y**2).sum(-1))
    products = (x * y).sum(-1)
    found: Numbers = np.divide(products, spread, out=np.full(products.shape, np.nan), where=spread > 0)
    return found


def spearman(first: Numbers, second: Numbers) -> Numbers:
    """Return the rank correlation of the last axes of two arrays, as `pearson` does."""
    from scipy.stats import rankdata

    one, other = (rankdata(values, axis=-1) for values in (first, second))
    return pearson(one, other)


@dataclass(frozen=True)
class VerdictRule:
    """How significantly, and by how much, a head must lead its baselines to have a grade."""

    alpha: float = 0.05
    "The adjusted p must be below this."
    margin: float = MARGIN
    "The lead that is tested: the head must significantly be ahead of every baseline by more than this."

    def grades(self, adjusted: Sequence[Numbers]) -> npt.NDArray[np.int64]:
        """Return [head], the highest grade reached: `adjusted` p of each grade in turn, stopping at the first failure.

        1 is beyond position and controls, 2 beyond words, 3 beyond grammar rules; what was not tested is not reached.
        """
        passed = np.logical_and.accumulate([p < self.alpha for p in adjusted], axis=0)
        grades: npt.NDArray[np.int64] = passed.sum(0)
        return grades
