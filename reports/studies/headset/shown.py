"""The tables of the section on heads as a set, as people read them."""

from __future__ import annotations

from typing import Any, Final

from markupsafe import Markup

from reports.formats import count, decimal3, p_value, percent
from reports.tables.cells import PERCENT, POINTS, Cell, TextColumn
from reports.tables.marks import few_clusters

CONTRASTS: Final = (
    TextColumn("Compared", lambda row: row.name, "row"),
    TextColumn("All pairs", lambda row: decimal3(row.mean), look="strong"),
    TextColumn("Within a layer", lambda row: decimal3(row.within)),
    TextColumn("Between layers", lambda row: decimal3(row.between)),
    TextColumn("Permutation p", lambda row: p_value(row.p)),
    TextColumn("Fresh weights, all pairs", lambda row: decimal3(row.fresh)),
    TextColumn("Pairs above all of fresh weights, %", lambda row: percent(row.above)),
)


def _baseline(row: Any) -> Cell:
    return Cell(percent(row.baseline_accuracy), row.baseline, "rival", sort=float(row.baseline_accuracy))


def _single(row: Any) -> Cell:
    first = row.steps[0]
    return Cell(percent(first.accuracy), first.heads, sort=float(first.accuracy), quiet="head")


def _gain(row: Any) -> str:
    return "up" if row.best.gain_low > 0 else "down" if row.best.gain_high < 0 else ""


def _margin(row: Any) -> str:
    return "up" if row.best.margin_low > 0 else "down" if row.best.margin_high < 0 else ""


def _sizes(row: Any) -> Cell:
    told = [(percent(step.accuracy), step.chosen) for step in row.steps]
    shown = Markup(" · ").join(Markup("<b>{}</b>").format(said) if chosen else said for said, chosen in told)
    bold = ", ".join(f"**{said}**" if chosen else said for said, chosen in told)
    return Cell(", ".join(said for said, _ in told), page=shown, markdown=bold)


ENSEMBLES: Final = (
    TextColumn("Label", lambda row: Cell(row.label, row.probe, quiet="muted"), "row", only="page"),
    TextColumn("Label", lambda row: f"{row.probe}: {row.label}", "row", only="text"),
    TextColumn("Variant", lambda row: row.variant, "text", "muted"),
    TextColumn("n", lambda row: Cell(count(row.n), sort=int(row.n), marks=few_clusters(row.clusters))),
    TextColumn("Baseline", _baseline, only="page"),
    TextColumn("Baseline", lambda row: row.baseline, "text", only="text"),
    TextColumn("Its accuracy", lambda row: percent(row.baseline_accuracy), only="text"),
    TextColumn("Best head", _single, only="page"),
    TextColumn("Best head", lambda row: row.steps[0].heads, "text", only="text"),
    TextColumn("Its accuracy", lambda row: percent(row.steps[0].accuracy), only="text"),
    TextColumn("Ensemble", lambda row: row.best.heads, "text", "heads"),
    PERCENT.column("Accuracy", "best.accuracy", look="strong"),
    *POINTS.columns("Gain", "best.gain", ("best.gain_low", "best.gain_high"), _gain),
    *POINTS.columns("Margin", "best.margin", ("best.margin_low", "best.margin_high"), _margin),
    TextColumn("By number of heads", _sizes, "text", "sizes", fixed=True),
)
