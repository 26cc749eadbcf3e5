"""Heads across corpora, pooled: how often the head selected on one corpus has a grade on another."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import pandas as pd

from reports.atlas.pooled import most_frequent
from reports.tables.grades import POSITION, counted


@dataclass(frozen=True)
class KeptGrades:
    """What became of selected heads with a grade on their own corpus, on the report splits of others.

    A case is a label and direction with an ordered pair of corpora. Cases share heads and texts, and are not tested.
    """

    cases: int
    kept: int
    "Cases in which the head has a grade there too."
    selected: int
    "Cases in which the head selected there has one."
    possible: int
    "Cases in which any head has one: no more can be kept."
    others: float
    "Mean share of the other specialised heads of the first corpus that have one there; NaN without any."
    below: int
    "Cases in which accuracy is significantly below that of the head selected there, each by itself."

    @classmethod
    def of(cls, rows: pd.DataFrame) -> KeptGrades:
        """Count rows of `ACROSS`."""
        kept, selected, possible = (int((rows[column] > 0).sum()) for column in ("grade", "own_grade", "graded_heads"))
        known = rows[rows["others"] > 0]
        others = float((known["others_graded"] / known["others"]).mean()) if len(known) else float("nan")
        return cls(len(rows), kept, selected, possible, others, int((rows["difference_high"] < 0).sum()))


def role_cases(across: pd.DataFrame) -> pd.DataFrame:
    """Return the rows of heads with a grade on their own corpus, in roles of language; near-duplicate labels once.

    Of several seeds of a model the first is counted: with trained weights they repeat nearly the same cases.
    """
    roles = across[across["probe"] != POSITION]
    if roles.empty:
        return roles
    once = roles.groupby("probe")["label"].transform(counted).astype(bool)
    first = roles["seed"] == roles.groupby("model")["seed"].transform("min")
    cases: pd.DataFrame = roles[once & first & (roles["home_grade"] > 0)]
    return cases


def kept_labels(cases: pd.DataFrame) -> list[dict[str, Any]]:
    """Return the labels and directions of `role_cases`, models in order, those kept in the largest share first.

    Each has the head that is selected on most corpora, of those whose selected head has a grade, and means over its
    cases.
    """
    models = {model: number for number, model in enumerate(dict.fromkeys(cases["model"]))}
    keys = ["model", "probe", "label", "variant"]
    labels = [dict(zip(keys, map(str, of), strict=True)) | _label(own) for of, own in cases.groupby(keys, sort=False)]
    return sorted(labels, key=lambda row: (models[row["model"]], -_share(row["counts"]), -row["counts"].cases))


def _share(counts: KeptGrades) -> float:
    return counts.kept / counts.cases


def _label(own: pd.DataFrame) -> dict[str, Any]:
    homes = own.drop_duplicates("selected_on")
    head = most_frequent(homes["name"])
    about = {"head": head, "selected_on": int((homes["name"] == head).sum()), "corpora": len(homes)}
    means = {name: float(own[name].mean()) for name in ("accuracy", "difference", "strongest_accuracy")}
    return {**about, "counts": KeptGrades.of(own), **means}


def by_pair(across: pd.DataFrame, cases: pd.DataFrame, model: str) -> dict[str, dict[str, KeptGrades]]:
    """Return corpus -> other corpus -> counts of the heads selected on the first, in the order of the grid."""
    rows, own = (frame[frame["model"] == model] for frame in (across, cases))
    corpora = list(dict.fromkeys([*rows["selected_on"], *rows["evaluated_on"]]))
    return {
        home: {
            away: KeptGrades.of(own[(own["selected_on"] == home) & (own["evaluated_on"] == away)]) for away in corpora
        }
        for home in corpora
    }
