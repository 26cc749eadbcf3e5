"""Numbers of findings from the tables of runs: what papers' rules are about, with intervals."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, cast

import numpy as np
import pandas as pd

from experiments.statements.estimates import Estimate
from experiments.statements.finding import Evidence, Measured, Missing
from reports.statements.figure import Point

if TYPE_CHECKING:
    from reports import Run

DRAWS = 4000
"Draws behind an interval of several numbers together, and resamples of heads."

NORMAL = 1.959964
"Half the width of a 95 % interval in standard errors."

EDGE = 1e-9
"Room for rounding at the edge of a part of the depth."


def estimate_of(row: pd.Series, value: str, low: str, high: str) -> Estimate:
    """Return a number of a table with the interval beside it; `n` is the row's, where it has one."""
    return Estimate(float(row[value]), float(row[low]), float(row[high]), int(row.get("n", 0)))


def best_head(run: Run, probe: str, label: str, variant: str | None = None) -> pd.Series:
    """Return the row of the head that was selected on the selection split, as it is on the report split.

    Without `variant` it is the variant whose chosen head was best on the selection split: that choice is not made on
    the numbers that are told, either. Raises Missing where none was selected.
    """
    scores = run.scores
    asked = scores[(scores.probe == probe) & (scores.label == label)]
    if variant is not None:
        asked = asked[asked.variant == variant]
    told = asked[(asked.split == "report") & asked.selected & (asked.n > 0)]
    if not len(told):
        raise Missing(f"no {probe} {label!r} in {_corpus(run)}" + (f", {variant}" if variant else ""))
    if len(told) == 1:
        return told.iloc[0]
    chosen = asked[asked.split == "select"].set_index(["variant", "name"]).accuracy
    marks = [chosen.get((row.variant, row["name"]), -math.inf) for _, row in told.iterrows()]
    return told.iloc[int(np.argmax(marks))]


def selected_head(scores: pd.DataFrame) -> pd.Series:
    """Return the head of a part of the scores that is most accurate on the selection split, as the report split has it.

    `scores` are of one question, both splits; unlike in `best_head` it need not be the head that the run chose. Raises
    Missing where there is none.
    """
    known = scores[(scores.split == "select") & (scores.n > 0)].sort_values("accuracy", ascending=False, kind="stable")
    told = scores[(scores.split == "report") & (scores.n > 0) & scores.name.isin(known.name[:1])]
    if not len(told):
        raise Missing("no head of these layers was scored on both splits")
    return told.iloc[0]


def above_chance(share: float, n: int) -> bool:
    """Return whether a share of n pairs is significantly above a half: beyond 95 % of the shares of a fair coin."""
    return share - 0.5 > NORMAL * math.sqrt(0.25 / n)


def rows(frame: pd.DataFrame | None, **values: object) -> pd.DataFrame:
    """Return the rows of a table that have these values; none where there is no table."""
    if frame is None:
        return pd.DataFrame(columns=list(values))
    for name, value in values.items():
        frame = frame[frame[name] == value]
    return frame


def table(evidence: Evidence, reading: str, name: str, why: str = "", **values: object) -> pd.DataFrame:
    """Return the rows of a table of a run that have these values; raises Missing(why) where there is none."""
    found = rows(evidence[reading].tables.get(name), **values)
    if not len(found):
        raise Missing(why or f"the run has no {name}")
    return found


def points(frame: pd.DataFrame, x: str, y: str, *ends: str, first: int = 0) -> list[Point]:
    """Return a point a row, with the ends of its interval where their columns are named; x counts from `first`."""
    return cast("list[Point]", [(row[0] + first, *row[1:]) for row in floats(frame, x, y, *ends)])


def floats(frame: pd.DataFrame, *columns: str) -> list[list[float]]:
    """Return the numbers of some columns, a list a row."""
    found: list[list[float]] = frame[list(columns)].to_numpy(np.float64).tolist()
    return found


def compared(ours: Estimate, theirs: Estimate, heads: str = "", note: str = "") -> Measured:
    """Return the difference of two numbers that err independently, beside the first; its baseline is the second."""
    return Measured(minus(ours, theirs), ours, theirs.value, heads, note)


def preferred(run: Run, corpus: str, **group: object) -> Measured:
    """Return the share of minimal pairs whose right sentence the model prefers: of a corpus, or of a group in it.

    The name of a group is what its pairs have in common, one of `reports.tables.scores.BEHAVIOUR_LEVELS`. Raises
    Missing where no pair was decided.
    """
    found = rows(run.tables.get("behaviour"), corpus=corpus, level=next(iter(group), "corpus"), **group)
    if not len(found) or not found.iloc[0].n:
        raise Missing(" ".join(["no pair of", corpus, *map(str, group.values()), "could be decided"]))
    row = found.iloc[0]
    left_out = f", {row.left_out:,} more left out" if row.left_out else ""
    return Measured(estimate_of(row, "accuracy", "ci_low", "ci_high"), note=f"{row.n:,} pairs{left_out}")


def margin(run: Run, probe: str, label: str, variant: str | None = None) -> Measured:
    """Return how far the chosen head is above the strongest baseline, beside its accuracy; in fractions."""
    row = best_head(run, probe, label, variant)
    return Measured(
        decides=estimate_of(row, "margin", "margin_low", "margin_high"),
        ours=estimate_of(row, "accuracy", "ci_low", "ci_high"),
        baseline=float(row["baseline_accuracy"]),
        heads=str(row["name"]),
        note=f"{row['variant']}, against {row['baseline']}",
    )


def heads_above(frame: pd.DataFrame, threshold: float, value: str = "value") -> Estimate:
    """Return how many heads are above a threshold: from those significantly above to those not significantly below.

    Raises Missing for no heads.
    """
    if not len(frame):
        raise Missing("no head has this measure")
    known = frame[frame[value].notna()]
    low_end = known["ci_low"].fillna(known[value])
    high_end = known["ci_high"].fillna(known[value])
    counts = [float((column > threshold).sum()) for column in (known[value], low_end, high_end)]
    return Estimate(counts[0], counts[1], counts[2], len(known))


def share_above(frame: pd.DataFrame, threshold: float) -> Estimate:
    """Return the share of heads above a threshold, with the ends of `heads_above`."""
    above, of = heads_above(frame, threshold), len(frame)
    return Estimate(above.value / of, above.low / of, above.high / of, of)


def together(function: Callable[[np.ndarray], float], estimates: Sequence[Estimate]) -> Estimate:
    """Return a function of several numbers with an interval: each is drawn around its value, independent of the others.

    `function` takes an array of as many numbers. Each is drawn from the normal distribution that has its interval; the
    draws are the same in every run, so that no verdict hangs on them.
    """
    values = np.array([one.value for one in estimates])
    widths = np.array([one.high - one.low for one in estimates])
    spread = np.where(np.isfinite(widths), widths, 0.0) / (2 * NORMAL)
    drawn = np.random.default_rng(0).normal(size=(DRAWS, len(values))) * spread + values
    low, high = np.nanpercentile([function(row) for row in drawn], [2.5, 97.5])
    return Estimate(float(function(values)), float(low), float(high), len(values))


def over_units(function: Callable[[pd.DataFrame], float], frame: pd.DataFrame, unit: str | None = None) -> Estimate:
    """Return a function of a table with the interval of a bootstrap over its rows, or over the groups of column `unit`.

    The resamples are the same in every run.
    """
    groups = list(np.arange(len(frame))[:, None])
    if unit is not None:
        groups = list(frame.groupby(unit).indices.values())
    if len(groups) < 2:
        value = float(function(frame)) if len(frame) else math.nan
        return Estimate(value, math.nan, math.nan, len(groups))
    rng = np.random.default_rng(0)
    drawn = [
        function(frame.iloc[np.concatenate([groups[place] for place in rng.integers(0, len(groups), len(groups))])])
        for _ in range(DRAWS // 4)
    ]
    low, high = np.nanpercentile(drawn, [2.5, 97.5])
    return Estimate(float(function(frame)), float(low), float(high), len(groups))


def correlation(
    correlate: Callable[[np.ndarray, np.ndarray], np.ndarray], first: np.ndarray, second: np.ndarray
) -> Estimate:
    """Return how two numbers of heads correlate, as `spearman` or `pearson` of `probes.evidence.statistics` tells it.

    The interval is that of a bootstrap over heads; heads that lack one of the numbers are left out.
    """
    known = np.isfinite(first) & np.isfinite(second)
    one, other = first[known], second[known]
    if len(one) < 4:
        return Estimate(math.nan, math.nan, math.nan, len(one))
    heads = np.random.default_rng(0).integers(0, len(one), (DRAWS // 4, len(one)))
    drawn = correlate(one[heads], other[heads])
    varied = drawn[np.isfinite(drawn)]
    low, high = np.percentile(varied, [2.5, 97.5]) if len(varied) else (math.nan, math.nan)
    return Estimate(float(correlate(one, other)), float(low), float(high), len(one))


def shape(run: Run, kind: str, measure: str, scope: str = "sentence", split: str = "report") -> pd.DataFrame:
    """Return one row a head of what `shapes` holds of a measure; raises Missing where the run did not measure it."""
    found = rows(run.tables.get("shapes"), kind=kind, measure=measure, scope=scope, split=split)
    if not len(found):
        raise Missing(f"the run did not measure {kind}: {measure}")
    return found


def by_depth(heads: pd.DataFrame, above: float, most: float) -> pd.DataFrame:
    """Return the rows of the layers whose number, from 1, divided by that of all layers lies in (above, most].

    So layers of a paper's model are found again in models of another depth: layers 6 to 10 of 12 are (5/12, 10/12].
    """
    depth = (heads["layer"] + 1) / (heads["layer"].max() + 1)
    found: pd.DataFrame = heads[(depth > above + EDGE) & (depth < most + EDGE)]
    return found


def average(heads: pd.DataFrame, value: str = "value", low: str = "ci_low", high: str = "ci_high") -> Estimate:
    """Return the mean over rows; its interval is that of rows that err together, so it is never too narrow.

    NaN where there is no row.
    """
    mean, least, most = (float(heads[column].mean()) for column in (value, low, high))
    return Estimate(mean, least, most, len(heads))


def minus(first: Estimate, second: Estimate) -> Estimate:
    """Return the difference of two numbers that err independently; NaN where one is missing."""
    if math.isnan(first.value) or math.isnan(second.value):
        return Estimate(math.nan, math.nan, math.nan, 0)
    return together(lambda both: float(both[0] - both[1]), [first, second])


def _corpus(run: Run) -> str:
    told = run.scores[run.scores.split == "report"]
    return str(told.corpus.iloc[0]) if len(told) else "the report split"
