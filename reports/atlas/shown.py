"""The tables of the page of an atlas: its runs, and labels and directions by model and corpus."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from functools import partial
from typing import Final
from urllib.parse import quote

from reports.atlas.pooled import AtlasRow, Group, PooledHead, groups
from reports.atlas.record import AtlasRecord, AtlasRun
from reports.formats import MISSING, count, decimal, percent
from reports.scores.selected_head import question_cell
from reports.tables.cells import Cell, TextColumn
from reports.tables.grades import GRADES
from reports.tables.marks import few_documents
from reports.tables.text_table import TextTable


def _number(run: AtlasRun, value: float, text: str = "") -> Cell:
    """Return a number of a run; a dash where the run failed."""
    return Cell(MISSING, sort=float("nan")) if run.failed else Cell(text or count(value), sort=float(value))


def _named(linked: Collection[str], run: AtlasRun) -> Cell:
    page = f"runs/{quote(run.name, safe='')}/report/index.html" if run.name in linked else ""
    return Cell(run.name, link=page)


def _parts(run: AtlasRun, counts: Sequence[int]) -> Cell:
    return _number(run, counts[0] if counts else 0, " / ".join(map(count, counts)))


FAILURE: Final = TextColumn(
    "Failure", lambda run: Cell(run.failed, css="down"), "text", "wrapping", tip="The message of a run that failed."
)

COUNTS: Final = (
    TextColumn("Model", lambda run: run.model, "text"),
    TextColumn("Corpus", lambda run: run.corpus, "text"),
    TextColumn("Seed", lambda run: Cell(str(run.seed), sort=run.seed)),
    TextColumn(
        "Specialised heads",
        lambda run: _number(run, run.specialised),
        css="strong",
        tip="Heads with a grade in a role of language.",
    ),
    TextColumn(
        f"Grade {' / '.join(map(str, range(1, len(GRADES))))}",
        lambda run: _parts(run, run.grades[1:]),
        tip="The same heads by their highest grade.",
    ),
    TextColumn(
        "Yes / no / undecided",
        lambda run: _parts(run, run.verdicts),
        tip="Verdicts on label–direction pairs in roles of language.",
    ),
)

FOLDED: Final = (
    TextColumn("Position only", lambda run: _number(run, run.position), tip="Heads with a grade for position only."),
    TextColumn("Heads", lambda run: _number(run, run.heads), tip="Heads of the model.", folded=True),
    TextColumn("Seconds", lambda run: _number(run, run.seconds, decimal(run.seconds, 1)), folded=True),
)


def run_table(record: AtlasRecord, linked: Collection[str] = ()) -> TextTable:
    """Return the runs in their order, those named in `linked` with a link to their page."""
    name = TextColumn("Run", partial(_named, linked), "row")
    failure = [FAILURE] * bool(record.failed)
    return TextTable.of("Runs", (name, *COUNTS[:3], *failure, *COUNTS[3:], *FOLDED), record.runs)


def grid_table(record: AtlasRecord, rows: Sequence[AtlasRow], title: str) -> TextTable:
    """Return labels and directions by model and corpus: recall and grade of the selected head, seeds pooled."""
    columns = [
        TextColumn(" · ".join(group), partial(_by_group, group), plain=" · ".join(group)) for group in groups(record)
    ]
    return TextTable.of(title, (QUESTION, GRADED, *columns), rows)


QUESTION: Final = TextColumn(
    "Label and direction",
    lambda row: question_cell(vars(row)),
    "row",
    "wrapping",
    tip="Probe, label and direction that heads are scored on.",
)


GRADED: Final = TextColumn(
    "Graded in",
    lambda row: Cell(f"{row.graded} of {row.runs}", sort=float(row.graded)),
    tip="Runs in which some head has a grade, of those that scored it.",
)


def _by_group(group: Group, row: AtlasRow) -> Cell:
    """Return mean recall, and beside it the selected heads with the most frequent grade; a dash where not scored."""
    if group not in row.by_group:
        return Cell(MISSING, sort=float("nan"))
    pooled = row.by_group[group]
    look = "up" if pooled.grade else ""
    marks = few_documents(pooled.effective_clusters)
    return Cell(percent(pooled.accuracy), graded(pooled), look, sort=float(pooled.accuracy), marks=marks)


def graded(pooled: PooledHead) -> str:
    """Return the selected heads, the most frequent first, with their most frequent grade and how many seeds have it."""
    heads = sorted(dict.fromkeys(pooled.heads), key=lambda head: (head != pooled.head, -pooled.heads.count(head)))
    grade = f"grade {pooled.grade}" if pooled.grade else "no grade"
    seeds = f" in {pooled.grades.count(pooled.grade)} of {pooled.seeds} seeds" if pooled.seeds > 1 else ""
    others = max(pooled.highest)
    also = f"; another head has grade {others}" if others > max(pooled.grades) else ""
    return f"{', '.join(heads)}: {grade}{seeds}{also}"
