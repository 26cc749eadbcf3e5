"""Heads across corpora, pooled: how often the head selected on one corpus has a grade on another."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import pandas as pd

from reports.atlas.pooled import most_frequent
from reports.tables.grades import POSITION, counted


@dataclass(frozen=True)
class KeptHeads:
    """Selected heads with a grade on their own corpus, in the report splits of others.

    A case is a label and direction, an ordered pair of corpora and a seed.
    """

    cases: int
    kept: int
    "Cases in which the head has a grade there too."
    own: int
    "Cases in which the head selected there has one."
    random: float
    "Mean share of all heads that have one there."

    @classmethod
    def of(cls, rows: pd.DataFrame) -> KeptHeads:
        """Count rows of `ACROSS`."""
        share = float((rows["graded_heads"] / rows["heads"]).mean()) if len(rows) else float("nan")
        return cls(len(rows), int((rows["grade"] > 0).sum()), int((rows["own_grade"] > 0).sum()), share)


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
    counts: KeptHeads
    accuracy: float
    "Mean over the cases, as the following."
    strongest_accuracy: float
    difference: float
    "Accuracy minus that of the other corpus's own head."


def role_cases(across: pd.DataFrame) -> pd.DataFrame:
    """Return the rows of heads with a grade on their own corpus, in roles of language; near-duplicate labels once."""
    roles = across[(across["probe"] != POSITION) & (across["home_grade"] > 0)]
    if roles.empty:
        return roles
    once = [counted(own["label"]) for _, own in roles.groupby("probe", sort=False)]
    cases: pd.DataFrame = roles[pd.concat(once).reindex(roles.index)]
    return cases


def kept_labels(across: pd.DataFrame) -> list[KeptLabel]:
    """Return the labels and directions of `role_cases` by model, those kept in most cases first."""
    groups = role_cases(across).groupby(["model", "probe", "label", "variant"], sort=False)
    labels = [_label(keys, own) for keys, own in groups]
    return sorted(labels, key=lambda row: (row.model, -row.counts.kept, -row.counts.cases, -row.accuracy))


def _label(keys: tuple[Any, ...], own: pd.DataFrame) -> KeptLabel:
    homes = own.drop_duplicates(["selected_on", "seed"])
    head = most_frequent(homes["name"])
    agreeing = homes.loc[homes["name"] == head, "selected_on"].nunique()
    model, probe, label, variant = map(str, keys)
    means = {name: float(own[name].mean()) for name in ("accuracy", "strongest_accuracy", "difference")}
    corpora = homes["selected_on"].nunique()
    return KeptLabel(model, probe, label, variant, head, agreeing, corpora, KeptHeads.of(own), **means)


def by_pair(across: pd.DataFrame, model: str) -> dict[str, dict[str, KeptHeads]]:
    """Return corpus -> other corpus -> counts of the heads selected on the first, corpora in the order of the grid."""
    rows = across[across["model"] == model]
    cases = role_cases(rows)
    corpora = list(dict.fromkeys([*rows["selected_on"], *rows["evaluated_on"]]))
    return {
        home: {away: KeptHeads.of(own[own["evaluated_on"] == away]) for away in corpora}
        for home in corpora
        if len(own := cases[cases["selected_on"] == home])
    }
