"""Answers of an atlas with the seeds of one model and corpus pooled, and what came out of it in a few sentences."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from statistics import mode

import pandas as pd

from reports.compare.across import sentences as across_sentences
from reports.compare.atlas_record import AtlasRecord, AtlasRun
from reports.formats import names
from reports.scores.plain_names import task
from reports.tables.grades import BY_ANSWER, POSITION

MOST = 4
"Runs, models or groups that a sentence names."

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
        named = zip(self.heads, rows["highest_heads"], strict=True)
        self.stable = all(head in others.split(", ") for head, others in named)
        "Whether the selected head has a stable grade in every run: the highest that any head has."
        self.strongest: str = mode(rows["strongest"])
        self.effective_clusters = float(rows["effective_clusters"].min())
        self.grade = mode(sorted(self.grades))
        "The most frequent grade; of several the lowest."
        self.head = mode(self.heads)
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
        "Number of runs in which some head has a stable grade."


def groups(record: AtlasRecord) -> tuple[Group, ...]:
    """Return models with corpora of which at least one run was finished, in the order of the runs."""
    return tuple(dict.fromkeys((run.model, run.corpus) for run in record.finished))


def pooled_rows(record: AtlasRecord) -> list[AtlasRow]:
    """Return labels and directions in linguistic roles: with a stable grade in any run first, then by mean lead."""
    roles = record.answers[record.answers["probe"] != POSITION]
    rows = [AtlasRow(own) for _, own in roles.groupby(["probe", "label", "variant"], sort=False)]
    return sorted(rows, key=lambda row: (not row.graded, pd.isna(row.lead), -row.lead, row.title))


@dataclass(frozen=True)
class GroupSummary:
    """What came out for one model and corpus."""

    group: Group
    runs: tuple[AtlasRun, ...]
    "The finished ones, which differ in their seed."
    best: tuple[AtlasRow, PooledHead] | None
    "The role whose head is specialised and farthest above its strongest baseline; None without any."


def group_summaries(record: AtlasRecord) -> list[GroupSummary]:
    """Return what came out for each model and corpus, in the order of the runs."""
    rows, found = pooled_rows(record), []
    for group in groups(record):
        runs = tuple(run for run in record.finished if (run.model, run.corpus) == group)
        own = [(row, head) for row in rows if (head := row.by_group.get(group)) and head.stable]
        specialised = [(row, head) for row, head in own if not re.search(BY_ANSWER, row.label)]
        best = max(specialised, key=lambda one: one[1].accuracy - one[1].strongest_accuracy, default=None)
        found.append(GroupSummary(group, runs, best))
    return found


def overview(record: AtlasRecord) -> tuple[str, ...]:
    """Return what was run, in parts of one line: failed runs first."""
    runs = _counted(len(record.runs), "run")
    kinds = (("model", [run.model for run in record.runs]), ("corpus", [run.corpus for run in record.runs]))
    counts = [_counted(len({*titles}), kind) for kind, titles in kinds]
    seeds = _counted(len({run.seed for run in record.runs}), "seed")
    first = f"{len(record.failed)} of {runs} failed" if record.failed else runs
    return tuple(filter(None, (first, *counts, seeds, record.made)))


def _counted(number: int, thing: str) -> str:
    plural = {"corpus": "corpora"}.get(thing, f"{thing}s")
    return f"{number:,} {thing if number == 1 else plural}"


def summary(record: AtlasRecord) -> tuple[str, ...]:
    """Return specialised heads, failed runs, models without, the most graded pair, and corpora for each model."""
    return tuple(_sentences(record))


def _sentences(record: AtlasRecord) -> Iterator[str]:
    failed = names([run.name for run in record.failed], MOST)
    said = [f"{len(record.failed)} of {_counted(len(record.runs), 'run')} failed: {failed}."] * bool(record.failed)
    if not record.finished:
        yield from ("No run was finished, so nothing was scored.", *said)
        return
    with_heads = [run for run in record.finished if run.specialised]
    finished = _counted(len(record.finished), "finished run")
    have = "have" if len(with_heads) > 1 else "has"
    yield f"{len(with_heads) or 'None'} of {finished} {have} a head that is specialised in a linguistic role."
    yield from said
    if with_heads:
        specialised = {run.model for run in with_heads}
        without = [model for model in dict.fromkeys(run.model for run in record.finished) if model not in specialised]
        if without:
            yield f"Models without a specialised head in any run: {names(without, MOST)}."
    rows = pooled_rows(record)
    if rows and (most := max(rows, key=lambda row: row.graded)).graded:
        ties = sum(row.graded == most.graded for row in rows) - 1
        yield _most_graded(most, ties)
    yield from across_sentences(record.across)


def _most_graded(row: AtlasRow, ties: int) -> str:
    """Say in how many runs a label and direction has a grade, and by model and corpus which head is selected."""
    also = f" (as for {_counted(ties, 'other pair')})" if ties else ""
    heads = [
        f"{model} on {corpus} {pooled.head}" + (f" in {pooled.agreeing} of {pooled.seeds} seeds" * (pooled.seeds > 1))
        for (model, corpus), pooled in row.by_group.items()
        if any(pooled.highest)
    ]
    return (
        f"The label–direction pair with a stable grade in most runs is “{task(row.probe, row.label, row.variant)}” "
        f"({row.title}): {row.graded} of {_counted(row.runs, 'run')}{also}; selected "
        f"heads in such runs: {names(heads, MOST)}."
    )
