"""Answers of an atlas with the seeds of one model and corpus pooled, by label and direction."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, TypeVar

import pandas as pd

from reports.atlas.record import AtlasRecord
from reports.tables.grades import POSITION

T = TypeVar("T")

Group = tuple[str, str]
"Model and corpus."


@dataclass(frozen=True)
class PooledHead:
    """The selected heads of one label and direction in the runs of one model and corpus, which differ in their seed."""

    heads: tuple[str, ...]
    "Selected head of each seed."
    grades: tuple[int, ...]
    "Grade of the selected head, by seed."
    highest: tuple[int, ...]
    "Highest grade that any head has, by seed."
    accuracy: float
    "Mean over seeds, as the following."
    strongest_accuracy: float
    strongest: str
    "The most frequent strongest baseline."
    effective_clusters: float
    "The least of all seeds."

    @property
    def grade(self) -> int:
        """The most frequent grade; of several the lowest."""
        return most_frequent(sorted(self.grades))

    @property
    def head(self) -> str:
        """The head that is selected in most seeds."""
        return most_frequent(self.heads)

    @property
    def agreeing(self) -> int:
        """Number of seeds that select that head."""
        return self.heads.count(self.head)

    @property
    def seeds(self) -> int:
        """Number of runs."""
        return len(self.heads)


@dataclass(frozen=True)
class AtlasRow:
    """A label and direction over all runs that scored it."""

    probe: str
    label: str
    variant: str
    by_group: Mapping[Group, PooledHead]
    lead: float
    "Mean lead of the selected head over its strongest baseline, over runs; NaN without a baseline."

    @property
    def title(self) -> str:
        """Its names in a line."""
        return f"{self.probe}: {self.label}, {self.variant}"

    @property
    def runs(self) -> int:
        """Number of runs that scored it."""
        return sum(pooled.seeds for pooled in self.by_group.values())

    @property
    def graded(self) -> int:
        """Number of runs in which some head has a grade."""
        return sum(sum(grade > 0 for grade in pooled.highest) for pooled in self.by_group.values())


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
    rows = [_row(keys, own) for keys, own in roles.groupby(["probe", "label", "variant"], sort=False)]
    return sorted(rows, key=lambda row: (not row.graded, pd.isna(row.lead), -row.lead, row.title))


def _row(question: tuple[Any, ...], own: pd.DataFrame) -> AtlasRow:
    probe, label, variant = map(str, question)
    by_group = {
        (str(model), str(corpus)): _pooled(seeds)
        for (model, corpus), seeds in own.groupby(["model", "corpus"], sort=False)
    }
    return AtlasRow(probe, label, variant, by_group, float(own["lead"].mean()))


def _pooled(seeds: pd.DataFrame) -> PooledHead:
    names, grades, highest = (tuple(seeds[column]) for column in ("name", "grade", "highest"))
    accuracy, baseline = (float(seeds[column].mean()) for column in ("accuracy", "strongest_accuracy"))
    least = float(seeds["effective_clusters"].min())
    return PooledHead(names, grades, highest, accuracy, baseline, most_frequent(seeds["strongest"]), least)
