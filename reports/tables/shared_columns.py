"""The kinds of columns that tables have, and the columns that many tables share."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Final

from reports.formats import count, decimal, decimal3, listed, p_value, percent, plain, signed, yes_or_no
from reports.tables.cells import Cell, TextColumn
from reports.tables.column import Column, Write, value_in
from reports.tables.table import Check, Table

NOT_NEGATIVE: Final = (0.0, math.inf)
FRACTIONS: Final = (0.0, 1.0)
CORRELATIONS: Final = (-1.0, 1.0)

SPLITS: Final = ("select", "report")
"Heads are selected on `select` and evaluated on `report`."


def text(name: str, meaning: str, choices: tuple[str, ...] = ()) -> Column:
    """Return a column of texts, "" for none."""
    return Column(name, "str", meaning, str, choices=choices)


def whole(name: str, meaning: str, least: float = 0, write: Write = count) -> Column:
    """Return a column of whole numbers of at least `least`."""
    return Column(name, "int64", meaning, write, (least, math.inf))


def place(name: str, meaning: str, least: float = 0) -> Column:
    """Return a column of whole numbers that name something, such as a layer."""
    return whole(name, meaning, least, plain)


def optional(name: str, meaning: str) -> Column:
    """Return a column of whole numbers of at least 0, of which some are missing."""
    return Column(name, "Int64", meaning, plain, NOT_NEGATIVE)


def flag(name: str, meaning: str) -> Column:
    """Return a column of truth values."""
    return Column(name, "bool", meaning, yes_or_no)


def items(name: str, meaning: str) -> Column:
    """Return a column with a list in each row."""
    return Column(name, "object", meaning, listed)


def number(
    name: str,
    meaning: str,
    bounds: tuple[float, float] | None = None,
    interval: str | None = None,
    write: Write = decimal3,
) -> Column:
    """Return a column of numbers; `interval` is the stem of the columns of its interval (`ends`), None without one."""
    return Column(name, "float64", meaning, write, bounds, None if interval is None else _names(interval))


def _names(stem: str) -> tuple[str, str]:
    """Return the names of the ends of an interval: low and high, behind the stem where there is one."""
    return (f"{stem}_low", f"{stem}_high") if stem else ("low", "high")


def fraction(name: str, meaning: str, interval: str | None = None) -> Column:
    """Return a column of fractions in [0, 1], which are written in percent."""
    return number(name, meaning, FRACTIONS, interval, percent)


def difference(name: str, meaning: str, interval: str | None = None) -> Column:
    """Return a column of differences of fractions, which are written in percentage points."""
    return number(name, meaning, CORRELATIONS, interval, signed)


def correlation(name: str, meaning: str, interval: str | None = None) -> Column:
    """Return a column of correlations, cosines and the like in [-1, 1]."""
    return number(name, meaning, CORRELATIONS, interval, decimal)


def p_column(name: str, meaning: str) -> Column:
    """Return a column of p-values."""
    return number(name, meaning, FRACTIONS, write=p_value)


def ends(
    stem: str, of: str, write: Write = decimal3, bounds: tuple[float, float] | None = None
) -> tuple[Column, Column]:
    """Return the columns `stem`_low and `stem`_high, or low and high, of the 95 % interval of something."""
    lower, upper = (
        number(name, f"{end} end of the 95 % interval of {of}; missing without one.", bounds, write=write)
        for name, end in zip(_names(stem), ("Lower", "Upper"), strict=True)
    )
    return lower, upper


MODEL: Final = text("model", "Name of the model.")
STEP: Final = optional("step", "Training step of the checkpoint; missing where it is not known.")
CORPUS: Final = text("corpus", "Name of the corpus that the numbers come from.")
SPLIT: Final = text("split", "select: heads are selected here; report: they are evaluated here (held out).", SPLITS)

PROBE: Final = text("probe", "Probe that says which answers are correct.")
LABEL: Final = text("label", "Label of the probe, such as a dependency relation.")
VARIANT: Final = replace(
    text("variant", "Direction in which attention is read, such as dependent->head."), title="direction"
)

LAYER: Final = place("layer", "Layer, counted from 0.")
HEAD: Final = place("head", "Head in its layer, counted from 0.")
NAME: Final = text("name", "Head as layer-head, both counted from 1.")

N: Final = whole("n", "Number of items that were scored.")
CLUSTERS: Final = whole("clusters", "Documents, or sentences without any, that the bootstrap resamples.")
NEAR_TIES: Final = whole("near_ties", "Items decided by less than 0.00001, which rounding could turn over.")
P: Final = p_column("p", "p-value of this row alone; missing where nothing was tested.")
P_LABEL: Final = p_column("p_label", "p corrected for all heads of the label.")
P_ADJUSTED: Final = replace(
    p_column("p_adjusted", "p corrected for all heads and labels; missing where nothing was tested."),
    title="corrected p",
)

BASELINE: Final = text("baseline", "Strongest baseline or control on the same items; empty without one.")
BASELINE_ACCURACY: Final = fraction("baseline_accuracy", "Accuracy of that baseline or control on the same items.")

BEHAVIOUR: Final = text("behaviour", "Behaviour of the model that is measured, such as masked-LM loss.")
UNIT: Final = text("unit", "Unit of the values and costs of the behaviour, such as nats per masked subword.")
COSINE: Final = "cosine"
"What the unit of a behaviour begins with that is a distance from the intact model."

MEASURES: Final = ("value", "accuracy", "accuracy with attractors", "logit difference")
VALUE, ACCURACY, ATTRACTED, LOGIT = MEASURES
"""What is measured of a behaviour: the mean value of its items, in its unit; of pairs also the share whose right
sentence is preferred, ties half, of all pairs and of those with at least one attractor; of labels the share that is
right, and the logit of the gold label less the mean of the others."""

SCORE: Final = "score"
"The unit of what a function of the user measures."
MEASURE: Final = text(
    "measure",
    "What is measured: the value in its unit, the share of pairs or labels decided correctly, or the logit of the "
    "gold label less the mean of the others.",
    MEASURES,
)

CHANCE: Final = 0.5
"Share of minimal pairs that are decided correctly by chance."

LEVEL: Final = 0.05
"Corrected p below which what was tested is significant."

RUN: Final = (MODEL, STEP, CORPUS)
ONE_HEAD: Final = (LAYER, HEAD, NAME)
QUESTION: Final = (PROBE, LABEL, VARIANT)
ITEMS: Final = (N, CLUSTERS)


def run_table(
    about: str, key: tuple[str, ...], columns: tuple[Column, ...], check: Check | None = None, *, csv: bool = True
) -> Table:
    """Return a table of a run: its columns follow RUN, its key the model and the step."""
    return Table(about, ("model", "step", *key), (*RUN, *columns), check, csv)


def label_columns(title: str, plain: str = "", quiet: str = "muted") -> tuple[TextColumn, ...]:
    """Return columns of a label for people: on a page its probe stands behind it, elsewhere before it."""
    label, probe = value_in("", "label"), value_in("", "probe")
    return (
        TextColumn(title, lambda row: Cell(label(row), probe(row), quiet=quiet), "row", tip=LABEL.meaning, only="page"),
        TextColumn(plain or title, lambda row: f"{probe(row)}: {label(row)}", "row", tip=LABEL.meaning, only="text"),
    )
