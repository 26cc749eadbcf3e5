"""What a claim is: a sentence with its source, the config of its experiment, and the experiment."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pydantic import Field

from experiments.claims.record import ClaimResult
from experiments.config.config import NAME
from experiments.config.section import ConfigTable
from experiments.record.job import Job
from reports.progress import Progress


class ClaimSection(ConfigTable):
    """What the config of every claim has."""

    claim: str
    "Which claim: a name of `experiments.claims.run.registry.CLAIMS`."
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
    measure: Callable[[Any, Work], ClaimResult]
    "Called with a section of that type."
    revised: str = ""
    "Which of its rules changed after first numbers had been seen, in a sentence; empty where none did."
