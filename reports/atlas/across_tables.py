"""The tables and sentences of heads across corpora: labels and directions, and ordered pairs of corpora."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from typing import Any, Final

import pandas as pd

from reports.atlas.across import KeptGrades, by_pair
from reports.formats import MISSING, percent, signed
from reports.scores.selected_head import question_cell
from reports.tables.cells import Cell, TextColumn
from reports.tables.text_table import TextTable

Row = Mapping[str, Any]


def _share(name: str, row: Row) -> Cell:
    count, cases = getattr(row["counts"], name), row["counts"].cases
    return Cell(f"{count} of {cases}", sort=count / cases)


def _below(row: Row) -> Cell:
    counts = row["counts"]
    return Cell(signed(row["difference"]), f"below in {counts.below} of {counts.cases}", sort=row["difference"])


LABELS: Final = (
    TextColumn("Label and direction", question_cell, "row", "wrapping"),
    TextColumn(
        "Head",
        lambda row: Cell(row["head"], f"selected on {row['selected_on']} of {row['corpora']}"),
        "text",
        tip="The head selected on most corpora, of those on which the selected head has a grade.",
    ),
    TextColumn(
        "Graded elsewhere",
        partial(_share, "kept"),
        css="strong",
        tip="Cases in which a head selected with a grade on one corpus has a grade on another.",
    ),
    TextColumn(
        "Selected there, graded",
        partial(_share, "selected"),
        tip="The same cases, for the head selected on the other corpus.",
    ),
    TextColumn(
        "Any head graded",
        partial(_share, "possible"),
        tip="Cases in which some head has a grade there: no more can be kept.",
    ),
    TextColumn("Recall elsewhere", lambda row: Cell(percent(row["accuracy"]), sort=row["accuracy"])),
    TextColumn(
        "Minus the head selected there",
        _below,
        tip="Mean difference of recall in points, and the cases in which its 95 % interval lies below 0.",
    ),
    TextColumn(
        "Strongest baseline",
        lambda row: Cell(percent(row["strongest_accuracy"]), sort=row["strongest_accuracy"]),
        tip="Its mean recall on the same words, over cases with a baseline.",
    ),
)


def label_table(model: str, rows: Sequence[Row]) -> TextTable:
    """Return the labels and directions of one model across its corpora."""
    return TextTable.of(f"{model}: labels and directions", LABELS, rows)


def pair_table(across: pd.DataFrame, cases: pd.DataFrame, model: str) -> TextTable:
    """Return the corpora of one model: a row for each on which heads are selected, a column for each other."""
    pairs = by_pair(across, cases, model)
    tip = (
        "Selected heads with a grade on the corpus of the row that have one here, and beside them heads selected here."
    )
    columns = [TextColumn(corpus, partial(_pair, corpus), plain=corpus, tip=tip) for corpus in pairs]
    first = TextColumn("Selected on", lambda row: row[0], "row")
    return TextTable.of(f"{model}: pairs of corpora", (first, *columns), [*pairs.items()])


def _pair(corpus: str, row: tuple[str, dict[str, KeptGrades]]) -> Cell:
    counts = row[1][corpus]
    if not counts.cases:
        return Cell(MISSING, sort=float("nan"))
    return Cell(
        f"{counts.kept} of {counts.cases}", f"selected here: {counts.selected}", sort=counts.kept / counts.cases
    )


def sentences(across: pd.DataFrame, cases: pd.DataFrame) -> Iterator[str]:
    """Say for each model how often heads selected on one corpus have a grade on another, beside what else has one."""
    for model in dict.fromkeys(across["model"]):
        own = cases[cases["model"] == model]
        if own.empty:
            yield f"{model}: no selected head has a grade in a role of language, so none can be kept across corpora."
            continue
        kept = KeptGrades.of(own)
        kept_share, selected, possible = (
            percent(count / kept.cases) for count in (kept.kept, kept.selected, kept.possible)
        )
        counted = f"{kept.cases:,} case{'s' * (kept.cases != 1)} (label, direction and ordered pair of corpora)"
        yield (
            f"{model}: heads selected with a grade on one corpus have a grade on another in {kept_share} % of "
            f"{counted}. Heads selected there do in {selected} %, some head does in {possible} %, and the other "
            f"specialised heads of the first corpus do in {percent(kept.others)} % on average."
        )
