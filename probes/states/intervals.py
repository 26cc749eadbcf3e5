"""Means with 95 % intervals whose errors are those of independent groups."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from jaxtyping import Float

NORMAL = 1.959964
"Half the width of a 95 % interval in standard errors."


@dataclass(frozen=True)
class ClusteredMean:
    """A mean with its standard error."""

    value: float
    error: float
    "Standard error; NaN for fewer than two groups."
    n: int

    @classmethod
    def of(cls, values: Float[np.ndarray, " n"], clusters: Sequence[int] | np.ndarray | None = None) -> ClusteredMean:
        """Return the mean of `values`; the error is that of a ratio over whole clusters (Cochran 1977, section 6.4).

        Without `clusters` each value is its own; values that are NaN are left out.
        """
        known = np.isfinite(values)
        groups = np.arange(len(values)) if clusters is None else np.asarray(clusters)
        values, groups = np.asarray(values, np.float64)[known], groups[known]
        if not len(values):
            return cls(math.nan, math.nan, 0)
        mean, count = float(values.mean()), len(np.unique(groups))
        residuals = np.bincount(np.unique(groups, return_inverse=True)[1].reshape(-1), values - mean)
        spread = math.sqrt(float((residuals**2).sum()) * count / (count - 1)) if count > 1 else math.nan
        return cls(mean, spread / len(values), len(values))

    @classmethod
    def of_means(cls, values: Float[np.ndarray, " n"], strata: np.ndarray, clusters: np.ndarray) -> ClusteredMean:
        """Return the mean over strata of the mean of `values` in each; values that are NaN are left out.

        The error is that of a jackknife which leaves out one cluster after the other (Cochran 1977, section 6.17); a
        stratum that stands in one cluster alone is missing without it.
        """
        known = np.isfinite(values)
        kinds, columns = np.unique(np.asarray(strata)[known], return_inverse=True)
        groups, rows = np.unique(np.asarray(clusters)[known], return_inverse=True)
        sums, counts = (np.zeros((len(groups), len(kinds))) for _ in range(2))
        np.add.at(sums, (rows, columns), np.asarray(values, np.float64)[known])
        np.add.at(counts, (rows, columns), 1)
        if not known.any():
            return cls(math.nan, math.nan, 0)
        value = float((sums.sum(0) / counts.sum(0)).mean())
        if len(groups) < 2:
            return cls(value, math.nan, int(known.sum()))
        kept = counts.sum(0) - counts
        with np.errstate(invalid="ignore"):
            without = np.nanmean(np.where(kept > 0, (sums.sum(0) - sums) / kept, np.nan), 1)
        share = (len(groups) - 1) / len(groups)
        return cls(value, math.sqrt(share * float(((without - without.mean()) ** 2).sum())), int(known.sum()))

    def __sub__(self, other: ClusteredMean) -> ClusteredMean:
        """Return the difference of two means that err independently."""
        return ClusteredMean(self.value - other.value, math.hypot(self.error, other.error), min(self.n, other.n))

    @property
    def row(self) -> dict[str, float]:
        """The columns value, low, high and n of a table."""
        low, high = (self.value + sign * NORMAL * self.error for sign in (-1, 1))
        return {"value": self.value, "low": low, "high": high, "n": self.n}
