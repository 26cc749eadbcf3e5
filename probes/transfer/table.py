"""The table of transfer: what a head's output in other sentences does to the answer, with intervals and tests."""

from __future__ import annotations

import numpy as np
import pandas as pd

from probes.causal.ablation_table import ACCURACY, VALUE, AblatedMeasure, measures, two_sided
from probes.causal.behaviours import Predictions
from probes.evidence.question import Effort
from probes.evidence.results import named_heads
from probes.evidence.statistics import SignFlips
from probes.pairs.scores import NEAR
from probes.scoring.tally import Numbers
from probes.transfer.donors import Booleans, Donors, received
from probes.transfer.margins import VERSIONS, Margins

COLUMNS = (
    *("behaviour", "unit", "layer", "head", "name", "n", "clusters", "matched"),
    *("intact", *VERSIONS, "transfer", "transfer_low", "transfer_high"),
    *("over_mean", "over_mean_low", "over_mean_high"),
    *("accuracy", *(f"accuracy_{version}" for version in VERSIONS), "points", "points_low", "points_high"),
    *("p", "p_adjusted", "p_over_mean", "transfers"),
)
"Columns of `transfer_table`."


def transfer_table(
    behaviour: Predictions, donors: Donors, margins: Margins, effort: Effort, *, alpha: float = 0.05
) -> pd.DataFrame:
    """Return one row a head, in COLUMNS; margins are in nats, accuracies and `points` in shares.

    `transfer` is the mean margin with the output of a donor of the same answer less that with a donor of the other
    answer; `over_mean` is the former less that with the mean output; `points` the same difference of accuracies as
    `transfer`. Intervals are those of resampled clusters of recipients, who keep their donors. p is of two-sided
    sign-flip tests by cluster, `p_adjusted` corrected for all heads, `p_over_mean` the corrected one of `over_mean`. A
    head `transfers` where both are above 0 and both corrected p below `alpha`; differences of a recipient up to NEAR
    count as none there.
    """
    asked = received(behaviour, donors)
    values = np.concatenate([margins.intact[None], margins.patched.reshape(-1, len(asked.prompts))])
    value, credit = (one for one in measures(asked, values) if one.name in (VALUE, ACCURACY))
    same, other, mean = margins.patched
    transfer, over_mean = same - other, same - mean
    p, p_adjusted = _tests(value, transfer, effort)
    _, p_over_mean = _tests(value, over_mean, effort)
    right = credit.values[1:].reshape(margins.patched.shape)
    columns = {
        **{"behaviour": behaviour.name, "unit": behaviour.unit, **named_heads(margins.shape)},
        **{"n": len(asked.prompts), "clusters": value.clusters, "matched": donors.matched.mean()},
        **dict(zip(("intact", *VERSIONS), (values[0].mean(), *margins.patched.mean(2)), strict=True)),
        **_estimate("transfer", value, transfer, effort),
        **_estimate("over_mean", value, over_mean, effort),
        "accuracy": credit.values[0].mean(),
        **{f"accuracy_{version}": one for version, one in zip(VERSIONS, right.mean(2), strict=True)},
        **_estimate("points", credit, right[0] - right[1], effort),
        **{"p": p, "p_adjusted": p_adjusted, "p_over_mean": p_over_mean},
        "transfers": _above(transfer, p_adjusted, alpha) & _above(over_mean, p_over_mean, alpha),
    }
    return pd.DataFrame(columns, columns=[*COLUMNS])


def _estimate(name: str, measured: AblatedMeasure, of_items: Numbers, effort: Effort) -> dict[str, Numbers]:
    """Return the mean of differences, [head, item], and its interval, as columns."""
    low, high = measured.interval(of_items, effort)
    return {name: of_items.mean(1), f"{name}_low": low, f"{name}_high": high}


def _tests(measured: AblatedMeasure, of_items: Numbers, effort: Effort) -> Numbers:
    """Return [2, head], p and p_adjusted of differences, [head, item]; rounding counts as none."""
    clusters = range(measured.clusters)
    flips = SignFlips.draw(clusters, effort.flips, effort.seed)
    return two_sided(flips, clusters, measured.sums(np.where(np.abs(of_items) > NEAR, of_items, 0)))


def _above(of_items: Numbers, p: Numbers, alpha: float) -> Booleans:
    found: Booleans = (of_items.mean(1) > 0) & (p < alpha)
    return found
