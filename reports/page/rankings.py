"""How far the metrics of a run agree on its heads, and the labels on which the choice of a metric matters most."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from operator import attrgetter
from typing import Any, Final

import numpy as np
import pandas as pd

from reports.blocks.block import Block, Heading, Paragraph, TableBlock, Terms
from reports.formats import count, decimal, percent
from reports.run.folder import RunFolder
from reports.scores.best_heads import CLASSIFIER
from reports.scores.glossary import METRICS
from reports.tables.cells import TextColumn
from reports.tables.scores import AGREEMENT
from reports.tables.text_table import TextTable

ACCURACY: Final = "accuracy"

NAMES: Final[Mapping[str, str]] = {
    ACCURACY: "accuracy",
    "mass": "mass",
    "reciprocal_rank": "reciprocal rank",
    "auc": "area under the curve",
    CLASSIFIER: "trained classifier",
}
"Metric -> its name on a page, in the order of a page."

QUESTION: Final = ["probe", "label", "variant"]

DISPUTED: Final = (
    "For each metric the labels on which its best head and the best head by accuracy are furthest apart: each leads by "
    "its own metric, and the smaller of both leads is the largest. Subtypes of a relation count as one. Here both "
    "heads are selected on the report split itself, to compare metrics; to quote a head, take the tables above."
)

MOST: Final = 2
"Disputes that are shown for each metric beside accuracy."

Row = Any
"A row of a table: each column is an attribute."


def _tau(metric: str, row: Row) -> str:
    return decimal(getattr(row, metric))


def _agreement(pair: Row) -> str:
    same = f"the same best head on {count(pair.same_best)} of {count(pair.questions)} pairs"
    return f"median tau {decimal(pair.median)}, {same}"


def _rows(frame: pd.DataFrame) -> tuple[Row, ...]:
    """Return the rows of a frame, each with its columns as attributes."""
    return tuple(frame.itertuples(index=False))


def pair_rows(agreement: pd.DataFrame) -> tuple[Row, ...]:
    """Return every two metrics over all labels: quartiles of tau, labels with the same best head, shared top heads."""
    groups = agreement.groupby(["one", "other"])
    quartiles = {f"quartile_{part}": groups["tau"].quantile(part / 4) for part in (1, 3)}
    numbers = {"questions": groups.size(), "median": groups["tau"].median(), "same_best": groups["same_best"].sum()}
    table = pd.DataFrame({**numbers, "overlap": groups["overlap"].mean(), **quartiles}).reset_index()
    place = {metric: number for number, metric in enumerate(NAMES)}
    return _rows(table.sort_values(["one", "other"], key=lambda names: names.map(place)))


def variant_rows(of_accuracy: pd.DataFrame) -> tuple[Row, ...]:
    """Return the median tau of accuracy with each metric by probe and direction, the least agreement first."""
    table = of_accuracy.pivot_table(index=["probe", "variant"], columns="other", values="tau", aggfunc="median")
    questions = of_accuracy.groupby(["probe", "variant"])["label"].nunique()
    order = table.dropna(axis=1).mean(axis=1).argsort(kind="stable")
    return _rows(table.assign(questions=questions).iloc[order].reset_index())


def dispute_rows(run: RunFolder, of_accuracy: pd.DataFrame, metric: str) -> tuple[Row, ...]:
    """Return the disputes of accuracy and a metric with the largest gaps, one a relation with its subtypes.

    The gap is what the best head by each metric is ahead of that by the other by its own metric; the smaller of both.
    """
    rows = of_accuracy[(of_accuracy["other"] == metric) & ~of_accuracy["same_best"]]
    numbers = _numbers(run, metric).merge(rows[QUESTION])
    for by, of in ((ACCURACY, "first"), ("value", "second")):
        best = numbers.loc[numbers.groupby(QUESTION)[by].idxmax()]
        rows = rows.merge(
            best.rename(columns={name: f"{of}_{name}" for name in ("name", ACCURACY, "value")}), on=QUESTION
        )
    ahead = (rows["first_accuracy"] - rows["second_accuracy"], rows["second_value"] - rows["first_value"])
    rows = rows.assign(gap=np.minimum(*ahead), relation=rows["label"].str.partition(":")[0])
    ordered = rows.sort_values(["gap", *QUESTION], ascending=[False, True, True, True])
    return _rows(ordered.drop_duplicates(["probe", "relation"]).head(MOST))


def _numbers(run: RunFolder, metric: str) -> pd.DataFrame:
    """Return name, accuracy and the metric as `value` of every question and head."""
    assert run.metrics is not None
    table = run.metrics
    if metric == CLASSIFIER:
        trained = run.scores[(run.scores["probe"] == CLASSIFIER) & (run.scores["split"] == "report")]
        named = trained["variant"].str.partition("/")
        trained = trained.assign(probe=named[0], variant=named[2], value=trained["accuracy"])
        table = table.merge(trained[[*QUESTION, "name", "value"]], on=[*QUESTION, "name"])
    else:
        table = table.assign(value=table[metric])
    return table[[*QUESTION, "name", ACCURACY, "value"]]


QUESTIONS: Final = TextColumn("Questions", lambda row: count(row.questions))

PAIRS: Final = (
    TextColumn("Metric", lambda pair: NAMES[pair.one], "row"),
    TextColumn("and metric", lambda pair: NAMES[pair.other], "text"),
    TextColumn("Median tau", lambda pair: decimal(pair.median), css="strong"),
    TextColumn("Quartiles", lambda pair: f"{decimal(pair.quartile_1)} to {decimal(pair.quartile_3)}"),
    QUESTIONS,
    TextColumn("Same best head, %", lambda pair: percent(pair.same_best / pair.questions)),
    TextColumn("Shared top heads, %", lambda pair: percent(pair.overlap)),
)

DISPUTES: Final = (
    AGREEMENT["label"].shown(kind="row"),
    AGREEMENT["variant"].shown(write=lambda row: f"{row.probe}: {row.variant}", css="muted"),
    AGREEMENT["n"].shown(),
    TextColumn("Other metric", lambda row: NAMES[row.other], "text"),
    AGREEMENT["tau"].shown(),
    TextColumn("Best by accuracy", attrgetter("first_name"), "text", "head"),
    TextColumn("its accuracy", lambda row: percent(row.first_accuracy), css="strong"),
    TextColumn("by the other", lambda row: percent(row.first_value)),
    TextColumn("Best by the other", attrgetter("second_name"), "text", "head"),
    TextColumn("its accuracy", lambda row: percent(row.second_accuracy)),
    TextColumn("by the other", lambda row: percent(row.second_value), css="strong"),
)


def ranking_blocks(run: RunFolder) -> Iterator[Block]:
    """Yield what a page says about the agreement of metrics; nothing where the run did not compare them."""
    if run.metrics is None or run.agreement is None:
        return
    found = run.agreement[run.agreement["tau"].notna()]
    of_accuracy = found[found["one"] == ACCURACY]
    others = [metric for metric in NAMES if metric in set(of_accuracy["other"])]
    measured = run.metrics.groupby(QUESTION).ngroups
    if found.empty:
        yield Paragraph(
            f"None of {count(measured)} label–direction pairs has enough items to compare the rankings of heads."
        )
        return
    pairs = pair_rows(found)
    yield Paragraph(" ".join((*_sentences(found, pairs, measured), "The numbers of all metrics are percent.")))
    unknown = {name for metric, name in NAMES.items() if metric not in others}
    yield Terms([(term, definition) for term, definition in METRICS.items() if term not in unknown])
    yield TableBlock(TextTable.of("Every two metrics, over all labels and directions", PAIRS, pairs))
    taus = (TextColumn(NAMES[one], partial(_tau, one)) for one in others)
    columns = (AGREEMENT["probe"].shown(kind="row"), AGREEMENT["variant"].shown(css="muted"), QUESTIONS, *taus)
    title = "Median tau with accuracy, by probe and direction, the least agreement first"
    yield TableBlock(TextTable.of(title, columns, variant_rows(of_accuracy)))
    if disputes := [row for metric in others for row in dispute_rows(run, of_accuracy, metric)]:
        yield Heading("Largest disagreements of metrics")
        yield Paragraph(DISPUTED)
        yield TableBlock(TextTable.of("Best head by accuracy, and by another metric", DISPUTES, disputes))


def _sentences(found: pd.DataFrame, pairs: Sequence[Row], measured: int) -> tuple[str, str]:
    """Return what was compared, and which metric agrees most and least with accuracy."""
    of_accuracy = sorted((pair for pair in pairs if pair.one == ACCURACY), key=lambda pair: -pair.median)
    compared = found.groupby(QUESTION).ngroups
    few = f"; the other {count(measured - compared)} have fewer items than that" * (measured > compared)
    scope = (
        f"All heads were ranked on {count(compared)} label–direction pairs of the report split by each metric "
        f"(the smallest pair has {count(int(found['n'].min()))} items{few})."
    )
    most, least = (f"{NAMES[pair.other]} ({_agreement(pair)})" for pair in (of_accuracy[0], of_accuracy[-1]))
    return scope, f"Closest to accuracy: {most}. Furthest from it: {least}."
