"""The page of the three targets, made from its record."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Final

from reports.blocks.block import Block, Charts, Fold, Heading, Paragraph, Points, Section, TableBlock, Terms
from reports.blocks.page import Page, write_page
from reports.drawing.charts import Chart
from reports.drawing.dots import Dot, dot_chart
from reports.formats import interval, percent
from reports.progress import Step, each, silent
from reports.scores.glossary import PRECISION_AND_LIFT
from reports.scores.selected_head import CAUTION, TERMS
from reports.tables.text_table import TextTable
from reports.targets.record import TargetRecord, read_record, write_record
from reports.targets.sentences import spoken, without_effect
from reports.targets.shown import RUNS, effect_table, question_table, summary_table
from reports.targets.target import FIRST, FURTHER, SPECIAL, RoleTarget

SERIES: Final[Mapping[str, tuple[str, str, str]]] = {
    "strongest baseline or control": ("baseline_accuracy", "stroke", "var(--wrong)"),
    "lexical table": ("lexical_accuracy", "diamond", "var(--other)"),
    "strongest rule of grammar": ("rule_accuracy", "triangle-up", "var(--muted)"),
    "selected head": ("accuracy", "circle", "var(--right)"),
}
"What is drawn -> its column, the shape of its mark, its colour."

METHOD: Final = (
    *TERMS,
    PRECISION_AND_LIFT,
    (
        "Effect of ablation",
        "What the model loses when the head alone is ablated, by the first way that [ablation] names, in the first "
        "of these runs on the same weights that measured it. The behaviours that belong to the target come first; "
        "where no run measured them, a behaviour of any text stands in and is marked. Of minimal pairs the accuracy "
        "is reported, on those with attractors where there are any; effects.csv has every measure.",
    ),
    (
        "Significant",
        "p of the cost below 0.05, corrected for all heads. An embedding moves whichever head is ablated: there the "
        "test is against the median head of each text. The column “median head” is the median of the heads’ mean "
        "costs, which can be higher.",
    ),
    (
        "Heads that damage as much",
        "Other heads whose ablation costs any text at least half as much as the head’s does (all heads, where that is "
        "next to nothing): their mean effect, and in brackets where 95 % of such heads lie if effects are normal. A "
        "damaged model loses some of everything. Missing for fewer than three such heads.",
    ),
    (
        "Random sets",
        "As many heads, drawn at random from the same layers. p of the excess is the rank of the heads’ cost among "
        "itself and the drawn sets, so it is never below 1 / (sets + 1).",
    ),
    (
        "Attractor",
        "A noun of the other number between subject and verb. attractor=Sing or Plur is its number; "
        "attractor=preposition or relative clause says what puts it there.",
    ),
    *CAUTION,
)
"Terms and what they mean."


def write_targets(folder: Path, record: TargetRecord, step: Step = silent) -> Path:
    """Write the record and the page made of it into `folder`; return the page's path."""
    write_record(folder, record)
    return write_targets_page(folder, step)


def write_targets_page(folder: Path, step: Step = silent) -> Path:
    """Make index.html and report.md from the record in `folder`; ValueError says what is wrong with that."""
    record = read_record(folder)
    runs = f"{len(record.runs)} run{'s' * (len(record.runs) > 1)}"
    page = Page(
        title="Heads for agreement, coreference and position",
        sections=tuple(_sections(record)),
        byline=(*[("headscope", record.headscope)] * bool(record.headscope), runs),
        kicker="headscope targets",
        version=record.headscope,
    )
    (path,) = (write_page(folder, one) for one in each("page", (page,), step))
    return path


def _sections(record: TargetRecord) -> Iterator[Section]:
    asked = spoken(record)
    summary: list[Block] = [
        Paragraph("For each target: the selected head of each model, its grade, and the effect of ablating it.")
    ]
    for target, sentences in asked:
        summary += [Heading(target.title), TableBlock(summary_table(record, target), caption=False, sorts=True)]
        summary += [Points(sentences)] * bool(sentences)
    yield Section("summary", "Summary", summary)
    for target, _ in asked:
        yield Section(target.name, target.title, [*_target(record, target)])
    runs = TableBlock(TextTable.of("Runs", RUNS, record.runs), caption=False)
    yield Section("runs", "Runs", [runs, *(Paragraph(note, note=True) for note in record.notes)])
    every = Paragraph("Every number is in targets.csv and effects.csv.", note=True)
    yield Section("method", "Glossary", [Terms(METHOD, folded=False), every])


def _target(record: TargetRecord, target: RoleTarget) -> Iterator[Block]:
    if dots := drawn_answers(record, target):
        yield Charts([target_chart(target, dots)])
    for place in (FIRST, SPECIAL):
        if len(shown := question_table(record, target, place)):
            yield TableBlock(shown, sorts=True)
    yield from (Paragraph(sentence, note=True) for sentence in without_effect(record, target))
    for shown, file in (
        (question_table(record, target, FURTHER), "targets.csv"),
        (effect_table(record, target), "effects.csv"),
    ):
        if len(shown):
            yield Fold(f"{shown.title} ({len(shown)})", [TableBlock(shown, caption=False, sorts=True)], file=file)


def drawn_answers(record: TargetRecord, target: RoleTarget) -> list[Dot]:
    """Return the questions of a target that the summary reports, by run: the head with its interval, and baselines."""
    rows = record.answers[(record.answers["target"] == target.name) & record.answers["summary"]]
    dots = []
    for row in rows.to_dict("records"):
        title = f"{row['name']} · {row['run']} · {row['variant'] if row['label'] == 'all' else row['label']}"
        for series, (column, shape, _) in SERIES.items():
            if math.isnan(value := float(row[column])):
                continue
            text, ends = f"{title}: {series} {percent(value)} %", None
            if shape == "circle":
                ends = float(row["ci_low"]), float(row["ci_high"])
                text += f" {interval(*ends)}"
            dots.append(Dot(title, row["run"], series, value, text, shape, bool(row["grade"]), ends))
    return dots


def target_chart(target: RoleTarget, dots: list[Dot]) -> Chart:
    """Return the chart of a target; a head without a grade is hollow."""
    colours = {series: colour for series, (_, _, colour) in SERIES.items()}
    text = "Filled: a head with a grade. The table below has all numbers."
    return dot_chart(f"{target.title}: recall and baselines", text, dots, colours)
