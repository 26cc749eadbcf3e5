"""The record of the sandbox: rows of power, false finds and coverage, whose rates are estimates."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from scipy import stats

from reports.formats import interval, percent
from reports.statements.sandbox_tables import check_sandbox
from reports.statements.statement import Made, read_json_record
from reports.tables.estimate import Estimate

Record = Mapping[str, Any]

ANY = "any false find in a run"
"The rate of false finds after all corrections; its grade stands behind it."

LABEL, FDR = "family-wise within a label", "labels with a false find, of labels with a find"
"The same after the correction for heads alone, and the false discovery rate."

WRONG_NO, RIGHT_NO = "no, where a head has the lead", "no, where no head has the lead"
"Rates of the verdict no: wrong and right."

QUANTITIES = ("accuracy", "mass", "margin")
"What has a 95 % interval."


Row = dict[str, Any]
"A row of the record; its rates are estimates."


def rate_of(entry: Mapping[str, Any] | None) -> Estimate:
    """Read a share with its 95 % Monte-Carlo interval, fractions of 1; one that is missing is NaN."""
    return Estimate(float(entry["rate"]), float(entry["low"]), float(entry["high"])) if entry else Estimate()


def counted(share: float, runs: int) -> Estimate:
    """Return a share of so many runs with Wilson's interval, which holds also where the share is a mean of shares.

    The mean of shares that are measured on the same runs varies no more than one share of that many runs.
    """
    if not runs or math.isnan(share):
        return Estimate()
    far = float(stats.norm.ppf(0.975))
    middle = (share + far**2 / (2 * runs)) / (1 + far**2 / runs)
    half = far * math.sqrt(share * (1 - share) / runs + (far / (2 * runs)) ** 2) / (1 + far**2 / runs)
    return Estimate(share, max(middle - half, 0), min(middle + half, 1), runs)


def in_percent(rate: Estimate) -> str:
    """Write a rate in percent, its interval behind it."""
    return f"{percent(rate.value)} {interval(rate.low, rate.high)}".strip()


def read_record(folder: Path, make: Callable[[dict[str, Any]], Made]) -> Made:
    """Return what `make` makes of sandbox.json in a folder; ValueError says what is wrong with it."""

    def checked(record: dict[str, Any]) -> Made:
        check_sandbox(record, "wrong row")
        return make(record)

    return read_json_record(folder / "sandbox.json", "the sandbox", "sandbox", checked)


def alpha(record: Record) -> float:
    """Return the nominal level of the rule that was tested."""
    return float(record.get("rule", {}).get("alpha", 0.05))


def tested_margin(record: Record) -> float:
    """Return the margin of the rule that was tested."""
    return float(record.get("rule", {}).get("margin", 0.0))


def power_rows(record: Record) -> list[Row]:
    """Return the cells of the power curves: by grade, role, margin and size."""
    rows = [
        {**row, "graded": rate_of(row.get("graded")), "coverage": _rates(row.get("coverage", {}))}
        for row in record.get("power", ())
    ]
    roles = list(dict.fromkeys(row["role"] for row in rows))
    return sorted(rows, key=lambda row: (row["grade"], roles.index(row["role"]), row["margin"], row["documents"]))


def null_rows(record: Record) -> list[Row]:
    """Return what is found where there is nothing to find, in the order of the record.

    Each row says `where`, has its `rates`, and how often margins' intervals hold the true values of all heads, `held`.
    """
    return [
        {
            **row,
            "where": row["null"],
            "rates": _rates(row["rates"]),
            "held": rate_of(row.get("coverage", {}).get("margin")),
        }
        for row in record.get("false", ())
    ]


def mixed_rows(record: Record) -> list[Row]:
    """Return what is falsely found beside planted heads, like `null_rows`; all roles of a run share these counts."""
    cells: dict[tuple[int, float, int], Row] = {}
    for row in record.get("power", ()):
        if row.get("false"):
            where = f"grade {row['grade']}, margin {percent(row['margin'])}"
            made = {**row, "where": where, "rates": _rates(row["false"]), "held": Estimate()}
            cells.setdefault((row["grade"], row["margin"], row["documents"]), made)
    return [cells[place] for place in sorted(cells)]


def _rates(found: Mapping[str, Any]) -> dict[str, Estimate]:
    return {name: rate_of(entry) for name, entry in found.items()}


def coverage_rows(power: Sequence[Row]) -> list[Row]:
    """Return how often the intervals of every quantity hold the true value at every size, all cells `pooled`.

    The interval of the mean is that of `runs` runs, for the heads of one run are not independent. `cells` have each
    row with its own rate.
    """
    rows = []
    for quantity in QUANTITIES:
        for documents in sizes(power):
            cells = [
                (row, rate)
                for row in power
                if row["documents"] == documents and (rate := row["coverage"].get(quantity, Estimate())).known
            ]
            if cells:
                runs_of = {(row["grade"], row["margin"]): row["runs"] for row, _ in cells}  # roles share them
                runs = sum(runs_of.values())
                pooled = counted(sum(rate.value for _, rate in cells) / len(cells), runs)
                found = {"quantity": quantity, "documents": documents, "runs": runs, "pooled": pooled, "cells": cells}
                rows.append(found)
    return rows


def sizes(rows: Iterable[Row]) -> list[int]:
    """Return the sizes that occur, in documents of either split."""
    return sorted({row["documents"] for row in rows})


def rate_names(rows: Iterable[Row]) -> list[str]:
    """Return the names of the rates that occur."""
    return list(dict.fromkeys(name for row in rows for name in row["rates"]))


def kind(name: str) -> str:
    """Return the name of a rate without its grade."""
    return name.partition(", grade ")[0]


def drawn_rates(rows: Iterable[Row]) -> list[str]:
    """Return the names of the rates that charts have; the others are in tables alone."""
    return [name for name in rate_names(rows) if kind(name) not in (LABEL, FDR, RIGHT_NO)]
