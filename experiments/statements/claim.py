"""What a claim is: a sentence with its source, the config of its experiment, the experiment, and what it finds."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from pydantic import Field

from experiments.config.config import NAME
from experiments.config.section import ConfigTable
from experiments.record.job import Job
from experiments.statements.estimates import Estimate, geometric_mean, mean_of
from reports.progress import Progress
from reports.statements.claim_record import ClaimMeasure, ClaimRecord, ConditionMean, Row
from reports.statements.statement import Number


class ClaimError(ValueError):
    """A claim that is unknown, or whose experiment gave something that cannot be compared."""


class ClaimSection(ConfigTable):
    """What the config of every claim has."""

    claim: str
    "Which claim: a name of `experiments.claims.study.CLAIMS`."
    name: str | None = Field(default=None, pattern=NAME)
    "Name of the claim's folder; that of the claim where nothing is said."

    @property
    def folder(self) -> str:
        """Name of the claim's folder."""
        return self.name or self.claim


@dataclass(frozen=True)
class Work:
    """Where an experiment puts what it makes, and how it tells how far it is."""

    out: Path
    "The folder of all claims."
    name: str
    "Of the claim's folder in it."
    job: Job
    progress: Progress
    resume: bool

    def part(self, name: str, make: Callable[[], Any]) -> Any:
        """Return a part of the experiment, numbers as JSON holds them: kept from a run that was cut off, or made."""
        return self.job.part(name, make)


@dataclass(frozen=True)
class Claim:
    """One claim of the textbooks."""

    name: str
    title: str
    sentence: str
    "The claim in our own words."
    source: str
    about: Sequence[str]
    "How it is measured, in paragraphs."
    limits: Sequence[str]
    "What the experiment cannot say."
    section: type[ClaimSection]
    measure: Callable[[Any, Work], ClaimRecord]
    "Called with a section of that type."
    revised: str = ""
    "Which of its rules changed after first numbers had been seen, in a sentence; empty where none did."


def claim_measure(
    name: str,
    unit: str,
    rows: Iterable[Row],
    repeat: Literal["seed", "round", "language", "count"] = "seed",
    axis: str = "",
    *,
    geometric: bool = False,
) -> ClaimMeasure:
    """Return a measure with the mean of every condition and place of its axis, in the order of the rows.

    With `geometric` rows are averaged as logarithms, as times and ratios are. What was counted once has no interval.
    """
    kept = tuple(rows)
    values: dict[tuple[str, float | None], list[float]] = {}
    for row in kept:
        values.setdefault((row.condition, row.at), []).append(row.value)
    means = {place: geometric_mean(found) if geometric else _mean(found, unit) for place, found in values.items()}
    cells = (ConditionMean(*place, Number.of(mean.recorded(), unit=unit)) for place, mean in means.items())
    return ClaimMeasure(name, unit, repeat, axis, tuple(cells), kept)


def _mean(found: Sequence[float], unit: str) -> Estimate:
    """Return the mean with its interval; that of shares does not leave 0 to 100 %."""
    shares = unit == "%" and min(found) >= 0 and max(found) <= 1
    return mean_of(found).within(0.0, 1.0) if shares else mean_of(found)


def rows_of(values: Mapping[int, float], condition: str, at: float | None = None) -> list[Row]:
    """Return one row a repeat."""
    return [Row(condition, at, repeat, value) for repeat, value in values.items()]


def rounds_of(values: Iterable[float], condition: str, at: float | None = None) -> list[Row]:
    """Return one row a round, numbered from 0."""
    return rows_of(dict(enumerate(values)), condition, at)
