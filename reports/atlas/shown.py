"""The tables of the page of an atlas: its runs, and the grades of every label and direction in them."""

from __future__ import annotations

from functools import partial
from typing import Final

import pandas as pd

from reports.atlas.record import AtlasRecord, AtlasRun
from reports.atlas.sentences import Group, groups
from reports.formats import count, percent
from reports.scores.plain_names import task
from reports.tables.cells import Cell, TextColumn
from reports.tables.grades import ANSWERS
from reports.tables.text_table import TextTable

PAIRS: Final = 40
"Label-direction pairs in the table of grades, at most; atlas.parquet has all."

QUESTION: Final = ["probe", "label", "variant"]


def _grade(number: int, run: AtlasRun) -> str:
    return count(run.grades[number]) if run.grades else ""


def _verdict(number: int, run: AtlasRun) -> str:
    return count(run.verdicts[number]) if run.verdicts else ""


def _specialised(run: AtlasRun) -> Cell:
    if run.failed:
        return Cell("failed", run.failed, sort=-1.0)
    return Cell(count(run.specialised), f"of {count(run.heads)}", sort=float(run.specialised))


RUNS: Final = (
    TextColumn("Run", lambda run: run.name, "row"),
    TextColumn("Model", lambda run: run.model, "text"),
    TextColumn("Corpus", lambda run: run.corpus, "text"),
    TextColumn("Seed", lambda run: Cell(str(run.seed), sort=float(run.seed))),
    TextColumn("Specialised heads", _specialised, tip="Heads with a grade in a role of language."),
    *(
        TextColumn(f"Grade {grade}", partial(_grade, grade), tip="Heads with this as their highest.")
        for grade in (1, 2, 3)
    ),
    TextColumn("Position only", lambda run: "" if run.failed else count(run.position)),
    *(
        TextColumn(f"Verdict {answer}", partial(_verdict, number), tip="Label-direction pairs in roles of language.")
        for number, answer in enumerate(ANSWERS)
    ),
    TextColumn("Seconds", lambda run: Cell(f"{run.seconds:.0f}" if run.seconds else "", sort=run.seconds)),
)


def run_table(record: AtlasRecord) -> TextTable:
    """Return the runs in the order of the grid, those that failed with what was wrong."""
    return TextTable.of("Runs", RUNS, record.runs)


def grade_table(record: AtlasRecord) -> TextTable:
    """Return the labels and directions with a graded head in any run, with the selected head by model and corpus."""
    answers = record.answers
    graded = (
        answers[answers["grade"] > 0].groupby(QUESTION, sort=False).size().sort_values(ascending=False, kind="stable")
    )
    by_question = {key: rows for key, rows in answers.groupby(QUESTION, sort=False)}
    rows = [(key, by_question[key]) for key in graded.index[:PAIRS]]
    columns = (
        TextColumn("Label and direction", _question, "row"),
        TextColumn("Graded in", lambda row: f"{int((row[1]['grade'] > 0).sum())} of {len(record.done)}"),
        *(
            TextColumn(f"{model} on {corpus}", partial(_selected, (model, corpus)), "num")
            for model, corpus in groups(record)
        ),
    )
    return TextTable.of("Selected heads with a grade", columns, rows)


Row = tuple[tuple[str, str, str], pd.DataFrame]
"A label and direction, and its rows in all runs."


def _question(row: Row) -> Cell:
    probe, label, variant = row[0]
    return Cell(task(probe, label, variant), f"{probe}: {label}, {variant}", quiet="muted")


def _selected(group: Group, row: Row) -> Cell:
    """Return grade and recall of the selected head, means over seeds, and in how many seeds it has the grade."""
    model, corpus = group
    rows = row[1][(row[1]["model"] == model) & (row[1]["corpus"] == corpus)]
    if rows.empty:
        return Cell("", sort=-1.0)
    heads = ", ".join(rows["name"].drop_duplicates())
    grades = sorted(set(rows["grade"]))
    grade = f"grade {grades[0]}" if len(grades) == 1 else f"grade {grades[0]} to {grades[-1]}"
    accuracy = float(rows["accuracy"].mean())
    return Cell(
        percent(accuracy),
        f"{heads}; {grade if grades != [0] else 'no grade'}",
        "strong" if all(grades) else "",
        sort=accuracy,
    )
