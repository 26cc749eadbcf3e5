"""When a head gets its role: the rise of a curve over log(step), as the ramp that fits it best."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from probes.scoring.tally import Numbers


@dataclass(frozen=True)
class OnsetRule:
    """When a rise counts as the onset of a role; margins are fractions."""

    rise: float = 0.1
    "The fitted curve must rise by at least this."
    level: float = 0.1
    "It must arrive at least this far above the strongest baseline (Voita et al. 2019, section 5.2: ten points)."


@dataclass(frozen=True)
class Ramps:
    """The ramps of some curves, [curve] each. Times are steps: inf where there is no onset, NaN without numbers."""

    onset: Numbers
    "Where half of the rise is done, on the axis of log(step + 1)."
    start: Numbers
    done: Numbers
    "Where the rise starts and where it is done; both are checkpoints."
    after: Numbers
    "The last checkpoint before the onset."
    by: Numbers
    "The first checkpoint at or after the onset: between `after` and `by` there is nothing to see."
    low: Numbers
    high: Numbers
    "Level of the fitted curve before and after the rise, in units of the curve; NaN without numbers."


def log_steps(steps: Sequence[int]) -> Numbers:
    """Return log(step + 1), so that step 0 has a place."""
    return np.log1p(np.asarray(steps, np.float64))


def fit_ramps(steps: Sequence[int], curves: npt.ArrayLike, rule: OnsetRule) -> Ramps:
    """Fit every one of `curves` [curve, step] by least squares; steps must ascend.

    The model is level a until one checkpoint, b from another one on, and a straight line over log(step + 1) between:
    a jump where the two are neighbours. All pairs of checkpoints are tried. Only what lies up to the highest point of a
    curve is fitted, for what is asked is when a role came, not whether it stayed; that point is the first of equals. A
    curve that does not rise by `rule.rise` to `rule.level` has no onset.
    """
    values = np.asarray(curves, np.float64)
    place = log_steps(steps)
    if values.ndim != 2 or values.shape[1] != len(place) or (np.diff(place) <= 0).any():
        raise ValueError(f"expected curves of {len(place)} ascending steps each, got {[*values.shape]}")
    known = np.isfinite(values).all(1)
    fitted = np.full((5, len(values)), np.nan)
    fitted[:, known] = np.array([np.inf, np.inf, np.inf, 0, 0])[:, None]
    fitted[3:, known] = values[known, :1].T if known.any() else fitted[3:, known]
    peak = np.where(known, np.nan_to_num(values, nan=-np.inf).argmax(1), 0)
    for last in np.unique(peak[peak > 0]):
        chosen = np.flatnonzero(peak == last)
        fitted[:, chosen] = _fit(place[: last + 1], values[chosen, : last + 1])
    onset, start, done, low, high = fitted
    rises = (high - low >= rule.rise - 1e-12) & (high >= rule.level - 1e-12)
    onset, start, done = (np.where(rises | ~known, one, np.inf) for one in (onset, start, done))
    below = np.searchsorted(place, np.where(np.isfinite(onset), onset, np.inf) - 1e-12)
    bounds = [np.append(np.asarray(steps, np.float64), np.inf)[np.clip(below + by, 0, len(place))] for by in (-1, 0)]
    after, by = (np.where(np.isfinite(onset), one, onset) for one in bounds)
    return Ramps(np.expm1(onset), np.expm1(start), np.expm1(done), after, by, low, high)


def _fit(place: Numbers, values: Numbers) -> Numbers:
    """Return [5, curve]: onset, start and end on the axis of `place`, level before and after."""
    first, last = np.triu_indices(len(place), 1)
    order = np.lexsort((first, last - first))  # of equal fits the steepest, and then the earliest
    start, done = place[first[order]], place[last[order]]
    ramp = np.clip((place - start[:, None]) / (done - start)[:, None], 0, 1)
    centred = ramp - ramp.mean(1, keepdims=True)
    spread = (centred**2).sum(1)
    product = (values - values.mean(1, keepdims=True)) @ centred.T
    gain = np.where(product > 0, product**2 / spread, 0)
    best = (gain >= gain.max(1, keepdims=True) * (1 - 1e-9)).argmax(1)
    rise = np.maximum(product[np.arange(len(values)), best], 0) / spread[best]
    low = values.mean(1) - rise * ramp.mean(1)[best]
    return np.stack([(start[best] + done[best]) / 2, start[best], done[best], low, low + rise])


def interval(after: npt.ArrayLike, by: npt.ArrayLike, level: float = 0.95) -> tuple[float, float]:
    """Return the interval of an onset over replicates: a quantile of `after` and one of `by`, [replicate] each.

    So it is never narrower than the checkpoints are apart. The upper end is inf where too many replicates have no
    onset; both are NaN where no replicate has numbers.
    """
    tail = (1 - level) / 2
    earliest, latest = (np.asarray(one, np.float64) for one in (after, by))
    if np.isnan(earliest).all():
        return float("nan"), float("nan")
    low = np.nanquantile(earliest, tail, method="lower")
    return float(low), float(np.nanquantile(latest, 1 - tail, method="higher"))
