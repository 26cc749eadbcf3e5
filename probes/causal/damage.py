"""Whether a head's effect on a behaviour is more than the damage that it does anyway.

A model that is damaged loses some of everything. Heads whose ablation damages any text about as much tell what a
behaviour loses by that alone.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import pandas as pd
from scipy.stats import t

FEWEST = 3
"Heads of similar damage that a comparison needs at least."


@dataclass(frozen=True)
class SimilarDamage:
    """What heads that do about as much damage as one head cost of a behaviour."""

    damage: float
    "What the head costs of any text; NaN where that was not measured."
    similar: int
    "Other heads of similar damage."
    similar_cost: float
    "Mean cost of these heads, in the behaviour's unit; NaN for fewer than FEWEST."
    similar_low: float
    similar_high: float
    "Between them lies the cost of 95 % of heads of similar damage, if costs are normal (a prediction interval)."

    @classmethod
    def of(cls, name: str, costs: pd.Series, damage: pd.Series) -> SimilarDamage:
        """Compare head `name` with the others; both series have a number for each head, by name.

        Damage is similar that differs by at most half of the head's own, or by the median of all heads if that is more.
        """
        own = float(damage.get(name, math.nan))
        near = (damage - own).abs() <= max(abs(own) / 2, float(damage.abs().median()))
        others = costs.reindex(damage.index[near & (damage.index != name)]).dropna().to_numpy(np.float64)
        n = len(others)
        if n < FEWEST:
            return cls(own, n, math.nan, math.nan, math.nan)
        mean = float(others.mean())
        half = float(t.ppf(0.975, n - 1) * others.std(ddof=1) * math.sqrt(1 + 1 / n))
        return cls(own, n, mean, mean - half, mean + half)
