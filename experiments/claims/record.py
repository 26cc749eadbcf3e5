"""What a claim leaves behind: measured rows, statements with their verdicts, and what limits them."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any, Literal

from experiments.statements.estimates import Estimate, geometric_mean, mean_of
from experiments.statements.rule import Rule


class ClaimError(ValueError):
    """A claim that is unknown, or whose experiment gave something that cannot be compared."""


@dataclass(frozen=True)
class Row:
    """One measured number."""

    condition: str
    at: float | None
    "Where on the axis of the measure, such as a length; None where it has no axis."
    repeat: int
    "Seed or round."
    value: float


@dataclass(frozen=True)
class ClaimMeasure:
    """One quantity under all conditions."""

    name: str
    unit: str
    'What numbers are in; "%" says that they are fractions which pages write in percent.'
    rows: tuple[Row, ...]
    repeat: Literal["seed", "round", "count"] = "seed"
    '"count" for what was counted once: it has no interval.'
    axis: str = ""
    "What `at` is."
    geometric: bool = False
    "Whether rows are averaged as logarithms, as times and ratios are."

    def cells(self) -> list[dict[str, Any]]:
        """Return the mean with its interval for every condition and place of the axis, in the order of the rows."""
        values: dict[tuple[str, float | None], list[float]] = {}
        for row in self.rows:
            values.setdefault((row.condition, row.at), []).append(row.value)
        return [
            {"condition": condition, "at": at} | _plain(asdict(self._mean(found)))
            for (condition, at), found in values.items()
        ]

    def _mean(self, found: Sequence[float]) -> Estimate:
        """Return the mean with its interval; that of shares does not leave 0 to 100 %."""
        if self.geometric:
            return geometric_mean(found)
        shares = self.unit == "%" and min(found) >= 0 and max(found) <= 1
        return mean_of(found).within(0.0, 1.0) if shares else mean_of(found)

    def recorded(self) -> dict[str, Any]:
        """Return the measure as JSON has it."""
        about = {"name": self.name, "unit": self.unit, "repeat": self.repeat, "axis": self.axis}
        return about | {"cells": self.cells(), "rows": [_plain(asdict(row)) for row in self.rows]}


@dataclass(frozen=True)
class ClaimStatement:
    """A sentence that is true or not, the number that decides it, and the verdict."""

    text: str
    number: str
    "What the number is."
    estimate: Estimate
    rule: Rule
    kind: Literal["claim", "identity", "measurement"] = "claim"
    "Only claims are counted: an identity holds by arithmetic, on a measurement of random numbers nothing hangs."
    why: str = ""
    "Why it is not counted."

    def __post_init__(self) -> None:
        """Refuse what is not counted without a reason."""
        if (self.kind == "claim") != (not self.why):
            raise ValueError(f"{self.text!r}: what is no claim says why, and only that")

    @property
    def verdict(self) -> str:
        """What the rule makes of the interval."""
        return self.rule.verdict(self.estimate)

    def recorded(self) -> dict[str, Any]:
        """Return the statement as JSON has it; intervals of shares, and of their differences, end where these can."""
        about = {"text": self.text, "number": self.number, "unit": self.rule.unit, "rule": self.rule.words()}
        ends = {"%": (0.0, 1.0), "points": (-1.0, 1.0)}.get(self.rule.unit)
        estimate = self.estimate if ends is None else self.estimate.within(*ends)
        return about | _plain(asdict(estimate)) | {"verdict": self.verdict, "kind": self.kind, "why": self.why}


@dataclass(frozen=True)
class ClaimResult:
    """What the experiment of a claim found."""

    measures: Sequence[ClaimMeasure]
    statements: Sequence[ClaimStatement]
    noticed: Sequence[str] = field(default_factory=tuple)
    "Sentences about the numbers that no statement says."

    def recorded(self) -> dict[str, Any]:
        """Return everything as JSON has it."""
        return {
            "statements": [one.recorded() for one in self.statements],
            "noticed": list(self.noticed),
            "measures": [one.recorded() for one in self.measures],
        }


def rows_of(values: Mapping[int, float], condition: str, at: float | None = None) -> list[Row]:
    """Return one row a repeat."""
    return [Row(condition, at, repeat, value) for repeat, value in values.items()]


def rounds_of(values: Iterable[float], condition: str, at: float | None = None) -> list[Row]:
    """Return one row a round, numbered from 0."""
    return rows_of(dict(enumerate(values)), condition, at)


def _plain(numbers: Mapping[str, Any]) -> dict[str, Any]:
    """Return numbers as JSON can hold them: what is missing is null."""
    return {name: None if isinstance(one, float) and math.isnan(one) else one for name, one in numbers.items()}
