"""The tables of heads across corpora: labels and directions, and ordered pairs of corpora."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Final

import pandas as pd

from reports.atlas.across import KeptHeads, KeptLabel, by_pair
from reports.formats import MISSING, percent, signed
from reports.scores.selected_head import question_cell
from reports.tables.cells import Cell, TextColumn
from reports.tables.text_table import TextTable


def _cases(count: int, cases: int) -> Cell:
    return Cell(f"{count} of {cases}", sort=count / cases)


LABELS: Final = (
    TextColumn("Label and direction", lambda row: question_cell(vars(row)), "row"),
    TextColumn(
        "Head",
        lambda row: Cell(row.head, f"selected on {row.selected_on} of {row.corpora}"),
        "text",
        tip="The head selected on most corpora, of those on which the selected head has a grade.",
    ),
    TextColumn(
        "Graded elsewhere",
        lambda row: _cases(row.counts.kept, row.counts.cases),
        css="strong",
        tip="Cases in which a head selected with a grade on one corpus has a grade on another.",
    ),
    TextColumn(
        "Own heads graded",
        lambda row: _cases(row.counts.own, row.counts.cases),
        tip="The same cases, for the head selected on the other corpus itself: what can be reached.",
    ),
    TextColumn(
        "A random head",
        lambda row: Cell(f"{percent(row.counts.random)} %", sort=row.counts.random),
        tip="Mean share of all heads that have a grade there.",
    ),
    TextColumn("Recall elsewhere", lambda row: Cell(percent(row.accuracy), sort=row.accuracy)),
    TextColumn(
        "Minus own head’s",
        lambda row: Cell(signed(row.difference), sort=row.difference),
        tip="Mean recall minus that of the other corpus’s own head, in points.",
    ),
    TextColumn(
        "Strongest baseline",
        lambda row: Cell(percent(row.strongest_accuracy), sort=row.strongest_accuracy),
        tip="Its mean recall on the same words.",
    ),
)


def label_table(model: str, rows: Sequence[KeptLabel]) -> TextTable:
    """Return the labels and directions of one model across its corpora."""
    return TextTable.of(f"{model}: heads selected on one corpus, evaluated on the others", LABELS, rows)


def pair_table(across: pd.DataFrame, model: str) -> TextTable:
    """Return the corpora of one model: a row for each on which heads are selected, a column for each other."""
    pairs = by_pair(across, model)
    corpora = next(iter(pairs.values()), {})
    columns = [TextColumn(corpus, partial(_pair, corpus), plain=corpus) for corpus in corpora]
    first = TextColumn("Selected on", lambda row: row[0], "row")
    title = f"{model}: selected heads that have a grade on another corpus, and its own heads that do"
    return TextTable.of(title, (first, *columns), [*pairs.items()])


def _pair(corpus: str, row: tuple[str, dict[str, KeptHeads]]) -> Cell:
    counts = row[1][corpus]
    if not counts.cases:
        return Cell(MISSING, sort=float("nan"))
    return Cell(f"{counts.kept} of {counts.cases}", f"own {counts.own}", sort=counts.kept / counts.cases)


def sentence(kept: KeptHeads) -> str:
    """Say how often heads that are selected on one corpus have a grade on another, beside what can be reached."""
    shares = [percent(count / kept.cases) for count in (kept.kept, kept.own)]
    return (
        f"Heads selected with a grade on one corpus have a grade on another in {shares[0]} % of {kept.cases:,} cases "
        f"(label, direction and ordered pair of corpora); heads selected there themselves in {shares[1]} %, a random "
        f"head in {percent(kept.random)} %."
    )
