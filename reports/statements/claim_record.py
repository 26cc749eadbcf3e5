"""The records of claims as the page reads them: statements with verdicts, and measures with their cells."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from reports.formats import in_unit
from reports.messages import one_line
from reports.statements.claim_tables import CLAIM, check_claim
from reports.statements.figure import SCALE, Point
from reports.tables.estimate import Estimate

RECORD = "claim.json"
"Every folder of a claim holds one."


@dataclass(frozen=True)
class Number(Estimate):
    """A number with its 95 % interval and its unit; the ends are NaN where there is none."""

    unit: str = ""

    @classmethod
    def of(cls, entry: Mapping[str, Any], unit: str) -> Number:
        """Read a number as the record has it: what is missing is null."""
        value, low, high = (_value(entry[name]) for name in ("value", "low", "high"))
        return cls(value, low, high, int(entry["n"]), unit)

    @property
    def shown(self) -> str:
        """The number without its unit, with as many digits as its interval bears out."""
        return in_unit(self.value, self.unit, self._digits)

    @property
    def interval(self) -> str:
        """The interval in brackets, empty where there is none or where it has no width."""
        if math.isnan(self.low) or math.isnan(self.high) or self.low == self.high:
            return ""
        return f"[{in_unit(self.low, self.unit, self._digits)}, {in_unit(self.high, self.unit, self._digits)}]"

    def __str__(self) -> str:
        return " ".join(filter(None, (self.shown, self.unit, self.interval)))

    def point(self, place: float) -> Point:
        """Return it as a point of a figure, fractions in percent."""
        scale = SCALE.get(self.unit, 1.0)
        return place, scale * self.value, scale * self.low, scale * self.high

    @property
    def _digits(self) -> int | None:
        width = self.high - self.low
        if not math.isfinite(width) or width <= 0:
            return None
        return max(0, 1 - math.floor(math.log10(width)))


@dataclass(frozen=True)
class RecordedStatement:
    """A sentence with its verdict."""

    text: str
    number: str
    rule: str
    verdict: str
    estimate: Number
    kind: str
    why: str


@dataclass(frozen=True)
class ConditionMean:
    """The mean of a measure under one condition."""

    condition: str
    at: float | None
    number: Number


@dataclass(frozen=True)
class RecordedMeasure:
    """One quantity under all conditions."""

    name: str
    unit: str
    repeat: str
    axis: str
    cells: tuple[ConditionMean, ...]
    rows: tuple[tuple[str, float | None, float], ...]
    "Condition, place on the axis and value of every repeat."

    @property
    def conditions(self) -> list[str]:
        """The conditions, in the order of the record."""
        return list(dict.fromkeys(cell.condition for cell in self.cells))

    def repeats(self, condition: str) -> list[float]:
        """Return the repeats of a condition that is at no place of an axis, none where it is a single one."""
        found = [value for name, place, value in self.rows if (name, place) == (condition, None)]
        return found if len(found) > 1 else []

    @property
    def title(self) -> str:
        """Name and unit."""
        return f"{self.name[:1].upper()}{self.name[1:]}{f' ({self.unit})' if self.unit else ''}"


@dataclass(frozen=True)
class ClaimRecord:
    """One claim as its experiment left it."""

    record: Mapping[str, Any]
    statements: tuple[RecordedStatement, ...]
    measures: tuple[RecordedMeasure, ...]

    def __getattr__(self, name: str) -> Any:
        """Return an entry of the record, such as its title."""
        try:
            return self.record[name]
        except KeyError:
            raise AttributeError(name) from None

    @property
    def counted(self) -> list[RecordedStatement]:
        """The statements that could have failed."""
        return [statement for statement in self.statements if statement.kind == CLAIM]

    @property
    def uncounted(self) -> list[RecordedStatement]:
        """Identities and measurements."""
        return [statement for statement in self.statements if statement.kind != CLAIM]


def read_claims(folder: Path) -> list[ClaimRecord]:
    """Return every claim in the folders of `folder`, by name of folder; raises ValueError where one is not whole."""
    return [read_claim(path) for path in sorted(folder.glob(f"*/{RECORD}"))]


def read_claim(path: Path) -> ClaimRecord:
    """Return the claim whose record lies at `path`; raises ValueError where it is not whole."""
    try:
        record = json.loads(path.read_text(encoding="utf-8"))
        check_claim(record, "wrong row")
        statements = tuple(_statement(one) for one in record["statements"])
        return ClaimRecord(record, statements, tuple(_measure(one) for one in record["measures"]))
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        what = f"not the record of a claim ({type(error).__name__}: {error}); make it again with 'headscope claim'"
        raise ValueError(one_line(f"{path}: {what}")) from error


def _statement(found: Mapping[str, Any]) -> RecordedStatement:
    estimate = Number.of(found, found["unit"])
    text, number, rule, verdict = (found[name] for name in ("text", "number", "rule", "verdict"))
    return RecordedStatement(text, number, rule, verdict, estimate, found["kind"], found["why"])


def _measure(found: Mapping[str, Any]) -> RecordedMeasure:
    unit = found["unit"]
    cells = tuple(ConditionMean(one["condition"], one["at"], Number.of(one, unit)) for one in found["cells"])
    rows = tuple((one["condition"], one["at"], _value(one["value"])) for one in found["rows"])
    return RecordedMeasure(found["name"], unit, found["repeat"], found["axis"], cells, rows)


def _value(found: float | None) -> float:
    return math.nan if found is None else float(found)


def ordered(claims: Sequence[ClaimRecord], order: Sequence[str]) -> list[ClaimRecord]:
    """Return the claims in the order of their names in `order`, unknown ones at the end."""
    return sorted(claims, key=lambda one: (order.index(one.claim) if one.claim in order else len(order), one.name))
