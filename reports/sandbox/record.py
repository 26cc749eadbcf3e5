"""The record of the sandbox as rows with intervals: power, false finds, coverage."""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from scipy import stats

from reports.formats import interval, percent
from reports.messages import one_line
from reports.sandbox.tables import check_sandbox

Record = Mapping[str, Any]

ANY = "any false find in a run"
"The rate of false finds after all corrections; its grade stands behind it."

LABEL, FDR = "family-wise within a label", "labels with a false find, of labels with a find"
"The same after the correction for heads alone, and the false discovery rate."

WRONG_NO, RIGHT_NO = "no, where a head has the lead", "no, where no head has the lead"
"Rates of the verdict no: wrong and right."

QUANTITIES = ("accuracy", "mass", "margin")
"What has a 95 % interval."


@dataclass(frozen=True)
class Rate:
    """A share with its 95 % Monte-Carlo interval, fractions of 1; NaN where it was not measured."""

    value: float = math.nan
    low: float = math.nan
    high: float = math.nan

    @classmethod
    def of(cls, entry: Mapping[str, Any] | None) -> Rate:
        """Read a rate of the record; one that is missing is NaN."""
        return cls(*(float(entry[name]) for name in ("rate", "low", "high"))) if entry else cls()

    @classmethod
    def counted(cls, share: float, runs: int) -> Rate:
        """Return a share of so many runs with Wilson's interval, which holds also where the share is a mean of shares.

        The mean of shares that are measured on the same runs varies no more than one share of that many runs.
        """
        if not runs or math.isnan(share):
            return cls()
        far = float(stats.norm.ppf(0.975))
        middle = (share + far**2 / (2 * runs)) / (1 + far**2 / runs)
        half = far * math.sqrt(share * (1 - share) / runs + (far / (2 * runs)) ** 2) / (1 + far**2 / runs)
        return cls(share, max(middle - half, 0), min(middle + half, 1))

    @property
    def known(self) -> bool:
        """Whether it was measured."""
        return not math.isnan(self.value)

    @property
    def drawn(self) -> tuple[float, float, float]:
        """The share and the ends of its interval in percent."""
        return 100 * self.value, 100 * self.low, 100 * self.high

    def __str__(self) -> str:
        return f"{percent(self.value)} {interval(self.low, self.high)}".strip()


@dataclass(frozen=True)
class Power:
    """How often the planted head of one role, grade and margin is found at one size."""

    role: str
    grade: int
    margin: float
    "The lead over all rivals up to the grade that was wanted."
    true_margin: float
    documents: int
    items: float
    runs: int
    graded: Rate
    "How often it has the grade."
    coverage: Mapping[str, Rate]
    "Quantity -> how often its interval holds the true value."


@dataclass(frozen=True)
class FalseFinds:
    """How often something untrue is claimed in one cell."""

    where: str
    "The null hypothesis, or what is planted beside the null heads."
    documents: int
    runs: int
    heads: int | None
    labels: int | None
    rates: Mapping[str, Rate]
    coverage: Rate = Rate()
    "How often the intervals of margins hold the true values of all heads."


@dataclass(frozen=True)
class Coverage:
    """How often the intervals of one quantity hold the true value at one size, all roles and margins together."""

    quantity: str
    documents: int
    runs: int
    pooled: Rate
    "Mean over cells; its interval is that of `runs` runs, for the heads of one run are not independent."
    cells: tuple[tuple[Power, Rate], ...]

    @property
    def lowest(self) -> tuple[Power, Rate]:
        """The cell whose intervals hold least often."""
        return min(self.cells, key=lambda cell: cell[1].value)

    @property
    def highest(self) -> tuple[Power, Rate]:
        """The cell whose intervals hold most often."""
        return max(self.cells, key=lambda cell: cell[1].value)


def read_record(folder: Path) -> dict[str, Any]:
    """Read sandbox.json of a folder, which must hold one JSON object."""
    path = folder / "sandbox.json"
    if not path.is_file():
        raise FileNotFoundError(f"{path}: no such file; make one with 'headscope sandbox'")
    try:
        record = json.loads(path.read_text(encoding="utf-8"))
    except (ValueError, RecursionError) as error:
        line = getattr(error, "lineno", 1)
        raise ValueError(f"{path}:{line}: not valid JSON ({error}); make it again with 'headscope sandbox'") from error
    if not isinstance(record, dict):
        got = type(record).__name__
        raise ValueError(f"{path}: expected a JSON object, got {got}; make it again with 'headscope sandbox'")
    try:
        check_sandbox(record, str(path))
    except (KeyError, TypeError, AttributeError, UnicodeError) as error:  # the last of characters that no text has
        raise not_a_record(path, error) from error
    return record


def alpha(record: Record) -> float:
    """Return the nominal level of the rule that was tested."""
    return float(record.get("rule", {}).get("alpha", 0.05))


def tested_margin(record: Record) -> float:
    """Return the margin of the rule that was tested."""
    return float(record.get("rule", {}).get("margin", 0.0))


def not_a_record(path: Path, error: Exception) -> ValueError:
    """Return what is said of a record that is not whole."""
    what = f"not a record of the sandbox ({type(error).__name__}: {error}); make it again with 'headscope sandbox'"
    return ValueError(one_line(f"{path}: {what}"))


def power_rows(record: Record) -> list[Power]:
    """Return the cells of the power curves: by grade, role, margin and size."""
    rows = [
        Power(
            role=str(row["role"]),
            grade=int(row["grade"]),
            margin=float(row["margin"]),
            true_margin=float(row["true_margin"]),
            documents=int(row["documents"]),
            items=float(row["items"]),
            runs=int(row["runs"]),
            graded=Rate.of(row.get("graded")),
            coverage={name: Rate.of(entry) for name, entry in row.get("coverage", {}).items()},
        )
        for row in record.get("power", ())
    ]
    roles = list(dict.fromkeys(row.role for row in rows))
    return sorted(rows, key=lambda row: (row.grade, roles.index(row.role), row.margin, row.documents))


def null_rows(record: Record) -> list[FalseFinds]:
    """Return what is found where there is nothing to find, in the order of the record."""
    return [
        replace(
            _false_finds(str(row["null"]), row, row.get("heads"), row.get("labels"), row["rates"]),
            coverage=Rate.of(row.get("coverage", {}).get("margin")),
        )
        for row in record.get("false", ())
    ]


def mixed_rows(record: Record) -> list[FalseFinds]:
    """Return what is falsely found beside planted heads; all roles of a run share these counts."""
    cells: dict[tuple[int, float, int], Mapping[str, Any]] = {}
    for row in record.get("power", ()):
        if row.get("false"):
            cells.setdefault((int(row["grade"]), float(row["margin"]), int(row["documents"])), row)
    return [
        _false_finds(f"grade {grade}, margin {percent(margin)}", row, None, None, row["false"])
        for (grade, margin, _), row in sorted(cells.items())
    ]


def _false_finds(
    where: str, row: Mapping[str, Any], heads: int | None, labels: int | None, rates: Mapping[str, Any]
) -> FalseFinds:
    counted = {name: Rate.of(entry) for name, entry in rates.items()}
    return FalseFinds(where, int(row["documents"]), int(row["runs"]), heads, labels, counted)


def coverage_rows(power: Sequence[Power]) -> list[Coverage]:
    """Return the coverage of every quantity at every size."""
    rows = []
    for quantity in QUANTITIES:
        for documents in sizes(power):
            cells = [row for row in power if row.documents == documents and row.coverage.get(quantity, Rate()).known]
            if cells:
                rows.append(_pooled(quantity, documents, cells))
    return rows


def _pooled(quantity: str, documents: int, cells: Sequence[Power]) -> Coverage:
    runs = sum({(row.grade, row.margin): row.runs for row in cells}.values())  # roles share the runs of a margin
    held = [(row, row.coverage[quantity]) for row in cells]
    mean = sum(rate.value for _, rate in held) / len(held)
    return Coverage(quantity, documents, runs, Rate.counted(mean, runs), tuple(held))


def sizes(rows: Iterable[Power | FalseFinds]) -> list[int]:
    """Return the sizes that occur, in documents of either split."""
    return sorted({row.documents for row in rows})


def rate_names(rows: Iterable[FalseFinds]) -> list[str]:
    """Return the names of the rates that occur."""
    return list(dict.fromkeys(name for row in rows for name in row.rates))


def kind(name: str) -> str:
    """Return the name of a rate without its grade."""
    return name.partition(", grade ")[0]


def drawn_rates(rows: Iterable[FalseFinds]) -> list[str]:
    """Return the names of the rates that charts have; the others are in tables alone."""
    return [name for name in rate_names(rows) if kind(name) not in (LABEL, FDR, RIGHT_NO)]
