"""Gradient importance as a table, beside what the heads truly cost, and how far Taylor's series tells the one."""

from __future__ import annotations

import numpy as np
import pandas as pd
from scipy.stats import rankdata
from torch import Tensor

from probes.causal.ablation_table import VALUE, AblatedMeasure, measures
from probes.causal.behaviours import Behaviour
from probes.causal.importance import Slopes, by_layer
from probes.evidence.question import Effort
from probes.evidence.results import named_heads
from probes.scoring.tally import Numbers

FIRST, SECOND = "first order", "second order"

COLUMNS = (
    *("behaviour", "unit", "layer", "head", "name", "n", "clusters"),
    *("importance", "ci_low", "ci_high", "of_layer", "predicted", "cost"),
)
"Columns of `importance_table`."

CHECKS = (
    *("behaviour", "unit", "series", "heads", "n", "clusters", "spearman", "spearman_low", "spearman_high"),
    *("pearson", "pearson_low", "pearson_high"),
)
"Columns of `taylor_table`."


def importance_table(
    behaviour: Behaviour, slopes: Slopes, values: Numbers | None, shape: tuple[int, int], effort: Effort
) -> pd.DataFrame:
    """Return one row a head, in COLUMNS; `shape` is (layers, heads).

    `importance` is the mean over items, in the unit of the value, with an interval of resampled clusters; `of_layer`
    divides it by the length of its layer's numbers. `predicted` is what Taylor's series says that the head costs and
    `cost` what it does: `values` are [1 + head, item], of the intact model and of each head ablated by zero; NaN where
    they were not measured.
    """
    importance = flat(slopes.importance)
    value = value_of(behaviour, importance)
    low, high = value.interval(importance, effort)
    mean = slopes.importance.mean(0)
    return pd.DataFrame(
        named_heads(shape)
        | {
            "behaviour": behaviour.name,
            "unit": behaviour.unit,
            "n": len(behaviour.clusters),
            "clusters": value.clusters,
            "importance": importance.mean(1),
            "ci_low": low,
            "ci_high": high,
            "of_layer": by_layer(mean).flatten().numpy(),
            "predicted": flat(slopes.predicted).mean(1),
            "cost": np.nan if values is None else (values[0] - values[1:]).mean(1),
        },
        columns=[*COLUMNS],
    )


def taylor_table(behaviour: Behaviour, slopes: Slopes, values: Numbers, effort: Effort) -> pd.DataFrame:
    """Return one row: how alike, over heads, what Taylor's series predicts and what ablation by zero costs, in CHECKS.

    Spearman's rho and Pearson's r of the signed costs, in [-1, 1], with intervals of resampled clusters: predictions
    and costs of a resample are means over the same items. NaN where one of both does not vary.
    """
    predicted, cost = flat(slopes.predicted), values[0] - values[1:]
    value = value_of(behaviour, cost)
    resamples = value.resamples(effort)
    drawn = [resamples.means(value.sums(one)) for one in (predicted, cost)]
    row = {
        "behaviour": behaviour.name,
        "unit": behaviour.unit,
        "series": SECOND if slopes.directed else FIRST,
        "heads": len(cost),
        "n": cost.shape[1],
        "clusters": resamples.clusters,
    }
    told = [one.mean(1)[None] for one in (predicted, cost)]
    for name, (x, y), (seen, other) in (("spearman", map(_ranks, drawn), map(_ranks, told)), ("pearson", drawn, told)):
        found = correlations(x, y)
        low, high = resamples.interval(found[:, None])[:, 0] if np.isfinite(found).all() else (np.nan, np.nan)
        row |= {name: correlations(seen, other)[0], f"{name}_low": low, f"{name}_high": high}
    return pd.DataFrame([row], columns=[*CHECKS])


def correlations(first: Numbers, second: Numbers) -> Numbers:
    """Return [row], Pearson's r of each row of two tables; NaN where one of both does not vary."""
    x, y = (part - part.mean(1, keepdims=True) for part in (first, second))
    below = np.sqrt((x**2).sum(1) * (y**2).sum(1))
    found: Numbers = np.divide((x * y).sum(1), below, out=np.full(len(x), np.nan), where=below > 0)
    return found


def _ranks(table: Numbers) -> Numbers:
    ranks: Numbers = np.asarray(rankdata(table, axis=1), np.float64)
    return ranks


def flat(of_items: Tensor) -> Numbers:
    """Return [head, item] of a tensor [item, layer, head]."""
    found: Numbers = np.asarray(of_items.flatten(1).T, np.float64)
    return found


def value_of(behaviour: Behaviour, of_items: Numbers) -> AblatedMeasure:
    """Return the measure of a behaviour's value, which knows the clusters of its items."""
    return next(one for one in measures(behaviour, of_items) if one.name == VALUE)
