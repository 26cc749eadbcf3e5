"""The tables of the page of targets: questions with their heads, effects of heads, and the runs."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Final

from markupsafe import Markup

from reports.formats import names, p_value, percent, yes_or_no
from reports.measures.scales import behaviour_text, scale_of
from reports.scores.plain_names import task
from reports.scores.selected_head import question_cell
from reports.tables.cells import Cell, TextColumn, cell_of, head_cell
from reports.tables.marks import few_documents
from reports.tables.sparks import baseline_marks, ends, spark
from reports.tables.text_table import TextTable
from reports.targets.record import TargetRecord
from reports.targets.sentences import (
    Row,
    above_median,
    costs,
    effect_of,
    first_rows,
    graded,
    more_than_median,
    not_measured,
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

UNMEASURED: Final = "not measured"


def _grade(row: Row) -> Cell:
    """Return the grade as a badge, and beside it the verdict or the heads with a higher grade."""
    first, _, more = graded(row).partition("; ")
    badge = Markup('<span class="{}">{}</span>').format("badge" if row["grade"] else "muted", first)
    beside = Markup(' <span class="ci">{}</span>').format(more) if more else ""
    return Cell(graded(row), sort=float(row["grade"]), page=badge + beside)


def _spark(row: Row) -> Cell:
    below = baseline_marks(*(row[f"{one}_accuracy"] for one in ("baseline", "lexical", "rule")))
    drawn = spark(row["accuracy"], row["ci_low"], row["ci_high"], below=below, hollow=not row["grade"])
    return Cell("", page=drawn)


_RECALL: Final = ANSWERS["accuracy"].shown_beside("Recall", css=lambda row: "strong")


def _recall(row: Row) -> Cell:
    return replace(cell_of(_RECALL.write(row)), marks=few_documents(row["effective_clusters"]))


def _rival(row: Row) -> Cell:
    return Cell(
        percent(row["strongest_accuracy"]),
        row["strongest"],
        "rival",
        sort=float(row["strongest_accuracy"]),
    )


def _lead(row: Row) -> str:
    return "up" if row["lead_low"] > 0 else "down" if row["lead_high"] < 0 else ""


def _effect(record: TargetRecord, row: Row, *, interval: bool = False) -> Cell:
    effect = effect_of(record, row)
    if effect is None:
        return Cell(UNMEASURED, sort="")
    scale = scale_of(effect)
    behaviour = behaviour_text(effect) + ("" if effect["own"] else ", of any text")
    between = scale.interval(scale.cost, effect["ci_low"], effect["ci_high"]) if interval else ""
    cost = f"{scale.cost(effect['cost'])}{between} {scale.unit}"
    look = "up" if costs(effect) else ""
    return Cell(cost, f"{behaviour}; {significance(effect)}{above_median(effect)}", look, sort=float(effect["cost"]))


QUESTION: Final = (
    TextColumn("Run", lambda row: Cell(row["run"], row["corpus"], quiet="muted"), "row", only="page"),
    TextColumn("run", lambda row: f"{row['run']}, {row['corpus']}", "row", only="text"),
    TextColumn(
        "Label and direction",
        question_cell,
        "text",
        "question",
        tip="Probe, label and direction that the head is scored on.",
    ),
    ANSWERS["name"].shown("Head", css="head", write=lambda row: head_cell(row["name"])),
    TextColumn("Grade", _grade, "verdict", tip=ANSWERS.meaning("grade")),
    TextColumn(ends(0, 100), _spark, "spark", only="page", fixed=True, folded=True),
    replace(_RECALL, write=_recall),
    ANSWERS["strongest"].shown("Strongest baseline", "num", write=_rival),
    ANSWERS["lead"].shown_beside("Margin over it", css=_lead),
    ANSWERS["precision"].shown(unit=False, folded=True),
    ANSWERS["lift"].shown(folded=True),
)
"Of the table of questions; the effect stands behind them."


def _asked(row: Row) -> Cell:
    """Return the model, and beside it what its head is selected for and on which corpus it is evaluated."""
    return Cell(row["model"], f"{task(row['probe'], row['label'], row['variant'])}, {row['corpus']}", quiet="muted")


SUMMARY: Final = (
    TextColumn("Model", _asked, "row"),
    *(column for column in QUESTION[3:] if not column.folded),
    ANSWERS["precision"].shown(unit=False),
)
"Of the table that opens the page; the effect stands behind them."


def summary_table(record: TargetRecord, target: RoleTarget) -> TextTable:
    """Return the first answers of each model: which head, which grade, recall, precision, effect when ablated."""
    return TextTable.of(target.title, (*SUMMARY, _effect_column(record, interval=True)), first_rows(target, record))


def _effect_column(record: TargetRecord, *, interval: bool = False) -> TextColumn:
    tip = "What the model loses without the head, on the behaviour that belongs to the target."
    return TextColumn("Effect of ablation", partial(_effect, record, interval=interval), "num", "effect", tip=tip)


TITLES: Final = dict(zip(PLACES, ("Selected heads", "Special tokens", "Further labels and directions"), strict=True))


def question_table(record: TargetRecord, target: RoleTarget, place: str) -> TextTable:
    """Return the questions of a target that stand in a place, each with its head and what the head costs."""
    rows = record.answers[(record.answers["target"] == target.name) & (record.answers["place"] == place)]
    return TextTable.of(TITLES[place], (*QUESTION, _effect_column(record)), rows.to_dict("records"))


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
    TextColumn("Interval above it", lambda row: yes_or_no(more_than_median(row)), "text"),
    EFFECTS["layer_cost"].shown("Others of its layer", write=_in_unit(lambda row: row["layer_cost"])),
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


def without_effect(record: TargetRecord, target: RoleTarget) -> tuple[str, ...]:
    """Return a sentence for each model of which no run has measured the behaviours that belong to the target."""
    own = record.effects[(record.effects["target"] == target.name) & record.effects["own"]]
    asked = record.answers.loc[record.answers["target"] == target.name, "model"].drop_duplicates()
    left = [model for model in asked if model not in set(own["model"])]
    return tuple(f"{model}: {not_measured(target, record, model)}" for model in left)


def run_table(record: TargetRecord) -> TextTable:
    """Return the runs in the order in which they were given."""
    return TextTable.of("Runs", RUNS, record.runs)
