"""Two or more runs side by side: which head has which role in each, what moved, and the uncertainty of differences."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import Any

import numpy as np
import pandas as pd

from experiments.compare.sides import QUESTION, Question, Row, Side, role_rows
from probes.evidence.leads import independent_difference, paired_difference
from reports.compare.record import (
    ALONE,
    GAINED,
    HEADS,
    KEPT_ROLE,
    LEADS,
    LOST,
    LOST_ROLE,
    MOVED,
    NEW_ROLE,
    NO_ROLE,
    NONE,
    OTHER_ROLE,
    SAME,
    TURNED,
)
from reports.progress import Progress, each, silent
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


def role_changes(rows: pd.DataFrame) -> pd.DataFrame:
    """Return the rows with `change`, and with `role` in the one variant in which each role is told.

    That is the variant in which both runs have a head with a grade, or else one has, by the largest margin; of two
    margins the smaller one counts.
    """
    rows = rows.assign(change=[_change(row) for row in rows.to_dict("records")], role=False)
    for _, found in role_rows(rows).groupby(["probe", "label"]):
        has = found[found["change"] != NONE]
        if has.empty:
            continue
        both = has[has["one_graded"] & has["other_graded"]]
        among = both if len(both) else has
        of_side = among["one_margin"].where(among["one_graded"], among["other_margin"])
        margin = among[["one_margin", "other_margin"]].min(axis=1) if len(both) else of_side
        place = margin.idxmax()
        rows.loc[place, "role"] = True
        if both.empty and has["one_graded"].any() and has["other_graded"].any():
            rows.loc[place, "change"] = TURNED
    return rows


def _change(row: Mapping[object, object]) -> str:
    """Return what became of one label in one variant."""
    if row["one_graded"] and row["other_graded"]:
        if row["partner"] == row["other_head"]:
            return SAME
        return LEADS if row["partner_graded"] else MOVED
    if row["one_graded"]:
        return LOST
    return GAINED if row["other_graded"] else NONE


def head_changes(first: Side, second: Side, of: Mapping[str, str], distance: Mapping[str, float]) -> pd.DataFrame:
    """Return one row a head of the one, with its counterpart, and a head of the other that is nobody's counterpart."""
    largest = _largest(first, second, of)
    roles = first.roles(second), second.roles(first)
    rows = []
    for head in first.heads["name"]:
        partner = of.get(head, "")
        what, before, after = largest.get(head, ("", math.nan, math.nan))
        about = {"head": head, "partner": partner, "distance": distance.get(head, math.nan)}
        rows.append(
            about | _roles(roles, head, partner) | {"largest": what, "largest_from": before, "largest_to": after}
        )
    for head in second.heads["name"]:
        if head not in of.values():
            about = {"head": "", "partner": head, "distance": math.nan} | _roles(roles, "", head)
            rows.append(about | {"largest": "", "largest_from": math.nan, "largest_to": math.nan})
    return pd.DataFrame(rows).assign(one="", other="")[[*HEADS.names]]


def _roles(
    roles: tuple[Mapping[str, list[str]], Mapping[str, list[str]]], head: str, partner: str
) -> dict[str, object]:
    mine, theirs = roles[0].get(head, []), roles[1].get(partner, [])
    main, now = (found[0] if found else "" for found in (mine, theirs))
    return {
        **{"one_role": main, "other_role": now, "one_roles": len(mine), "other_roles": len(theirs)},
        "change": _head_change(main, now) if head and partner else ALONE,
    }


def _head_change(main: str, now: str) -> str:
    if main and now:
        return KEPT_ROLE if main == now else OTHER_ROLE
    if main:
        return LOST_ROLE
    return NEW_ROLE if now else NO_ROLE


def _largest(one: Side, other: Side, of: Mapping[str, str]) -> dict[str, tuple[str, float, float]]:
    """Return head -> label and variant in which its accuracy differs most from its counterpart's, and both of these."""
    keep = [*QUESTION, "name", "accuracy"]
    asked = one.rows[one.rows["margin"].notna()]  # what has no baseline is no role
    mine = role_rows(asked)[keep]
    mine = mine.assign(partner=mine["name"].map(of)).dropna(subset=["partner"])
    both = mine.merge(other.rows[keep], left_on=[*QUESTION, "partner"], right_on=[*QUESTION, "name"])
    both = both.assign(size=(both["accuracy_y"] - both["accuracy_x"]).abs())
    tops = both.sort_values("size", ascending=False, kind="stable").drop_duplicates("name_x")
    return {
        str(row["name_x"]): (f"{row['label']} ({row['variant']})", row["accuracy_x"], row["accuracy_y"])
        for row in tops.to_dict("records")
    }
