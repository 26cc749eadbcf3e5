"""Answers of an atlas with the seeds of one model and corpus pooled, by label and direction."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from typing import TypeVar

import pandas as pd

from reports.atlas.record import AtlasRecord
from reports.tables.grades import POSITION

T = TypeVar("T")

Group = tuple[str, str]
"Model and corpus."


class PooledHead:
    """The selected heads of one label and direction in the runs of one model and corpus, which differ in their seed.

    Accuracies are means over seeds.
    """

    def __init__(self, rows: pd.DataFrame) -> None:
        """Take the rows of the runs in the table of an atlas."""
        self.heads: tuple[str, ...] = tuple(rows["name"])
        self.grades, self.highest = (tuple(map(int, rows[column])) for column in ("grade", "highest"))
        self.accuracy, self.strongest_accuracy = (
            float(rows[column].mean()) for column in ("accuracy", "strongest_accuracy")
        )
        self.strongest: str = most_frequent(rows["strongest"])
        self.effective_clusters = float(rows["effective_clusters"].min())
        self.grade = most_frequent(sorted(self.grades))
        "The most frequent grade; of several the lowest."
        self.head = most_frequent(self.heads)
        "The head that is selected in most seeds."
        self.seeds, self.agreeing = len(self.heads), self.heads.count(self.head)
        "Number of runs, and of those that select that head."


class AtlasRow:
    """A label and direction over all runs that scored it."""

    def __init__(self, rows: pd.DataFrame) -> None:
        """Take its rows of the table of an atlas."""
        self.probe, self.label, self.variant = map(str, rows.iloc[0][["probe", "label", "variant"]])
        groups_of = rows.groupby(["model", "corpus"], sort=False)
        self.by_group: dict[Group, PooledHead] = {
            (str(model), str(corpus)): PooledHead(own) for (model, corpus), own in groups_of
        }
        self.lead = float(rows["lead"].mean())
        "Mean lead of the selected head over its strongest baseline, over runs; NaN without a baseline."
        self.title = f"{self.probe}: {self.label}, {self.variant}"
        "Its names in a line."
        self.runs = len(rows)
        "Number of runs that scored it."
        self.graded = int((rows["highest"] > 0).sum())
        "Number of runs in which some head has a grade."


def most_frequent(values: Iterable[T]) -> T:
    """Return the most frequent of the values, the first of several.

    >>> most_frequent(["3-1", "2-2", "2-2", "3-1"])
    '3-1'
    """
    return Counter(values).most_common(1)[0][0]


def groups(record: AtlasRecord) -> tuple[Group, ...]:
    """Return models with corpora of which at least one run was finished, in the order of the runs."""
    return tuple(dict.fromkeys((run.model, run.corpus) for run in record.finished))


def pooled_rows(record: AtlasRecord) -> list[AtlasRow]:
    """Return labels and directions in roles of language: first those with a grade in any run, then by mean lead."""
    roles = record.answers[record.answers["probe"] != POSITION]
    rows = [AtlasRow(own) for _, own in roles.groupby(["probe", "label", "variant"], sort=False)]
    return sorted(rows, key=lambda row: (not row.graded, pd.isna(row.lead), -row.lead, row.title))
