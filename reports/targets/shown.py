"""The tables of the page of targets: questions with their heads, effects of heads, and the runs."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from typing import Final

from reports.formats import names, p_value, percent
from reports.measures.scales import behaviour_text, scale_of
from reports.scores.selected_head import question_cell
from reports.tables.cells import Cell, TextColumn, cell_of, head_cell
from reports.tables.marks import few_documents
from reports.tables.text_table import TextTable
from reports.targets.record import TargetRecord
from reports.targets.sentences import (
    Row,
    above_median,
    effect_of,
    first_rows,
    graded,
    significance,
)
from reports.targets.tables import ANSWERS, EFFECTS
from reports.targets.target import PLACES, RoleTarget

RUNS: Final = (
    TextColumn("Run", lambda run: run.name, "row"),
    TextColumn("Model", lambda run: run.model, "text"),
    TextColumn("Selected on / evaluated on", lambda run: run.texts, "text"),
    TextColumn("Contributes", lambda run: run.part, "text"),
    TextColumn("Date", lambda run: run.made, "text", "muted"),
)

_RECALL: Final = ANSWERS["accuracy"].shown_beside("Recall", css=lambda row: "strong")


def _recall(row: Row) -> Cell:
    return replace(cell_of(_RECALL.write(row)), marks=few_documents(row["effective_clusters"]))


def _rival(row: Row) -> Cell:
    return Cell(percent(row["strongest_accuracy"]), row["strongest"], sort=float(row["strongest_accuracy"]))


def _lead(row: Row) -> str:
    return "up" if row["lead_low"] > 0 else "down" if row["lead_high"] < 0 else ""


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
    ANSWERS["lead"].shown_beside("Margin over it", css=_lead),
    ANSWERS["precision"].shown(unit=False, folded=True),
    ANSWERS["lift"].shown(folded=True),
)
"Of a table of heads; the effect stands behind them."


def _answers(title: str, record: TargetRecord, rows: Sequence[Row]) -> TextTable:
    tip = "What the model loses without the head, on the behaviour that belongs to the target."
    effect = TextColumn("Effect of ablation", partial(_effect, record), "text", "wrapping", tip=tip)
    return TextTable.of(title, (*QUESTION, effect), rows)


def summary_table(record: TargetRecord, target: RoleTarget) -> TextTable:
    """Return the first answers of each model: which head, which grade, recall, effect when ablated."""
    return _answers(target.title, record, first_rows(target, record))


TITLES: Final = dict(zip(PLACES, ("Selected heads", "Special tokens", "Further labels and directions"), strict=True))


def question_table(record: TargetRecord, target: RoleTarget, place: str) -> TextTable:
    """Return the questions of a target that stand in a place, each with its head and what the head costs."""
    rows = record.answers[(record.answers["target"] == target.name) & (record.answers["place"] == place)]
    return _answers(TITLES[place], record, rows.to_dict("records"))


def _in_unit(value: Callable[[Row], float], low: str = "", high: str = "") -> Callable[[Row], Cell]:
    """Return what writes a cost in the unit of its row, its interval beside it where there is one."""

    def written(row: Row) -> Cell:
        scale, number = scale_of(row), float(value(row))
        between = scale.interval(scale.cost, row[low], row[high]).strip() if low else ""
        return Cell(scale.cost(number), between, sort=number)

    return written


def _behaviour(row: Row) -> Cell:
    return Cell(behaviour_text(row), "" if row["own"] else "of any text", quiet="muted")


EFFECT: Final = (
    EFFECTS["model"].shown(kind="row"),
    EFFECTS["name"].shown("Head", css="head", write=lambda row: head_cell(row["name"])),
    EFFECTS["behaviour"].shown(write=_behaviour),
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
    rows = record.effects[record.effects["target"] == target.name]
    return TextTable.of("Effect of ablating each selected head", EFFECT, rows.to_dict("records"))
