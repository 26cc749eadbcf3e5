"""The page of the three targets, made from its record."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Final

from reports.blocks.block import Block, Fold, Paragraph, Points, Section, TableBlock, Terms
from reports.blocks.page import Page
from reports.blocks.short import short_form, short_table
from reports.compare.page_record import RecordPage
from reports.compare.target_sentences import (
    CRITERION,
    Row,
    above_median,
    answer,
    effect_of,
    first_rows,
    graded,
    significance,
    specialised,
    spoken,
    without_effect,
)
from reports.compare.target_tables import (
    ANSWERS,
    EFFECTS,
    TARGET_TABLES,
    TARGETS,
    RoleTarget,
    TargetFacts,
    TargetRecord,
)
from reports.formats import names, p_value, percent
from reports.scores.effects import behaviour_text, scale_of
from reports.scores.glossary import PRECISION_AND_LIFT
from reports.scores.plain_names import role
from reports.scores.selected_head import CAUTION, TERMS, question_cell
from reports.tables.cells import Cell, TextColumn, cell_of, head_cell
from reports.tables.marks import few_documents
from reports.tables.text_table import TextTable

RUNS: Final = (
    TextColumn("Run", lambda run: run.name, "row"),
    TextColumn("Model", lambda run: run.model, "text"),
    TextColumn("Selected on / evaluated on", lambda run: run.texts, "text"),
    TextColumn("Contributes", lambda run: run.part, "text"),
    TextColumn("Date", lambda run: run.made, "text", "muted"),
)

_RECALL: Final = ANSWERS["accuracy"].shown_beside("Recall", css=lambda row: "strong")


def _recall(row: Row) -> Cell:
    return replace(cell_of(_RECALL.write(row)), caution=few_documents(row["effective_clusters"]))


def _rival(row: Row) -> Cell:
    return Cell(percent(row["strongest_accuracy"]), row["strongest"], sort=float(row["strongest_accuracy"]))


def _effect(record: TargetRecord, row: Row) -> Cell:
    effect = effect_of(record, row)
    if effect is None:
        return Cell("not measured", sort="")
    scale = scale_of(effect)
    behaviour = behaviour_text(effect) + ("" if effect["own"] else ", of any text")
    cost = f"{scale.with_interval(effect['cost'], effect['ci_low'], effect['ci_high'])} {scale.unit}"
    look = "up" if significance(effect) == "significant" else ""
    return Cell(cost, f"{behaviour}; {significance(effect)}{above_median(effect)}", look, sort=float(effect["cost"]))


QUESTION: Final = (
    TextColumn("Run", lambda row: Cell(row["run"], f"{row['model']}, {row['corpus']}"), "row", "wrapping"),
    TextColumn(
        "Label and direction",
        question_cell,
        "text",
        "wrapping",
        tip="Probe, label and direction that the head is scored on.",
    ),
    ANSWERS["name"].shown("Head", css="head", write=lambda row: head_cell(row["name"])),
    TextColumn(
        "Grade",
        lambda row: Cell(graded(row), sort=float(row["grade"])),
        "text",
        "wrapping",
        tip=ANSWERS.meaning("grade"),
    ),
    replace(_RECALL, write=_recall),
    ANSWERS["strongest"].shown("Strongest baseline", "num", write=_rival),
    ANSWERS["lead"].shown_beside(
        "Margin over it", css=lambda row: "up" if row["lead_low"] > 0 else "down" if row["lead_high"] < 0 else ""
    ),
    ANSWERS["precision"].shown(unit=False, folded=True),
    ANSWERS["lift"].shown(folded=True),
    ANSWERS["stability"].shown(unit=False, folded=True),
)
"Of a table of heads; the effect stands behind them."


def _answers(title: str, record: TargetRecord, rows: Sequence[Row]) -> TextTable:
    tip = "What the model loses without the head, on the behaviour that belongs to the target."
    effect = TextColumn("Effect of ablation", partial(_effect, record), "text", "wrapping", tip=tip)
    return TextTable.of(title, (*QUESTION, effect), rows)


def summary_table(record: TargetRecord, target: RoleTarget) -> TextTable:
    """Return the first answers of each model: which head, which grade, recall, effect when ablated."""
    return _answers(target.title, record, first_rows(target, record))


def question_table(record: TargetRecord, target: RoleTarget) -> TextTable:
    """Return the labels and directions of a target, each with its head and what the head costs."""
    return _answers(f"{target.title}: labels and directions", record, target.of(record.answers).to_dict("records"))


def _in_unit(value: Callable[[Row], float], low: str = "", high: str = "") -> Callable[[Row], Cell]:
    """Return what writes a cost in the unit of its row, its interval beside it where there is one."""

    def written(row: Row) -> Cell:
        scale, number = scale_of(row), float(value(row))
        between = scale.interval(scale.cost, row[low], row[high]).strip() if low else ""
        return Cell(scale.cost(number), between, sort=number)

    return written


EFFECT: Final = (
    EFFECTS["model"].shown(kind="row"),
    EFFECTS["name"].shown("Head", css="head", write=lambda row: head_cell(row["name"])),
    EFFECTS["behaviour"].shown(
        write=lambda row: Cell(behaviour_text(row), "" if row["own"] else "of any text", quiet="muted")
    ),
    EFFECTS["unit"].shown(css="muted", write=lambda row: scale_of(row).unit),
    EFFECTS["cost"].shown(css="strong", write=_in_unit(lambda row: row["cost"], "ci_low", "ci_high")),
    EFFECTS["p_adjusted"].shown(),
    EFFECTS["median_cost"].shown("Median head", write=_in_unit(lambda row: row["median_cost"])),
    EFFECTS["rank"].shown("Rank", write=lambda row: Cell(f"{row['rank']} of {row['heads']}", sort=row["rank"])),
    EFFECTS["damaging_cost"].shown(
        "Heads that damage as much",
        write=_in_unit(lambda row: row["damaging_cost"], "damaging_low", "damaging_high"),
    ),
    EFFECTS["together"].shown("Ablated together", write=lambda row: names(row["together"].split(), 4)),
    EFFECTS["difference"].shown(
        "Excess over random sets",
        write=_in_unit(lambda row: row["difference"], "difference_low", "difference_high"),
    ),
    EFFECTS["p_random"].shown("p of the excess", write=lambda row: p_value(row["p_random"])),
    EFFECTS["run"].shown("Measured in", css="muted"),
)


def effect_table(record: TargetRecord, target: RoleTarget) -> TextTable:
    """Return what the selected heads of a target cost, in every behaviour and measure."""
    return TextTable.of(f"{target.title}: effects of ablation", EFFECT, target.of(record.effects).to_dict("records"))


METHOD: Final = {
    **TERMS,
    **PRECISION_AND_LIFT,
    "Effect of ablation": "What the model loses when the head alone is ablated, by the first way that [ablation] "
    "names, in the first of these runs on the same weights that measured it. The behaviours that belong to the target "
    "come first; where no run measured them, a behaviour of any text stands in and is marked. Of minimal pairs the "
    "accuracy is reported, on those with attractors where there are any; effects.csv has every measure.",
    "Significant": "p of the cost below 0.05, corrected for all heads. An embedding moves whichever head is ablated: "
    "there the test is against the median head of each text. The column “median head” is the median of the heads’ mean "
    "costs, which can be higher.",
    "Heads that damage as much": "Other heads whose ablation costs any text at least half as much as the head’s does "
    "(all heads, where that is next to nothing): their mean effect, and in brackets where 95 % of such heads lie if "
    "effects are normal. A damaged model loses some of everything. Missing for fewer than three such heads.",
    "Random sets": "As many heads, drawn at random from the same layers. p of the excess is the rank of the heads’ "
    "cost among itself and the drawn sets, so it is never below 1 / (sets + 1).",
    "Attractor": "A noun of the other number between subject and verb. attractor=Sing or Plur is its number; "
    "attractor=preposition or relative clause says what puts it there.",
    **CAUTION,
}
"Terms and what they mean."


def _does(row: Row) -> str:
    """Say what a head attends to, without what its candidates are."""
    return role(row["probe"], row["label"], row["variant"]).partition(" (")[0]


def _short_effect(record: TargetRecord, row: Row) -> Cell:
    """Write the effect of ablation briefly: without its interval, its behaviour and what it is a mean over."""
    effect = effect_of(record, row)
    if effect is None:
        return Cell("not measured", sort="")
    scale, cost = scale_of(effect), float(effect["cost"])
    unit = scale.unit.removeprefix("percentage ").partition(" a ")[0]
    return Cell(f"{scale.cost(cost)} {unit}", significance(effect), sort=cost)


TEXTS: Final = 1
"Pairs of corpora that the short form names, at most."

SHORT: Final = (
    TextColumn("The head attends", _does, "row", "wrapping"),
    TextColumn("Model", lambda row: f"{row['model']}, {row['corpus']}", "text", "wrapping"),
    ANSWERS["name"].shown("Best head", css="head", write=lambda row: head_cell(row["name"])),
    TextColumn("Accuracy, %", lambda row: replace(_recall(row), css="strong")),
    ANSWERS["precision"].shown(),
    TextColumn("Strongest rival, %", _rival),
    TextColumn("Result", specialised, "text", "wrapping"),
)
"Behind them stand how often the head is selected, and the effect of ablation."


def _opening(record: TargetRecord) -> Iterator[Block]:
    """Yield in which models which target has a specialised head, what that means, and the best head of each."""
    yield Paragraph(answer(record))
    yield Paragraph(CRITERION)
    effect = TextColumn("Effect of ablation", partial(_short_effect, record))
    best = (row for target in TARGETS for row in first_rows(target, record))
    yield short_table(TextTable.of("Best heads", (*SHORT, ANSWERS["stability"].shown(), effect), best), "targets.csv")


def _page(record: TargetRecord, folder: Path) -> Page:
    runs, opening = f"{len(record.runs)} run{'s' * (len(record.runs) > 1)}", tuple(_opening(record))
    texts = dict.fromkeys(run.texts for run in record.runs if run.texts)
    return Page(
        title="Heads for agreement, coreference and position",
        sections=tuple(_sections(record, opening)),
        byline=(*[("headscope", record.headscope)] * bool(record.headscope), runs),
        kicker="headscope targets",
        version=record.headscope,
        short=tuple(
            short_form(
                opening,
                [f"Selected on / evaluated on: {names([*texts], TEXTS)}."] * bool(texts),
                " ".join(["headscope targets", *(run.name for run in record.runs)]),
                "other labels and directions, in targets.csv, and what the model loses without a head, in effects.csv",
            )
        ),
    )


TARGET_PAGE: Final = RecordPage("targets", "a page of targets", TargetFacts, TargetRecord, TARGET_TABLES, _page)
"The page of the three targets and its record."


def _sections(record: TargetRecord, opening: Sequence[Block]) -> Iterator[Section]:
    yield Section("summary", "Summary", opening)
    for target, sentences in spoken(record):
        yield Section(target.name, target.title, [*_target(record, target, sentences)])
    runs = TableBlock(TextTable.of("Runs", RUNS, record.runs), caption=False)
    yield Section("runs", "Runs", [runs, *(Paragraph(note, note=True) for note in record.notes)])
    every = Paragraph("Every number is in targets.csv and effects.csv.", note=True)
    yield Section("method", "Glossary", [Terms(METHOD.items(), folded=False), every])


def _target(record: TargetRecord, target: RoleTarget, sentences: Sequence[str]) -> Iterator[Block]:
    yield TableBlock(summary_table(record, target), caption=False, sorts=True)
    if sentences:
        yield Points(sentences)
    yield from (Paragraph(sentence, note=True) for sentence in without_effect(record, target))
    for shown in (question_table(record, target), effect_table(record, target)):
        if len(shown):
            yield Fold(f"{shown.title} ({len(shown)})", [TableBlock(shown, caption=False, sorts=True)])
