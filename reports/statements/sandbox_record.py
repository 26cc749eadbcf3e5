"""The record of the sandbox: what its rows must hold, and the tables of power, false finds and coverage."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Final, Self

import pandas as pd

from reports.formats import interval, moment, percent
from reports.statements.statement import Made, read_json_record
from reports.tables.column import Column
from reports.tables.shared_columns import (
    FRACTIONS,
    NOT_NEGATIVE,
    difference,
    ends,
    flag,
    fraction,
    items,
    number,
    place,
    text,
    whole,
)
from reports.tables.table import JsonRow, Table, rows_frame

_ROLE: Final = text("role", "What the planted head does, such as attend to the previous word.")
_GRADE: Final = place(
    "grade", "Grade whose baselines the head leads: 1 baselines and controls, 2 the table too, 3 rules too.", 1
)
_MARGIN: Final = difference(
    "margin", "Lead over the strongest of all baselines up to the grade that was to be planted."
)
_DOCUMENTS: Final = whole("documents", "Documents of either split.")
_RUNS: Final = whole("runs", "Number of runs that the rates are of.")
_ACCURACY: Final = fraction("true_accuracy", "Accuracy of the planted head on all documents of the large pass.")
_TRUE: Final = difference("true_margin", "Lead that the planted head has on all documents of the large pass.")
_QUANTITY: Final = text("quantity", "What has the interval.", ("accuracy", "mass", "margin"))
_RATE: Final = text("rate", "What is counted, such as a find in a run; as the page names it.")
_ITEMS: Final = Column(
    "items",
    "float64",
    "Scored words that it takes; missing where the largest size does not do.",
    moment,
    NOT_NEGATIVE,
    title="scored words",
)
_WHERE: Final = text("null", "Null hypothesis, under which no head should have a grade, such as random weights.")


def _rate(name: str, meaning: str) -> tuple[Column, ...]:
    """Return the columns of a share of runs and its Monte-Carlo interval."""
    return fraction(name, f"{meaning}; missing without a run.", name), *ends(name, f"`{name}`", percent, FRACTIONS)


def _mean(name: str, of: str) -> tuple[Column, ...]:
    """Return the columns of the mean and the standard deviation of an accuracy over runs."""
    return (
        fraction(f"{name}_mean", f"Mean accuracy of the head over {of} runs."),
        fraction(f"{name}_sd", f"Standard deviation of its accuracy over {of} runs."),
    )


_SHARE: Final = _rate("share", "Share of runs, or of what is found in them, that is false")
_HELD: Final = _rate("held", "Share of runs whose interval holds the true value")


PLANTED: Final = Table(
    "One row for each head that is planted in the large pass.",
    ("role", "grade", "margin"),
    (
        *(_ROLE, _GRADE),
        items("question", "Probe, direction and label of the head."),
        _MARGIN,
        number("strength", "Share of words at which the head attends to the gold.", FRACTIONS, write=percent),
        _ACCURACY,
        _TRUE,
        number("items_a_document", "Mean number of scored words of a document.", NOT_NEGATIVE),
    ),
)

POWER: Final = Table(
    "One row for each role, grade, margin and size: how often the planted head is found in simulated runs.",
    ("role", "grade", "margin", "documents"),
    (
        *(_ROLE, _GRADE, _MARGIN, _ACCURACY, _TRUE, _DOCUMENTS),
        replace(
            number("items", "Mean number of scored words of a run.", NOT_NEGATIVE, write=moment), title="scored words"
        ),
        _RUNS,
        *_rate("graded", "Share of runs in which the planted head has the grade"),
        *_mean("estimate", "simulated"),
    ),
)

COVERAGE: Final = Table(
    "One row for each role, grade, margin, size and quantity: how often its 95 % interval holds the true value.",
    ("role", "grade", "margin", "documents", "quantity"),
    (_ROLE, _GRADE, _MARGIN, _DOCUMENTS, _QUANTITY, *_HELD),
)

BESIDE: Final = Table(
    "One row for each role, grade, margin, size and rate: what is falsely found beside planted heads.",
    ("role", "grade", "margin", "documents", "rate"),
    (_ROLE, _GRADE, _MARGIN, _DOCUMENTS, _RATE, *_SHARE),
)

FALSE: Final = Table(
    "One row for each null hypothesis and size.",
    ("null", "documents"),
    (
        *(_WHERE, _DOCUMENTS, _RUNS),
        whole("heads", "Number of heads that are tested."),
        whole("labels", "Number of labels that are tested."),
    ),
)

RATES: Final = Table(
    "One row for each null hypothesis, size and rate: what is found although no head has the lead.",
    ("null", "documents", "rate"),
    (_WHERE, _DOCUMENTS, _RATE, *_SHARE),
)

HELD: Final = Table(
    "One row for each null hypothesis and size: how often the intervals of margins hold the true values of all heads.",
    ("null", "documents", "quantity"),
    (_WHERE, _DOCUMENTS, _QUANTITY, *_HELD),
)

WEIGHTS: Final = Table(
    "One row for each head that is planted by weights.",
    ("place",),
    (
        text("place", "Word that the head was built to attend to."),
        replace(text("planted", "Head that was built for it, as layer-head counted from 1."), title="built"),
        text("selected", "Head that a run selects for it, as layer-head counted from 1."),
        fraction("accuracy", "Accuracy of the selected head on the report split."),
        flag("graded", "Whether the selected head has a grade."),
    ),
)

WHOLE: Final = Table(
    "One row for each planted head in whole runs; the same cell is simulated beside them.",
    ("role",),
    (
        *(_ROLE, _MARGIN, _DOCUMENTS),
        replace(_RUNS, meaning="Number of whole runs."),
        *_rate("graded", "Share of whole runs in which the head has a grade"),
        *_mean("accuracy", "whole"),
        *_rate("simulated_graded", "Share of simulated runs in which the head has a grade"),
        *_mean("simulated_accuracy", "simulated"),
    ),
)

NULL_RUNS: Final = Table(
    "One row for each whole run on a model without knowledge.",
    ("corpus", "source", "seed"),
    (
        text("corpus", "Corpus: the grammar, EWT or GUM."),
        text("source", "Source of the weights: randomly initialised, or those of the model permuted."),
        place("seed", "Seed of the weights."),
        whole("documents", "Number of documents of the report split."),
        whole("labels", "Number of labels with a test."),
        whole("graded", "Number of heads that have a grade in a label."),
        items("declared", "These heads, each with probe, direction and label."),
    ),
)

NEEDED: Final = Table(
    "One row for each margin and power: how many scored words it takes to find a head.",
    ("margin", "power"),
    (
        _MARGIN,
        fraction("power", "Share of runs in which the head is to have the first grade."),
        _ITEMS,
        replace(_ROLE, meaning="Role that takes most."),
        flag("at_most", "Whether the smallest size does already, so that fewer words may do."),
    ),
)

SANDBOX_TABLES: Final[Mapping[str, Table]] = {
    "sandbox.population.planted": PLANTED,
    "sandbox.power": POWER,
    "sandbox.power.coverage": COVERAGE,
    "sandbox.power.false": BESIDE,
    "sandbox.false": FALSE,
    "sandbox.false.rates": RATES,
    "sandbox.false.coverage": HELD,
    "sandbox.weights": WEIGHTS,
    "sandbox.whole": WHOLE,
    "sandbox.null_runs": NULL_RUNS,
    "sandbox.needed": NEEDED,
}
"Place in sandbox.json -> what its rows must hold."

_NAMED: Final = {"coverage": ("quantity", "held"), "false": ("rate", "share"), "rates": ("rate", "share")}
"Part of a row with several rates -> the columns with the name, and with the rate, of each."

Record = Mapping[str, Any]
"What sandbox.json holds."

ANY = "any false find in a run"
"The rate of false finds after all corrections; its grade stands behind it."

LABEL, FDR = "family-wise within a label", "labels with a false find, of labels with a find"
"The same after the correction for heads alone, and the false discovery rate."

WRONG_NO, RIGHT_NO = "no, where a head has the lead", "no, where no head has the lead"
"Rates of the verdict no: wrong and right."

QUANTITIES = ("accuracy", "mass", "margin")
"What has a 95 % interval."

_PLANTED: Final = ["role", "grade", "margin", "documents"]
_NULL: Final = ["null", "documents"]


@dataclass(frozen=True)
class SandboxRecord:
    """A record of the sandbox with its lists of rows as tables; what it lacks has no rows."""

    record: Record
    tables: Mapping[str, pd.DataFrame]
    "By their names behind the first point, points as hyphens: power-coverage."

    @classmethod
    def of(cls, record: Record, where: str = "wrong row") -> Self:
        """Refuse a record in which a row is wrong: ValueError begins with `where` and names its list."""
        paths = {name.removeprefix("sandbox."): table for name, table in SANDBOX_TABLES.items()}
        tables = {
            name.replace(".", "-"): rows_frame(table, _rows(record, name.split(".")), f"{where}: {name}")
            for name, table in paths.items()
        }
        return cls(record, tables)

    @property
    def alpha(self) -> float:
        """The nominal level of the rule that was tested."""
        return float(self.record.get("rule", {}).get("alpha", 0.05))

    @property
    def margin(self) -> float:
        """The margin of the rule that was tested."""
        return float(self.record.get("rule", {}).get("margin", 0.0))

    @property
    def power(self) -> pd.DataFrame:
        """The cells of the power curves: by grade, role, margin and size."""
        return _by_grade(self.tables["power"])

    @property
    def null_rates(self) -> pd.DataFrame:
        """What is falsely found where no head has the lead, with the number of runs."""
        return self.tables["false-rates"].merge(self.tables["false"], on=_NULL, how="left")

    @property
    def mixed_rates(self) -> pd.DataFrame:
        """What is falsely found beside planted heads; all roles of a run share it, so that each rate is there once."""
        runs = self.tables["power"][[*_PLANTED, "runs"]]
        rates = self.tables["power-false"].drop_duplicates([*_PLANTED[1:], "rate"]).merge(runs, on=_PLANTED, how="left")
        where = [f"grade {row['grade']}, margin {percent(row['margin'])}" for row in rates.to_dict("records")]
        return rates.assign(null=pd.Series(where, rates.index, dtype=object))

    @property
    def coverage(self) -> pd.DataFrame:
        """How often intervals of planted heads hold the true values, in the order of `power`, with the runs."""
        found = self.tables["power-coverage"].merge(self.tables["power"][[*_PLANTED, "runs"]], on=_PLANTED, how="left")
        return _by_grade(found.dropna(subset="held"))


def _by_grade(rows: pd.DataFrame) -> pd.DataFrame:
    roles = rows["role"].unique().tolist()
    return rows.sort_values(
        ["grade", "role", "margin", "documents"],
        key=lambda column: column.map(roles.index) if column.name == "role" else column,
        kind="stable",
    )


def _rows(record: Mapping[str, Any], path: list[str]) -> list[JsonRow]:
    """Return the rows of one of the lists, or of the rates in its rows."""
    found = record.get(path[0], ())
    if path[1:] == ["planted"]:
        return list(found["planted"]) if found else []
    if len(path) == 1:
        return [{key: part for key, part in row.items() if key not in _NAMED} for row in found]
    name, rate = _NAMED[path[1]]
    return [{**row, name: one, rate: value} for row in found for one, value in row.get(path[1], {}).items()]


def read_record(folder: Path, make: Callable[[SandboxRecord], Made]) -> Made:
    """Return what `make` makes of sandbox.json in a folder; ValueError says what is wrong with it."""
    path = folder / "sandbox.json"
    return read_json_record(path, "the sandbox", "sandbox", lambda record: make(SandboxRecord.of(record)))


def in_percent(value: float, low: float, high: float) -> str:
    """Write a rate in percent, its interval behind it."""
    return f"{percent(value)} {interval(low, high)}".strip()


def kind(name: str) -> str:
    """Return the name of a rate without its grade."""
    return name.partition(", grade ")[0]
