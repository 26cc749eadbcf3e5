"""What a run can measure of the heads beside their scores: the form that every study has."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar, Generic, Self, TypeVar

import pandas as pd

from experiments.config.config import StudySection
from experiments.run.context import RunContext
from experiments.run.scope import Scored
from probes.corpora.corpus import Texts
from probes.scoring.observers import Observer

SectionT = TypeVar("SectionT", bound=StudySection | None)
"The table of the config that a study reads; None for a study without one."

ResultT = TypeVar("ResultT", bound="Result")


@dataclass(frozen=True)
class Result:
    """What a study has measured; a kind of its own where another study needs it."""

    tables: Mapping[str, pd.DataFrame]
    "Name of a table (`reports.studies.registry`) -> rows, without columns of the run."


class Results:
    """What the studies that a study `needs` have measured, by kind of result."""

    def __init__(self, results: Iterable[Result], needs: Sequence[type[Result]]) -> None:
        self._results, self._needs = {type(one): one for one in results}, needs

    def of(self, kind: type[ResultT]) -> ResultT | None:
        """Return the result of a kind, None where the run has none; TypeError for a kind that `needs` does not name."""
        if kind not in self._needs:
            raise TypeError(f"{kind.__name__} is not among what the study needs, so it may come later")
        result = self._results.get(kind)
        assert result is None or isinstance(result, kind)
        return result


@dataclass(frozen=True)
class ReadOfStudy:
    """What a run has once the model has read all texts of all scopes."""

    parts: Sequence[Scored]
    rows: Sequence[pd.DataFrame]
    "What the study itself has measured of these parts (`Study.of_part`), in their order."
    results: Results


@dataclass(frozen=True)
class Study(Generic[SectionT]):
    """Something that a run measures of the heads beside their scores; what it has no use for stays as it is here.

    No method changes the study: what a run has read, and what other studies have measured, is handed to `measure`.
    """

    run: RunContext
    section: SectionT

    name: ClassVar[str]
    "As the stages of the run call it."
    reads: ClassVar[type[StudySection] | None] = None
    "The table of the config that is its `section`."
    needs: ClassVar[Sequence[type[Result]]] = ()
    "Results of other studies that it takes into account, where the run has them."
    gives: ClassVar[type[Result]] = Result
    "The kind of its result."

    @classmethod
    def open(cls, run: RunContext, section: SectionT) -> Self | None:
        """Return the study, or None where its section wants none; raises where what it wants cannot be done."""
        raise NotImplementedError

    @property
    def codelength(self) -> bool:
        """Whether it takes the codelengths of trained probes."""
        return False

    def observers(self, scope: str, split: str, texts: Texts) -> Sequence[Observer]:
        """Return what sees the maps of a split while its heads are scored."""
        return ()

    def of_part(self, scored: Scored) -> Sequence[pd.DataFrame]:
        """Return rows that it measures of a part while the run is at it."""
        return ()

    def measure(self, read: ReadOfStudy) -> Result:
        """Return what it measures once all texts of all scopes have been read."""
        raise NotImplementedError
