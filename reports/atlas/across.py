"""Heads across corpora, pooled: how often the head selected on one corpus has a grade on another."""

from __future__ import annotations

from dataclasses import dataclass

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


@dataclass(frozen=True)
class KeptLabel:
    """A label and direction of one model: its selected heads on the other corpora."""

    model: str
    probe: str
    label: str
    variant: str
    head: str
    "The head that is selected on most corpora with a grade."
    selected_on: int
    "Corpora that select it."
    corpora: int
    "Corpora whose selected head has a grade."
    counts: KeptGrades
    accuracy: float
    "Mean over the cases."
    difference: float
    "Mean accuracy minus that of the head selected on the other corpus."
    strongest_accuracy: float
    "Mean over the cases with a baseline."


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


def kept_labels(cases: pd.DataFrame) -> list[KeptLabel]:
    """Return the labels and directions of `role_cases`, models in order, those kept in the largest share first."""
    models = {model: number for number, model in enumerate(dict.fromkeys(cases["model"]))}
    groups = cases.groupby(["model", "probe", "label", "variant"], sort=False)
    labels = [_label([str(key) for key in keys], own) for keys, own in groups]
    return sorted(labels, key=lambda row: (models[row.model], -row.counts.kept / row.counts.cases, -row.counts.cases))


def _label(keys: list[str], own: pd.DataFrame) -> KeptLabel:
    homes = own.drop_duplicates("selected_on")
    head = most_frequent(homes["name"])
    agreeing = int((homes["name"] == head).sum())
    means = {name: float(own[name].mean()) for name in ("accuracy", "difference", "strongest_accuracy")}
    model, probe, label, variant = keys
    return KeptLabel(model, probe, label, variant, head, agreeing, len(homes), KeptGrades.of(own), **means)


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
