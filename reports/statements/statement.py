"""Statements: a sentence, the number that decides it, and the rule that turns an interval into a verdict."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Final, Literal, TypeVar

from reports.formats import cost, in_unit
from reports.messages import one_line
from reports.statements.figure import SCALE, Point
from reports.tables.estimate import Estimate
from reports.tables.shared_columns import UNIT, ends, number, text, whole
from reports.tables.table import Table

Made = TypeVar("Made")

HOLDS, FAILS, OPEN = VERDICTS = ("holds", "does not hold", "not decided")
"On a statement."

CLAIM, KINDS = "claim", ("claim", "identity", "measurement")
"What a statement can be; claims alone are counted."

UNIT_OF: Final = replace(UNIT, meaning="Unit of the numbers; % stands for fractions, which pages write in percent.")
N: Final = whole("n", "Number of repeats that the number is a mean of.")

STATEMENTS: Final = Table(
    "One row for each statement of a claim, with the number and the rule that decide it.",
    ("text", "number"),
    (
        replace(text("text", "The statement, a sentence that is true or not."), title="statement"),
        text("number", "What the number is that decides the statement."),
        UNIT_OF,
        text("rule", "Range in which the whole 95 % interval must lie."),
        number("value", "The number, in its unit; missing where nothing was measured.", None, "", cost),
        *ends("", "the number", cost),
        N,
        text("verdict", "What the rule makes of the interval.", VERDICTS),
        text("kind", "A claim is counted; what holds by arithmetic is not, nor a number that decides nothing.", KINDS),
        text("why", "Why it is not counted; empty for a claim."),
    ),
)


@dataclass(frozen=True)
class Rule:
    """A statement holds where the whole interval lies in a range, and does not hold where all of it lies outside.

    The ends themselves are outside: an interval without width at `above` does not hold.
    """

    above: float | None = None
    below: float | None = None
    unit: str = "points"
    'Of the number that decides: "points" and "%" say that it is a fraction; else what it is in.'

    def __post_init__(self) -> None:
        """Refuse a range that has no end or no room."""
        if self.above is None and self.below is None:
            raise ValueError("a rule has an end: above, below, or both")
        if self.above is not None and self.below is not None and self.above >= self.below:
            raise ValueError(f"the range from {self.above} to {self.below} is empty")

    def verdict(self, estimate: Estimate) -> str:
        """Return one of VERDICTS; "not decided" also where there is no interval."""
        low, high = estimate.low, estimate.high
        if math.isnan(low) or math.isnan(high):
            return OPEN
        least = -math.inf if self.above is None else self.above
        most = math.inf if self.below is None else self.below
        if least < low and high < most:
            return HOLDS
        return FAILS if high <= least or low >= most else OPEN

    def words(self) -> str:
        """Return the rule as a sentence; of fractions that are told in percent or points its ends are told so, too."""
        scale, behind = {"%": (100, " %"), "points": (100, " points")}.get(self.unit, (1, ""))
        least, most = (None if end is None else f"{scale * end:g}{behind}" for end in (self.above, self.below))
        if least is not None and most is not None:
            inside, outside = f"between {least} and {most}", "outside of that"
        elif least is not None:
            inside, outside = f"above {least}", f"at {least} or below"
        else:
            inside, outside = f"below {most}", f"at {most} or above"
        return (
            f"Holds if the whole 95 % interval lies {inside}, does not hold if all of it lies {outside}, "
            "else not decided."
        )


@dataclass(frozen=True)
class Number(Estimate):
    """A number with its 95 % interval and its unit; the ends are NaN where there is none."""

    unit: str = ""

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
class JudgedStatement:
    """A sentence that is true or not, the number that decides it, and the verdict."""

    text: str
    number: str
    "What the number is."
    rule: str
    "In words."
    verdict: str
    estimate: Number
    kind: str = CLAIM
    "Only claims are counted: an identity holds by arithmetic, on a measurement of random numbers nothing hangs."
    why: str = ""
    "Why it is not counted."

    def __post_init__(self) -> None:
        """Refuse what is not counted without a reason."""
        if (self.kind == CLAIM) != (not self.why):
            raise ValueError(f"{self.text!r}: what is no claim says why, and only that")

    @classmethod
    def of(cls, entry: Mapping[str, Any]) -> JudgedStatement:
        """Read a statement from JSON."""
        told = {name: entry[name] for name in ("text", "number", "rule", "verdict", "kind", "why")}
        return cls(**told, estimate=Number.of(entry, unit=entry["unit"]))

    def recorded(self) -> dict[str, Any]:
        """Return the statement as JSON has it, a row of STATEMENTS."""
        row = vars(self) | {"unit": self.estimate.unit} | self.estimate.recorded()
        return {name: row[name] for name in STATEMENTS.names}


def judged(
    text: str,
    number: str,
    estimate: Estimate,
    rule: Rule,
    *,
    kind: Literal["claim", "identity", "measurement"] = "claim",
    why: str = "",
) -> JudgedStatement:
    """Return a statement with what the rule makes of the interval; that of shares ends where shares can, once told."""
    limits = {"%": (0.0, 1.0), "points": (-1.0, 1.0)}.get(rule.unit)
    told = estimate if limits is None else estimate.within(*limits)
    shown = Number.of(told.recorded(), unit=rule.unit)
    return JudgedStatement(text, number, rule.words(), rule.verdict(estimate), shown, kind, why)


def read_json_record(path: Path, what: str, command: str, make: Callable[[dict[str, Any]], Made]) -> Made:
    """Return what `make` makes of the JSON object at `path`, the record of `what`, which a command of headscope writes.

    Raises FileNotFoundError where there is none, and ValueError where it is no JSON object or `make` refuses it.
    """
    if not path.is_file():
        raise FileNotFoundError(f"{path}: no such file; make one with 'headscope {command}'")
    try:
        record = json.loads(path.read_text(encoding="utf-8"))
        if not isinstance(record, dict):
            raise TypeError(f"expected a JSON object, got {type(record).__name__}")
        return make(record)
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        where = f"{path}:{error.lineno}" if isinstance(error, json.JSONDecodeError) else str(path)
        said = f"not the record of {what} ({type(error).__name__}: {error}); make it again with 'headscope {command}'"
        raise ValueError(one_line(f"{where}: {said}")) from error
