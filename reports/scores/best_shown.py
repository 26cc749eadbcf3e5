"""The tables of best heads as pages and Markdown show them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from typing import Final

from markupsafe import Markup

from reports.formats import count, percent
from reports.scores.best_heads import BestHead
from reports.scores.verdicts import Verdicts
from reports.tables.cells import Cell, Mark, TextColumn, head_cell
from reports.tables.marks import clusters_shown, few_clusters
from reports.tables.scores import SCORES
from reports.tables.shared_columns import difference
from reports.tables.sparks import ends, rivals_drawn, spark
from reports.tables.text_table import TextTable


def best_shown(probe: str, rows: Sequence[BestHead], verdicts: Verdicts) -> TextTable:
    """Return the table of a probe's best heads with their verdicts."""
    n = partial(_n, verdicts)
    numbers = (
        SCORES["n"].shown(write=lambda row: n(row, few_clusters(row.clusters)), only="page"),
        SCORES["n"].shown(write=n, only="text"),
    )
    return TextTable.of(probe, (*NAMED, VERDICT, *numbers, *ACCURACY, *RIVALS, *MORE), rows)


def trained_shown(probe: str, rows: Sequence[BestHead]) -> TextTable:
    """Return the table of trained classifiers beside their controls."""
    return TextTable.of(probe, TRAINED, rows)


def _verdict(row: BestHead) -> Cell:
    badge = Markup('<span class="muted">{}</span>').format(row.verdict)
    if row.specialised:
        beyond = (Markup(' <span class="badge beyond">beyond {}</span>').format(one) for one in row.beyond)
        badge = Markup('<span class="badge">specialised</span>') + Markup("").join(beyond)
    also = Markup(' <span class="ci">{}</span>').format(row.also) if row.also else ""
    said = f"{row.verdict}; {row.also}" if row.also else row.verdict
    return Cell(said, sort=row.rank, page=badge + also)


def _n(verdicts: Verdicts, row: BestHead, marks: tuple[Mark, ...] = ()) -> Cell:
    small = few_words(verdicts) if verdicts.marks(row.n, row.clusters) else ()
    return Cell(count(row.n), sort=row.n, marks=(*small, *marks))


def few_words(verdicts: Verdicts) -> tuple[Mark, ...]:
    """Return the mark of a row that has fewer words than the design of the run asks for."""
    if verdicts.design is None:
        return ()
    enough = f"{count(verdicts.design.items)} scored words or {count(verdicts.design.documents)} documents"
    return (Mark("†", f"fewer than {enough}: a missing verdict says little", "small"),)


def _spark(row: BestHead) -> Cell:
    return _drawn(row, hollow=not row.specialised)


def _drawn(row: BestHead, *, hollow: bool = False) -> Cell:
    below = rivals_drawn(row.baseline_accuracy, row.lexical_accuracy)
    return Cell("", page=spark(row.accuracy, row.ci_low, row.ci_high, below=below, hollow=hollow))


def _margin(row: BestHead) -> str:
    return "up" if row.beats_baseline else "down" if row.loses_to_baseline else ""


def _baseline(row: BestHead) -> Cell:
    return Cell(percent(row.baseline_accuracy), row.baseline, "rival", sort=float(row.baseline_accuracy))


def _rule(row: BestHead) -> Cell:
    return Cell(percent(row.rule_accuracy), row.rule, "rival", sort=float(row.rule_accuracy))


_LABEL: Final = (SCORES["label"].shown(kind="row"), SCORES["variant"].shown(look="muted"))
_HEAD: Final = SCORES["name"].shown("Head", look="head", write=lambda row: head_cell(row.name))

NAMED: Final = (*_LABEL, _HEAD)

VERDICT: Final = TextColumn("Verdict", _verdict, "verdict", tip="specialised or not, by the rule in the summary")

ACCURACY: Final = (
    SCORES["clusters"].shown(kind="num more", only="page"),
    clusters_shown(only="text"),
    TextColumn(ends(0, 100), _spark, "spark", only="page", fixed=True),
    *SCORES["accuracy"].shown_with_interval(look=lambda row: "strong"),
)

RIVALS: Final = (
    SCORES["baseline"].shown(kind="num", write=_baseline, only="page"),
    SCORES["baseline"].shown(only="text"),
    SCORES["baseline_accuracy"].shown(unit=False, only="text"),
    *SCORES["margin"].shown_with_interval(look=_margin),
)

_OVER_TABLE: Final = difference("lexical_margin", "Accuracy minus that of the lexical table.", "lexical_margin")

_OVER_RULE: Final = difference("rule_margin", "Accuracy minus that of the strongest rule of grammar.", "rule_margin")

MORE: Final = (
    SCORES["p_adjusted"].shown("Adj. p", plain="adjusted p"),
    SCORES["stability"].shown(unit=False),
    SCORES["lexical_accuracy"].shown("Lexical table"),
    *_OVER_TABLE.shown_with_interval("Margin over table", kind="num more"),
    SCORES["rule"].shown("Rule", kind="num", write=_rule, only="page"),
    SCORES["rule"].shown(only="text"),
    SCORES["rule_accuracy"].shown(unit=False, only="text"),
    *_OVER_RULE.shown_with_interval("Margin over rule", kind="num more"),
    *SCORES["mass"].shown_with_interval(kind="num more"),
    SCORES["coverage"].shown(kind="num more", unit=False),
    SCORES["share"].shown(kind="num more", unit=False),
    SCORES["near_ties"].shown(kind="num more"),
)

TRAINED: Final = (
    *_LABEL,
    replace(_HEAD, title="Best head"),
    SCORES["n"].shown(),
    clusters_shown(),
    TextColumn(ends(0, 100), _drawn, "spark", only="page", fixed=True),
    *SCORES["accuracy"].shown_with_interval("Balanced accuracy", look=lambda row: "strong"),
    SCORES["baseline_accuracy"].shown("Control accuracy", plain="control", tip="Accuracy on the control task."),
    *SCORES["margin"].shown_with_interval(
        "Selectivity", look=_margin, tip="Accuracy minus control accuracy, percentage points."
    ),
)
