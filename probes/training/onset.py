"""When the roles of a training run have their onset, with what uncertainty, and in which order."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np
import numpy.typing as npt
import pandas as pd

from probes.scoring.tally import Numbers, Question
from probes.training.biography import Biography, Trajectory
from probes.training.concentration import is_role
from reports.tables.biographies import ALL_SEEDS, TABLES

MOST_ORDERED = 12
"Roles that are compared one by one: those with the highest margins."

KINDS: Mapping[str, str] = {"position": "positional", "dependency": "syntactic", "agreement": "syntactic"}
"Probe -> kind of its roles; other probes are a kind of their own."

ONSETS, CURVES, HEAD_ONSETS, ORDER = (
    [*TABLES[name].names]
    for name in ("biography_onsets", "biography_curves", "biography_head_onsets", "biography_order")
)


@dataclass(frozen=True)
class Timeline:
    """The onsets of roles, and which comes before which."""

    onsets: pd.DataFrame
    """One row a seed and question; with several seeds also one for all (ALL_SEEDS): the median over seeds, its interval
    from resamples of seeds and, within each, of clusters. Margins are those of each checkpoint's best head, selected
    on the other half of the texts."""
    order: pd.DataFrame
    """One row a pair, of roles or of kinds. A kind comes when half of its roles (those with an onset) have come."""
    curves: pd.DataFrame
    "One row a seed, checkpoint and question: the margin of the best head, its interval, and the head's name."


@dataclass(frozen=True)
class _Rise:
    """The rise of one question in one seed, as it is and in resamples."""

    seen: Ramps
    drawn: Ramps
    margins: Numbers
    "[step]"
    bounds: Numbers
    "[2, step]"


def timeline(biographies: Sequence[Biography], rule: OnsetRule, *, replicates: int, seed: int) -> Timeline:
    """Find the onset of every question with a baseline, in every seed and over all; `seed` is that of resampling."""
    rises = [_rises(biography, rule, replicates, seed) for biography in biographies]
    rows = [
        _row(biography, question, biography.courses[question], rise)
        for biography, found in zip(biographies, rises, strict=True)
        for question, rise in found.items()
    ]
    shared = [question for question in (rises[0] if rises else ()) if all(question in found for found in rises)]
    random = np.random.default_rng(seed)
    who = random.integers(0, len(rises), (len(rises), replicates)) if len(rises) > 1 else np.zeros((1, replicates), int)
    drawn = {question: _over_seeds([found[question] for found in rises], who) for question in shared}
    frame = pd.DataFrame(rows, columns=ONSETS)
    if len(biographies) > 1:
        together = [_together(frame, question, drawn[question], len(rises)) for question in shared]
        frame = pd.concat([frame, pd.DataFrame(together, columns=ONSETS)], ignore_index=True)
    told = frame[frame["seed"] == (ALL_SEEDS if len(biographies) > 1 else biographies[0].seed)]
    order = _order(_leading(told), {question: times[0] for question, times in drawn.items()})
    curves = [
        _curve(biography, question, rise)
        for biography, found in zip(biographies, rises, strict=True)
        for question, rise in found.items()
    ]
    return Timeline(frame, order, pd.concat(curves, ignore_index=True) if curves else pd.DataFrame(columns=CURVES))


def _rises(biography: Biography, rule: OnsetRule, replicates: int, seed: int) -> dict[Question, _Rise]:
    weights, found = biography.weights(replicates, seed), {}
    for question, course in biography.courses.items():
        if course.baseline:
            margins, drawn = course.best_margins(), course.best_margins(weights)
            seen, again = (fit_ramps(biography.steps, curves, rule) for curves in (margins, drawn))
            told = drawn[np.isfinite(drawn).all(1)]
            bounds = np.quantile(told, [0.025, 0.975], axis=0) if len(told) else np.full((2, drawn.shape[1]), np.nan)
            found[question] = _Rise(seen, again, margins[0], bounds)
    return found


def _row(biography: Biography, question: Question, course: Trajectory, rise: _Rise) -> dict[str, object]:
    low, high = interval(rise.drawn.after, rise.drawn.by)
    measured = bool(np.isfinite(rise.margins).all())
    peak, best = int(rise.margins.argmax()) if measured else 0, course.best()
    onset, after, by = (float(one[0]) for one in (rise.seen.onset, rise.seen.after, rise.seen.by))
    return {
        "seed": biography.seed,
        **dict(zip(("probe", "variant", "label"), question, strict=True)),
        "n": int(course.n.sum()),
        **{"seeds": 1, "with_onset": int(np.isfinite(onset)), "onset": onset, "after": after, "by": by},
        **{"low": low, "high": high, "onset_share": _onset_share(rise.drawn.onset)},
        "first_margin": float(rise.margins[0]),
        "peak_margin": float(rise.margins[peak]),
        "peak_step": biography.steps[peak],
        "last_margin": float(rise.margins[-1]),
        "best_head": _name(int(best[-1]), biography.heads),
        "peak_head": _name(int(best[peak]), biography.heads),
        "role": is_role(question, int(course.n.sum())),
    }


def _curve(biography: Biography, question: Question, rise: _Rise) -> pd.DataFrame:
    columns: dict[str, object] = {"seed": biography.seed, "step": biography.steps}
    columns |= dict(zip(("probe", "variant", "label"), question, strict=True))
    columns["name"] = [_name(head, biography.heads) for head in biography.courses[question].best().tolist()]
    columns |= {"margin": rise.margins, "low": rise.bounds[0], "high": rise.bounds[1]}
    return pd.DataFrame(columns)[CURVES]


def _onset_share(onset: Numbers) -> float:
    known = onset[~np.isnan(onset)]
    return float(np.isfinite(known).mean()) if len(known) else float("nan")


def _name(head: int, heads: int) -> str:
    return f"{head // heads + 1}-{head % heads + 1}"


def _over_seeds(rises: Sequence[_Rise], who: np.ndarray) -> tuple[Numbers, Numbers, Numbers]:
    """Return onset, after and by [replicate]: medians over the seeds that each replicate draws, `who` [place, it]."""
    onset, after, by = (
        np.take_along_axis(np.stack([getattr(rise.drawn, time) for rise in rises]), who, 0)
        for time in ("onset", "after", "by")
    )
    return np.median(onset, axis=0), _middle(after, "after"), _middle(by, "by")


def _middle(times: Numbers, time: str) -> Numbers:
    """Return medians over seeds of times [seed, replicate]: of two in the middle the earlier `after` or the later `by`.

    So both are checkpoints, and no nearer to each other than those of the seeds.
    """
    middle: Numbers = np.quantile(times, 0.5, axis=0, method="lower" if time == "after" else "higher")
    return middle


def _together(
    frame: pd.DataFrame, question: Question, drawn: tuple[Numbers, Numbers, Numbers], seeds: int
) -> dict[str, object]:
    probe, variant, label = question
    rows = frame[(frame["probe"] == probe) & (frame["variant"] == variant) & (frame["label"] == label)]
    low, high = interval(drawn[1], drawn[2])
    medians = {"onset": float(np.median(rows["onset"]))}
    medians |= {time: float(_middle(rows[[time]].to_numpy(np.float64), time)[0]) for time in ("after", "by")}
    margins = {name: float(rows[name].mean()) for name in ("first_margin", "peak_margin", "last_margin")}
    return {
        **{"seed": ALL_SEEDS, "probe": probe, "label": label, "variant": variant, "n": int(rows["n"].iloc[0])},
        **{"seeds": seeds, "with_onset": int(rows["with_onset"].sum()), **medians, "low": low, "high": high},
        **{"onset_share": _onset_share(drawn[0]), **margins},
        "peak_step": int(np.quantile(rows["peak_step"], 0.5, method="lower")),
        **{"best_head": "", "peak_head": ""},  # heads of different seeds have nothing but their number in common
        "role": bool(rows["role"].all()),
    }


def _leading(told: pd.DataFrame) -> pd.DataFrame:
    """Return the rows of roles with an onset, one variant a label, the highest margins first."""
    come = told[told["role"].to_numpy(bool) & np.isfinite(told["onset"].to_numpy(np.float64))]
    ranked = come.sort_values("peak_margin", ascending=False, kind="stable")
    leading: pd.DataFrame = ranked.drop_duplicates(["probe", "label"])
    return leading


def _order(leading: pd.DataFrame, drawn: Mapping[Question, Numbers]) -> pd.DataFrame:
    times: list[tuple[str, str, float, Numbers]] = []
    kinds: dict[str, list[tuple[float, Numbers]]] = {}
    for place, row in enumerate(leading.to_dict("records")):
        found = drawn[row["probe"], row["variant"], row["label"]]
        if place < MOST_ORDERED:
            times.append(("role", f"{row['label']} ({row['variant']})", row["onset"], found))
        kinds.setdefault(KINDS.get(row["probe"], row["probe"]), []).append((row["onset"], found))
    for kind, members in kinds.items():
        half = np.median(np.stack([found for _, found in members]), axis=0)
        times.append(("kind", kind, float(np.median([onset for onset, _ in members])), half))
    times.sort(key=lambda one: (one[0], one[2], one[1]))
    rows = [
        (one[0], one[1], other[1], _share(one[3], other[3]), one[2], other[2])
        for one, other in combinations(times, 2)
        if one[0] == other[0]
    ]
    return pd.DataFrame(rows, columns=ORDER)


def _share(one: Numbers, other: Numbers) -> float:
    """Return the fraction of replicates in which `one` comes first, ties half, leaving out those without either."""
    told = (np.isfinite(one) | np.isfinite(other)) & ~np.isnan(one) & ~np.isnan(other)
    if not told.any():
        return float("nan")
    return float(((one[told] < other[told]) + (one[told] == other[told]) / 2).mean())


def head_onsets(biography: Biography, rule: OnsetRule) -> pd.DataFrame:
    """Return the onset of every head on every question, one row each (HEAD_ONSETS); heads without one are left out."""
    frames = []
    for (probe, variant, label), course in biography.courses.items():
        if course.baseline:
            ramps = fit_ramps(biography.steps, course.margins.T, rule)
            found = np.flatnonzero(np.isfinite(ramps.onset))
            columns = {"seed": biography.seed, "probe": probe, "label": label, "variant": variant}
            columns |= {"layer": found // biography.heads, "head": found % biography.heads}
            columns["name"] = [_name(int(head), biography.heads) for head in found]
            times = {time: getattr(ramps, time)[found] for time in ("onset", "after", "by")}
            frames.append(pd.DataFrame(columns | times)[HEAD_ONSETS])
    return pd.concat(frames, ignore_index=True) if frames else pd.DataFrame(columns=HEAD_ONSETS)


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
    after: Numbers
    "The last checkpoint before the onset."
    by: Numbers
    "The first checkpoint at or after the onset: between `after` and `by` there is nothing to see."


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
    fitted = np.full((3, len(values)), np.nan)
    fitted[:, known] = np.array([np.inf, 0, 0])[:, None]
    peak = np.where(known, np.nan_to_num(values, nan=-np.inf).argmax(1), 0)
    for last in np.unique(peak[peak > 0]):
        chosen = np.flatnonzero(peak == last)
        fitted[:, chosen] = _fit(place[: last + 1], values[chosen, : last + 1])
    onset, low, high = fitted
    rises = (high - low >= rule.rise - 1e-12) & (high >= rule.level - 1e-12)
    onset = np.where(rises | ~known, onset, np.inf)
    below = np.searchsorted(place, np.where(np.isfinite(onset), onset, np.inf) - 1e-12)
    bounds = [np.append(np.asarray(steps, np.float64), np.inf)[np.clip(below + by, 0, len(place))] for by in (-1, 0)]
    after, by = (np.where(np.isfinite(onset), one, onset) for one in bounds)
    return Ramps(np.expm1(onset), after, by)


def _fit(place: Numbers, values: Numbers) -> Numbers:
    """Return [3, curve]: onset on the axis of `place`, level before and after."""
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
    return np.stack([(start[best] + done[best]) / 2, low, low + rise])


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
