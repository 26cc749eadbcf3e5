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

    def __sub__(self, other: ClusteredMean) -> ClusteredMean:
        """Return the difference of two means that err independently."""
        return ClusteredMean(self.value - other.value, math.hypot(self.error, other.error), min(self.n, other.n))

    @property
    def row(self) -> dict[str, float]:
        """The columns value, low, high and n of a table."""
        low, high = (self.value + sign * NORMAL * self.error for sign in (-1, 1))
        return {"value": self.value, "low": low, "high": high, "n": self.n}
