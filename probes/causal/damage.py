"""Whether a head's effect on a behaviour is more than the damage that it does anyway.

A model that is damaged loses some of everything. Heads whose ablation damages any text as much, or more, tell what a
behaviour loses by that alone.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import pandas as pd
from scipy.stats import t

FEWEST = 3
"Heads that a comparison needs at least."


@dataclass(frozen=True)
class DamagingHeads:
    """What heads that do at least half as much damage as one head cost of a behaviour."""

    damage: float
    "What the head costs of any text; NaN where that was not measured."
    damaging: int
    "Other heads that do at least half as much damage."
    damaging_cost: float
    "Mean cost of these heads, in the behaviour's unit; NaN for fewer than FEWEST."
    damaging_low: float
    damaging_high: float
    "Between them lies the cost of 95 % of such heads, if costs are normal (a prediction interval)."

    @classmethod
    def of(cls, name: str, costs: pd.Series, damage: pd.Series) -> DamagingHeads:
        """Compare head `name` with the others; both series have a number for each head, by name.

        Compared is with heads whose damage is not less than the head's own by more than half of that, or by the median
        of all heads if that is more: nearly harmless heads are compared with all.
        """
        own = float(damage.get(name, math.nan))
        enough = damage >= own - max(abs(own) / 2, float(damage.abs().median()))
        others = costs.reindex(damage.index[enough & (damage.index != name)]).dropna().to_numpy(np.float64)
        n = len(others)
        if n < FEWEST:
            return cls(own, n, math.nan, math.nan, math.nan)
        mean = float(others.mean())
        half = float(t.ppf(0.975, n - 1) * others.std(ddof=1) * math.sqrt(1 + 1 / n))
        return cls(own, n, mean, mean - half, mean + half)
