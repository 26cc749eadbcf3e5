"""How far the metrics of a run agree on its heads."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from typing import Any, Final

import pandas as pd

from reports.blocks.block import Block, Paragraph, TableBlock, Terms
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
    yield Paragraph(" ".join(_sentences(found, pairs, measured)))
    unknown = {name for metric, name in NAMES.items() if metric not in others}
    yield Terms([(term, definition) for term, definition in METRICS.items() if term not in unknown])
    yield TableBlock(TextTable.of("Every two metrics, over all labels and directions", PAIRS, pairs))
    taus = (TextColumn(NAMES[one], partial(_tau, one)) for one in others)
    columns = (AGREEMENT["probe"].shown(kind="row"), AGREEMENT["variant"].shown(css="muted"), QUESTIONS, *taus)
    title = "Median tau with accuracy, by probe and direction, the least agreement first"
    yield TableBlock(TextTable.of(title, columns, variant_rows(of_accuracy)))


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
