"""Which heads do what, in a dozen rows: the one table of a terminal, a notebook, the first screen and Markdown."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Final

from markupsafe import Markup

from reports.formats import count, interval, percent, points, tied
from reports.scores.best_heads import BestHead, leaders, run_best_heads
from reports.scores.best_table import FIRST, best_frame
from reports.scores.controls import CONTROLS, control_of
from reports.scores.plain_names import guess, task
from reports.scores.thresholds import RunThresholds, run_thresholds
from reports.tables.cells import Cell, TextColumn, head_cell
from reports.tables.grades import STABLE
from reports.tables.marks import few_documents
from reports.tables.text_table import TextTable

if TYPE_CHECKING:
    from reports.run.folder import RunFolder
    from reports.run.record import RunRecord

GENERATED: Final = "grammar"
"How names of corpora begin that the embedded grammar generates."

SHOWN: Final = 12
"Rows of a terminal and a notebook; pages and Markdown have those of `leaders`."


def shortest_table(run: RunFolder) -> TextTable:
    """Return the SHOWN rows that say first what a run found, of all that `best_table` has."""
    every = run_best_heads(run.scores)
    rows = leaders(every, SHOWN)
    title = f"{run.name}: which heads do what, {len(rows)} of {count(len(every))} labels and directions"
    return answers(title, rows, run_thresholds(run), run.record)


def answers(title: str, rows: Sequence[BestHead], rule: RunThresholds, record: RunRecord) -> TextTable:
    """Return the table of some of the best heads of a run; its note says what they were evaluated on and its words."""
    select, report = (corpus_name(record, split) for split in ("select", "report"))
    rivals = "baseline and control" if rule.controlled else "baseline"
    note = (
        f"Selected on {select}, evaluated on {report}; brackets: 95 % intervals. Significant: over "
        f"{points(rule.margin)} points above every {rivals}, after correction. Specialised: the same in a linguistic "
        "role."
    )
    if any(verdict(row) == "undecided" for row in rows):
        note += " Undecided: too little text to tell."
    strongest = "Strongest baseline or control, %" if rule.controlled else "Strongest baseline, %"
    columns = (
        TextColumn("The head attends", _does, "row"),
        TextColumn("Head", lambda row: head_cell(row.name), "text", "head"),
        FIRST[0],
        TextColumn("Accuracy, %", _accuracy, css="strong"),
        TextColumn(strongest, _strongest, "text"),
        TextColumn("Result", _verdict, "verdict"),
    )
    return replace(TextTable.of(title, columns, rows, note), frame=best_frame(rows))


def corpus_name(record: RunRecord, split: str) -> str:
    """Return the name of a split's corpus with its size, such as "ewt-dev (2,001 sentences, 318 documents)"."""
    corpus = record.corpus(split)
    generated = "generated " if (corpus.name or "").startswith(GENERATED) else ""
    sizes = {f"{generated}sentences": corpus.sentences, "documents": corpus.documents}
    known = ", ".join(f"{count(size)} {unit}" for unit, size in sizes.items() if size is not None)
    return f"{corpus.name or f'the {split} split'}{f' ({known})' if known else ''}"


def _does(row: BestHead) -> str:
    """Return what the head does, such as "from an object to its verb"."""
    return task(row.probe, row.label, row.variant).partition(" (candidates: ")[0].removeprefix("attends ")


def _accuracy(row: BestHead) -> Cell:
    return Cell(percent(row.accuracy), interval(row.ci_low, row.ci_high), marks=few_documents(row.effective_clusters))


def _strongest(row: BestHead) -> Cell:
    named = control_of(row.baseline)
    return Cell(percent(row.baseline_accuracy), named if named in CONTROLS else guess(row.baseline))


def _verdict(row: BestHead) -> Cell:
    """Return the verdict in words, and what finds more than the head where that is a word table or a rule."""
    found, better = verdict(row), _better(row)
    badge = Markup('<span class="{}">{}</span>').format("badge" if row.grade else "muted", found)
    more = f"{', but' if row.grade else ';'} {better}" if better else ""
    return Cell(f"{found}{more}", page=badge + tied(more.removeprefix(",")))


def _better(row: BestHead) -> str:
    """Return what a rule of grammar or a table of word pairs finds, the better one; "" where the head finds as much."""
    named = {"a rule of grammar": row.rule_accuracy, "a table of word pairs": row.lexical_accuracy}
    known = {name: accuracy for name, accuracy in named.items() if accuracy > row.accuracy}
    best = max(known, key=lambda name: known[name], default="")
    shown = percent(known[best]) if best else ""
    return f"{best} finds {shown} %" if best and shown != percent(row.accuracy) else ""


def verdict(row: BestHead) -> str:
    """Return what was shown of the best head of a label and direction, in a word or two."""
    if math.isnan(row.p_adjusted):
        return "not tested"
    if row.grade:
        return "specialised" if row.specialised else "significant"
    if row.others:
        return f"not significant; head {row.others[0]} is"
    if 1 - STABLE < row.holds < STABLE:
        return "borderline"
    return "undecided" if row.verdict == "undecided" else "no head is significant"
