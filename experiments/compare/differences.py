"""How far the chosen heads of runs differ, question by question, and what became of each."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import Any

import numpy as np
import pandas as pd

from experiments.compare.sides import QUESTION, Question, Row, Side
from experiments.record.progress import Progress, silent
from probes.evidence.leads import independent_difference, paired_difference
from reports.progress import each
from reports.tables.estimate import Estimate


def differences(
    sides: Sequence[Side], partners: Sequence[Mapping[str, str]], progress: Progress = silent
) -> list[pd.DataFrame]:
    """Return one row a question that the first side and another both tell, a table each of the others.

    `partners` say, for each of the others, which of its heads a head of the first is held to be. p-values are corrected
    for all of them together (Benjamini and Hochberg 1995).
    """
    from scipy import stats

    first = sides[0]
    asked = [[question for question in first.best if question in other.best] for other in sides[1:]]
    alpha = first.rule.alpha
    pairs = [
        (question, other, of)
        for questions, other, of in zip(asked, sides[1:], partners, strict=True)
        for question in questions
    ]
    told = [_row(question, first, other, of) for question, other, of in each("labels compared", pairs, progress)]
    every = pd.DataFrame(told)
    p = every[["p", "partner_p"]].to_numpy(np.float64)
    adjusted, tested = np.full(p.shape, np.nan), ~np.isnan(p)
    if tested.any():
        adjusted[tested] = stats.false_discovery_control(p[tested], method="bh")
    every["p_adjusted"] = adjusted[:, 0]
    again = every["partner"].eq(every["other_head"]) & np.isnan(adjusted[:, 1])  # the same difference, tested once
    every["partner_p_adjusted"] = np.where(again, adjusted[:, 0], adjusted[:, 1])
    every["significant"] = every["p_adjusted"] < alpha
    ends = [0, *np.cumsum([*map(len, asked)]).tolist()]
    return [every.iloc[start:end].reset_index(drop=True) for start, end in pairwise(ends)]


def _row(question: Question, one: Side, other: Side, of: Mapping[str, str]) -> dict[str, Any]:
    """Return what both sides say of a question: the chosen heads, and what became of the first one's."""
    mine, theirs = one.best[question], other.best[question]
    partner = of.get(mine["name"], "")
    best, p, paired = _difference(question, (one, mine), (other, theirs))
    row = dict(zip(QUESTION, question, strict=True)) | {
        "n": int(mine["n"]),
        **_told("one", mine),
        **_told("other", theirs),
    }
    row |= {"difference": best.value, "difference_low": best.low, "difference_high": best.high, "p": p}
    row |= {"paired": paired, "partner": partner, "partner_accuracy": math.nan, "partner_graded": False}
    row |= dict.fromkeys(("partner_difference", "partner_low", "partner_high", "partner_p"), math.nan)
    now = other.every.get((question, partner))
    if now is None:
        return row
    row |= {"partner_accuracy": float(now["accuracy"]), "partner_graded": bool(now["graded"])}
    if partner == theirs["name"] and not one.checkpoint:
        return row | dict(zip(_PARTNER, (best.value, best.low, best.high), strict=True))  # tested already
    moved, p, _ = _difference(question, (one, one.every[question, mine["name"]]), (other, now))
    return row | dict(zip(_PARTNER, (moved.value, moved.low, moved.high), strict=True)) | {"partner_p": p}


_PARTNER = ("partner_difference", "partner_low", "partner_high")


def _told(side: str, row: Row) -> dict[str, Any]:
    numbers = {"accuracy": "accuracy", "low": "ci_low", "high": "ci_high", "margin": "margin"}
    return {
        f"{side}_head": row["name"],
        **{f"{side}_{name}": float(row[column]) for name, column in numbers.items()},
        f"{side}_graded": bool(row["graded"]),
    }


def _difference(question: Question, mine: tuple[Side, Row], theirs: tuple[Side, Row]) -> tuple[Estimate, float, bool]:
    """Return the difference of two heads, its p, and whether it is paired: both runs kept counts of the same items."""
    (one, before), (other, now) = mine, theirs
    found, beside = one.counts.get(question), other.counts.get(question)
    if found is not None and beside is not None and found["n"].equals(beside["n"]):
        n, hits, others = (
            column.to_numpy(np.float64) for column in (found["n"], found[before["name"]], beside[now["name"]])
        )
        return *paired_difference(n, hits, others), True
    return *independent_difference(_estimate(before), _estimate(now)), False


def _estimate(row: Row) -> Estimate:
    return Estimate(float(row["accuracy"]), float(row["ci_low"]), float(row["ci_high"]), int(row["n"]))
