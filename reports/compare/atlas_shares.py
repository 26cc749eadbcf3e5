"""How much of head specialisation is more than words and rules: labels with a head beyond each kind of baseline."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Final

import pandas as pd

from reports.compare.atlas_record import AtlasRecord
from reports.drawing.charts import Chart, series_styles
from reports.drawing.dots import Dot, dot_chart
from reports.formats import MISSING, interval, percent
from reports.tables.cells import Cell, TextColumn
from reports.tables.estimate import Estimate
from reports.tables.grades import GRADES, POSITION, own_labels
from reports.tables.text_table import TextTable

MOST: Final = 3
"Heads that are named beside a share."

ITEMS, DOCUMENTS = 200, 20
"Scored words and effective documents that a label has at least to be counted: on less heads seldom get a grade."

OVER: Final = {1: "verdict", 2: "lexical_accuracy", 3: "rule_accuracy"}
"Grade -> the column that is empty where a label has no baseline of it: it was not tested, has no table, no rules."

MARGINS: Final = {1: "margin", 2: "lexical_margin", 3: "rule_margin"}
"Grade -> the selected head's margin over the baseline of that grade, whose ends are columns."


@dataclass(frozen=True)
class GradeShare:
    """Of the labels that have a baseline of a grade, those in which some head reaches it, in any direction."""

    labels: Estimate
    "Their share, with an interval as if labels were drawn at random from all there are; n is their number."
    heads: tuple[str, ...]
    "Heads with the highest grade there, those of most labels first, of the first few of each direction."
    ahead: int
    "Labels whose selected head is above that baseline in a direction: the 95 % interval of the margin is above 0."
    behind: int
    "Labels whose selected head is below it in all directions."


@dataclass(frozen=True)
class LabelShares:
    """The labels of linguistic roles of one model on one corpus, with the first of its seeds."""

    model: str
    corpus: str
    by_grade: dict[int, GradeShare]


def label_shares(record: AtlasRecord) -> list[LabelShares]:
    """Return what every model and corpus has."""
    return [
        LabelShares(model, corpus, {grade: grade_share(rows, grade) for grade in OVER})
        for (model, corpus), rows in counted_rows(record).items()
    ]


def counted_rows(record: AtlasRecord) -> dict[tuple[str, str], pd.DataFrame]:
    """Return the rows of the atlas that count by model and corpus, with the first of their seeds.

    They are those of linguistic roles that were tested, on ITEMS words and DOCUMENTS or more; pools and slices of other
    labels are left out.
    """
    every = record.answers
    large = (every["n"] >= ITEMS) & (every["effective_clusters"] >= DOCUMENTS)
    tested = every[large & (every["probe"] != POSITION) & (every["verdict"] != "")]
    found = {}
    for (model, corpus), rows in tested.groupby(["model", "corpus"], sort=False):
        first = rows[rows["seed"] == rows["seed"].min()]
        kept = own_labels(zip(first["probe"], first["label"], strict=True))
        own = [pair in kept for pair in zip(first["probe"], first["label"], strict=True)]
        found[str(model), str(corpus)] = first[own]
    return found


def grade_share(rows: pd.DataFrame, grade: int) -> GradeShare:
    """Return how many labels of rows of the atlas have a head of that grade, and where the selected head lies."""
    asked = rows[rows[OVER[grade]].notna()]
    beyond = asked[asked["highest"] >= grade]
    by_label = asked.groupby(["probe", "label"])
    labels = by_label["highest"].max()
    of_label = beyond.groupby(["probe", "label"])["highest_heads"].agg(", ".join)
    heads = Counter(head for row in of_label for head in dict.fromkeys(row.split(", ")) if not head.startswith("+"))
    reached = float((labels >= grade).mean())
    low, high = (by_label[f"{MARGINS[grade]}_{end}"].max() for end in ("low", "high"))
    named = tuple(head for head, _ in heads.most_common())
    return GradeShare(Estimate.share(reached, len(labels)), named, int((low > 0).sum()), int((high < 0).sum()))


def share_table(shares: Sequence[LabelShares]) -> TextTable:
    """Return one row a model and corpus, and for each grade the share of labels with a head that reaches it."""
    columns = [TextColumn(f"{name.capitalize()}, % of labels", partial(_cell, grade)) for grade, name in _named()]
    return TextTable.of("Labels with a head", (*MODEL_AND_CORPUS, *columns), shares)


MODEL_AND_CORPUS: Final = (
    TextColumn("Model", lambda one: one.model, "row"),
    TextColumn("Corpus", lambda one: one.corpus, "text"),
)


def _named() -> Iterator[tuple[int, str]]:
    return ((grade, GRADES[grade]) for grade in OVER)


def _cell(grade: int, one: LabelShares) -> Cell:
    found = one.by_grade[grade]
    labels = found.labels
    if not labels.n:
        return Cell(MISSING, sort=float("nan"))
    beside = f"{found.ahead} ahead, {found.behind} behind"
    more = [f"of {labels.n}", *[", ".join(found.heads[:MOST])] * bool(found.heads), beside]
    return Cell(f"{percent(labels.value)} {interval(labels.low, labels.high)}", "; ".join(more), sort=labels.value)


def share_chart(shares: Sequence[LabelShares]) -> Chart:
    """Return the same as dots, a colour a grade."""
    dots = [
        Dot(f"{one.model} on {one.corpus}", name, name, found.value, f"{name}: {percent(found.value)} % of {found.n}")
        for one in shares
        for grade, name in _named()
        if (found := one.by_grade[grade].labels).n
    ]
    colours = {series: style.colour for series, style in series_styles(name for _, name in _named()).items()}
    title = "Labels in which some head exceeds position, words and rules"
    return dot_chart(title, "Of all labels that have such a rival.", dots, colours, axis="labels with a head, %")
