"""The tables of best heads as pages and Markdown show them."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Final

from markupsafe import Markup

from reports.formats import MISSING, count, p_value
from reports.scores.best_heads import BestHead
from reports.scores.verdicts import Verdicts
from reports.tables.cells import PERCENT, POINTS, Cell, Mark, TextColumn
from reports.tables.marks import few_clusters
from reports.tables.sparks import ends, rivals_drawn, spark
from reports.tables.text_table import TextTable


def best_shown(probe: str, rows: Sequence[BestHead], verdicts: Verdicts) -> TextTable:
    """Return the table of a probe's best heads with their verdicts."""
    n = partial(_n, verdicts)
    numbers = (
        TextColumn("n", lambda row: n(row, few_clusters(row.clusters)), tip="scored queries", only="page"),
        TextColumn("n", n, only="text"),
    )
    return TextTable.of(probe, (*NAMED, VERDICT, *numbers, *ACCURACY, *RIVALS, *MORE), rows)


def trained_shown(probe: str, rows: Sequence[BestHead]) -> TextTable:
    """Return the table of trained classifiers beside their controls."""
    return TextTable.of(probe, TRAINED, rows)


def _name(row: BestHead) -> Cell:
    return Cell(row.name or MISSING, sort=10000 * row.layer + row.head if row.name else "")


def _verdict(row: BestHead) -> Cell:
    badge = Markup('<span class="muted">{}</span>').format(row.verdict)
    if row.specialised:
        beyond = Markup(' <span class="badge beyond">beyond the table</span>' if row.beyond_lexical else "")
        badge = Markup('<span class="badge">specialised</span>') + beyond
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


def _strong(row: BestHead) -> str:
    return "strong"


def _baseline(row: BestHead) -> Cell:
    return Cell(PERCENT.value(row.baseline_accuracy), row.baseline, "rival", sort=float(row.baseline_accuracy))


NAMED: Final = (
    TextColumn("Label", lambda row: row.label, "row"),
    TextColumn("Variant", lambda row: row.variant, "text", "muted"),
    TextColumn("Head", _name, "text", "head"),
)

VERDICT: Final = TextColumn("Verdict", _verdict, "verdict", tip="specialised or not, by the rule in the summary")

CLUSTERS: Final = "documents or sentences that are resampled"

ACCURACY: Final = (
    TextColumn(
        "Clusters", lambda row: Cell(count(row.clusters), sort=row.clusters), "num more", tip=CLUSTERS, only="page"
    ),
    TextColumn("Clusters", lambda row: Cell(count(row.clusters), marks=few_clusters(row.clusters)), only="text"),
    TextColumn(ends(0, 100), _spark, "spark", only="page", fixed=True),
    *PERCENT.columns("Accuracy", "accuracy", ("ci_low", "ci_high"), _strong, tip="with 95 % interval"),
)

RIVALS: Final = (
    TextColumn("Baseline", _baseline, tip="accuracy of the strongest baseline or control", only="page"),
    TextColumn("Baseline", lambda row: row.baseline or MISSING, "text", only="text"),
    PERCENT.column("Baseline accuracy", "baseline_accuracy", only="text"),
    *POINTS.columns(
        *("Margin", "margin", ("margin_low", "margin_high"), _margin),
        tip="accuracy minus baseline, percentage points, with 95 % interval",
    ),
)

MORE: Final = (
    TextColumn(
        *("Adj. p", lambda row: Cell(p_value(row.p_adjusted), sort=float(row.p_adjusted)), "rising"),
        tip="corrected for all heads and labels of the run",
        plain="adjusted p",
    ),
    PERCENT.column(
        "Stability", "stability", tip="share of resamples of the selection split in which this head is the best"
    ),
    PERCENT.column("Lexical table", "lexical_accuracy", tip="supervised yardstick, no baseline"),
    *POINTS.columns(
        *("Margin over table", "lexical_margin", ("lexical_margin_low", "lexical_margin_high")),
        kind="num more",
        tip="accuracy minus lexical table, percentage points, with 95 % interval",
    ),
    *PERCENT.columns(
        *("Mass", "mass", ("mass_low", "mass_high")),
        kind="num more",
        tip="attention on right words, with 95 % interval",
    ),
    PERCENT.column("Coverage", "coverage", kind="num more", tip="attention on all candidates"),
    PERCENT.column("Share", "share", kind="num more", tip="mass / coverage"),
    TextColumn("Near ties", lambda row: Cell(count(row.near_ties), sort=row.near_ties), "num more"),
)

TRAINED: Final = (
    *NAMED[:2],
    TextColumn("Best head", _name, "text", "head"),
    TextColumn("n", lambda row: Cell(count(row.n), sort=row.n)),
    TextColumn("Clusters", lambda row: Cell(count(row.clusters), sort=row.clusters, marks=few_clusters(row.clusters))),
    TextColumn(ends(0, 100), _drawn, "spark", only="page", fixed=True),
    *PERCENT.columns("Balanced accuracy", "accuracy", ("ci_low", "ci_high"), _strong),
    PERCENT.column("Control accuracy", "baseline_accuracy", plain="control"),
    *POINTS.columns(
        *("Selectivity", "margin", ("margin_low", "margin_high"), _margin),
        tip="accuracy minus control accuracy, percentage points, with 95 % interval",
    ),
)
