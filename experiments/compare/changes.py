"""What became of roles and of heads between two runs."""

from __future__ import annotations

import math
from collections.abc import Mapping

import pandas as pd

from experiments.compare.sides import QUESTION, Side, role_rows
from reports.compare.table import (
    ALONE,
    GAINED,
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
from reports.compare.tables import HEADS


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
        margin = among[["one_margin", "other_margin"]].min(axis=1) if len(both) else _own_margin(among)
        place = margin.idxmax()
        rows.loc[place, "role"] = True
        if both.empty and has["one_graded"].any() and has["other_graded"].any():
            rows.loc[place, "change"] = TURNED
    return rows


def _own_margin(rows: pd.DataFrame) -> pd.Series:
    """Return the margin of the side that has the role."""
    return rows["one_margin"].where(rows["one_graded"], rows["other_margin"])


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
