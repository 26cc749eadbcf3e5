"""Intervals of head scores: the bootstrap over clusters, from counts per cluster."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from probes.tally import Numbers, Sums


@dataclass(frozen=True)
class Bootstrap:
    """Resamples of the clusters of one split, shared by all labels so that everything is paired."""

    clusters: tuple[int, ...]
    weights: Numbers
    "[replicate, cluster] How often each cluster is drawn."
    level: float = 0.95

    @classmethod
    def draw(cls, clusters: tuple[int, ...], replicates: int, seed: int, level: float = 0.95) -> Bootstrap:
        """Draw as many clusters as there are, with replacement, `replicates` times."""
        random = np.random.default_rng(seed)
        count = len(clusters)
        weights = random.multinomial(count, np.full(count, 1 / count), size=replicates) if count else np.zeros((0, 0))
        return cls(tuple(sorted(clusters)), weights.astype(np.float64), level)

    def interval(self, sums: Sums, hits: Numbers) -> npt.NDArray[np.float64]:
        """Return [2, scored], the percentile interval of sum(hits) / sum(n) over resampled clusters.

        `hits` is [cluster, scored]: hits, or hits minus those of a baseline for a paired margin. NaN for fewer than two
        clusters. Resamples without an item are left out (Efron and Tibshirani 1993, chapter 13).
        """
        if len(sums.clusters) < 2:
            return np.full((2, hits.shape[1]), np.nan)
        weights = self.weights[:, np.searchsorted(self.clusters, sums.clusters)]
        n = weights @ sums.n
        ratios = (weights[n > 0] @ hits) / n[n > 0, None]
        tail = (1 - self.level) / 2
        bounds: npt.NDArray[np.float64] = np.quantile(ratios, [tail, 1 - tail], axis=0)
        return bounds
