"""The tables of the section on relations between heads, as people read them."""

from __future__ import annotations

from typing import Any, Final

from markupsafe import Markup

from reports.formats import count, decimal3, percent
from reports.studies.headset.tables import ENSEMBLES, PAIR_CONTRASTS
from reports.tables.cells import Cell, TextColumn
from reports.tables.marks import few_clusters
from reports.tables.shared_columns import label_columns

CONTRASTS: Final = (
    TextColumn("Compared", lambda row: row.name, "row"),
    TextColumn("All pairs", lambda row: decimal3(row.mean), css="strong"),
    PAIR_CONTRASTS["within"].shown("Within a layer"),
    PAIR_CONTRASTS["between"].shown("Between layers"),
    PAIR_CONTRASTS["p"].shown("Permutation p"),
    TextColumn("Random weights, all pairs", lambda row: decimal3(row.random)),
    TextColumn("Pairs above all of random weights, %", lambda row: percent(row.above)),
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
    told = [(percent(step.accuracy), step.selected) for step in row.steps]
    shown = Markup(" · ").join(Markup("<b>{}</b>").format(said) if chosen else said for said, chosen in told)
    bold = ", ".join(f"**{said}**" if chosen else said for said, chosen in told)
    return Cell(", ".join(said for said, _ in told), page=shown, markdown=bold)


TOGETHER: Final = (
    *label_columns("Label"),
    ENSEMBLES["variant"].shown(css="muted"),
    ENSEMBLES["n"].shown(write=lambda row: Cell(count(row.n), sort=row.n, marks=few_clusters(row.clusters))),
    ENSEMBLES["baseline"].shown(write=_baseline, kind="num", only="page"),
    ENSEMBLES["baseline"].shown(only="text"),
    ENSEMBLES["baseline_accuracy"].shown("Baseline accuracy", only="text"),
    TextColumn("Best head", _single, only="page"),
    TextColumn("Best head", lambda row: row.steps[0].heads, "text", only="text"),
    TextColumn("Best head’s accuracy", lambda row: percent(row.steps[0].accuracy), only="text"),
    ENSEMBLES["heads"].shown("Ensemble", within="best", css="heads"),
    ENSEMBLES["accuracy"].shown("Ensemble accuracy", within="best", unit=False, css="strong"),
    *ENSEMBLES["gain"].shown_with_interval(within="best", css=_gain),
    *ENSEMBLES["margin"].shown_with_interval(within="best", css=_margin),
    TextColumn("Accuracy with 1, 2, ... heads", _sizes, "text", "sizes", fixed=True),
)
