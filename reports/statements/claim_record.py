"""Records of claims: statements with their verdicts, and what was measured, as experiments make and pages read them."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any, Final

import pandas as pd

from reports.formats import cost, plain
from reports.statements.statement import (
    CLAIM,
    STATEMENTS,
    UNIT_OF,
    JudgedStatement,
    N,
    Number,
    read_json_record,
)
from reports.tables.shared_columns import ends, number, place, text
from reports.tables.table import JsonRow, Table, rows_frame

RECORD = "claim.json"
"Every folder of a claim holds one."

_MEASURE: Final = text("measure", "Quantity that was measured.")
_CONDITION: Final = text("condition", "What it was measured under, such as a number of heads.")
_AT: Final = number("at", "Place on the axis of the measure, such as a length; missing without an axis.", write=cost)

MEASURES: Final = Table(
    "One row for each measure: a quantity under all conditions.",
    ("name",),
    (
        replace(_MEASURE, name="name"),
        UNIT_OF,
        text("repeat", "What is repeated; count for what was counted once.", ("seed", "round", "language", "count")),
        text("axis", "What the places are where it was measured, such as lengths; empty without an axis."),
    ),
)

MEANS: Final = Table(
    "One row for each measure, condition and place on its axis: the mean over repeats.",
    ("measure", "condition", "at"),
    (
        *(_MEASURE, _CONDITION, _AT),
        number("value", "Mean over repeats, in the unit of the measure; missing without any.", None, "", cost),
        *ends("", "the mean", cost),
        N,
    ),
)

REPEATS: Final = Table(
    "One row for each measure, condition, place on its axis and repeat.",
    ("measure", "condition", "at", "repeat"),
    (
        *(_MEASURE, _CONDITION, _AT),
        replace(place("repeat", "Seed, round or language of the repeat, languages from 0."), write=plain),
        number("value", "What was measured, in the measure's unit; missing where it could not be.", write=cost),
    ),
)

CLAIM_TABLES: Final[Mapping[str, Table]] = {
    "claim.statements": STATEMENTS,
    "claim.measures": MEASURES,
    "claim.measures.cells": MEANS,
    "claim.measures.rows": REPEATS,
}
"Place in claim.json -> what its rows must hold."


@dataclass(frozen=True)
class Row:
    """One measured number."""

    condition: str
    at: float | None
    "Where on the axis of the measure, such as a length; None where it has no axis."
    repeat: int
    "Seed, round or language."
    value: float


@dataclass(frozen=True)
class ConditionMean:
    """The mean of a measure under one condition, at one place of its axis."""

    condition: str
    at: float | None
    number: Number


@dataclass(frozen=True)
class ClaimMeasure:
    """One quantity under all conditions."""

    name: str
    unit: str
    'What numbers are in; "%" says that they are fractions which pages write in percent.'
    repeat: str
    'What is repeated: "seed", "round", "language", or "count" for what was counted once.'
    axis: str
    "What `at` is."
    cells: tuple[ConditionMean, ...]
    rows: tuple[Row, ...]

    @classmethod
    def of(cls, entry: Mapping[str, Any]) -> ClaimMeasure:
        """Read a measure from JSON."""
        unit = entry["unit"]
        cells = tuple(ConditionMean(one["condition"], one["at"], Number.of(one, unit=unit)) for one in entry["cells"])
        rows = tuple(
            Row(one["condition"], one["at"], one["repeat"], math.nan if one["value"] is None else float(one["value"]))
            for one in entry["rows"]
        )
        return cls(entry["name"], unit, entry["repeat"], entry["axis"], cells, rows)

    def recorded(self) -> dict[str, Any]:
        """Return the measure as JSON has it."""
        about = {name: getattr(self, name) for name in MEASURES.names}
        cells = [{"condition": one.condition, "at": one.at} | one.number.recorded() for one in self.cells]
        rows = [asdict(row) | {"value": None if math.isnan(row.value) else row.value} for row in self.rows]
        return about | {"cells": cells, "rows": rows}

    @property
    def conditions(self) -> list[str]:
        """The conditions, in the order of the record."""
        return list(dict.fromkeys(cell.condition for cell in self.cells))

    def repeats(self, condition: str) -> list[float]:
        """Return the repeats of a condition that is at no place of an axis, none where it is a single one."""
        found = [row.value for row in self.rows if (row.condition, row.at) == (condition, None)]
        return found if len(found) > 1 else []

    @property
    def title(self) -> str:
        """Name and unit."""
        return f"{self.name[:1].upper()}{self.name[1:]}{f' ({self.unit})' if self.unit else ''}"


@dataclass(frozen=True)
class ClaimRecord:
    """What the experiment of a claim found, and what its record says beside."""

    measures: Sequence[ClaimMeasure]
    statements: Sequence[JudgedStatement]
    noticed: Sequence[str] = ()
    "Sentences about the numbers that no statement says."
    record: Mapping[str, Any] = field(default_factory=dict)
    "The whole record, where it was read."

    def __getattr__(self, name: str) -> Any:
        """Return an entry of the record, such as its title."""
        try:
            return self.record[name]
        except KeyError:
            raise AttributeError(name) from None

    @property
    def counted(self) -> list[JudgedStatement]:
        """The statements that could have failed."""
        return [statement for statement in self.statements if statement.kind == CLAIM]

    @property
    def uncounted(self) -> list[JudgedStatement]:
        """Identities and measurements."""
        return [statement for statement in self.statements if statement.kind != CLAIM]

    def recorded(self) -> dict[str, Any]:
        """Return what was found as JSON has it."""
        statements, measures = ([one.recorded() for one in several] for several in (self.statements, self.measures))
        return {"statements": statements, "noticed": list(self.noticed), "measures": measures}


def claim_frames(record: Mapping[str, Any], where: str) -> dict[str, pd.DataFrame]:
    """Return the tables of a claim's record, by their names in `CLAIM_TABLES` behind the first point.

    Refuses a record in which a row is wrong: ValueError begins with `where` and names its list.
    """
    statements, measures = record["statements"], record["measures"]
    rows = (statements, measures, _within(measures, "cells"), _within(measures, "rows"))
    names = [name.removeprefix("claim.") for name in CLAIM_TABLES]
    every = zip(names, CLAIM_TABLES.values(), rows, strict=True)
    return {name: rows_frame(table, found, f"{where}: {name}") for name, table, found in every}


def claim_tables(claims: Sequence[ClaimRecord]) -> dict[str, pd.DataFrame]:
    """Return the tables of several claims, each with the name of the claim in a last column."""
    frames = {one.name: claim_frames(one.record, one.name) for one in claims}
    return {
        name.replace(".", "-"): pd.concat([of[name].assign(claim=claim) for claim, of in frames.items()])
        for name in (one.removeprefix("claim.") for one in CLAIM_TABLES)
    }


def _within(measures: Sequence[JsonRow], part: str) -> Iterator[JsonRow]:
    return ({"measure": one["name"], **row} for one in measures for row in one[part])


def read_claims(folder: Path) -> list[ClaimRecord]:
    """Return every claim in the folders of `folder`, by name of folder; raises ValueError where one is not whole."""
    return [read_claim(path) for path in sorted(folder.glob(f"*/{RECORD}"))]


def read_claim(path: Path) -> ClaimRecord:
    """Return the claim whose record lies at `path`; raises ValueError where it is not whole."""
    return read_json_record(path, "a claim", "claim", _claim)


def _claim(record: dict[str, Any]) -> ClaimRecord:
    claim_frames(record, "wrong row")
    measures, statements = map(ClaimMeasure.of, record["measures"]), map(JudgedStatement.of, record["statements"])
    return ClaimRecord(tuple(measures), tuple(statements), record["noticed"], record)
