"""The studies of a run: adding one takes its class here, its tables and its section of the page in `reports`."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, Final, Self

import pandas as pd

from experiments.run.context import RunContext
from experiments.run.scope import Scored
from experiments.studies.causal.ablation import AblationStudy
from experiments.studies.causal.gates import GateStudy
from experiments.studies.causal.importance import ImportanceStudy
from experiments.studies.causal.link import LinkStudy
from experiments.studies.causal.patching import PatchingStudy
from experiments.studies.causal.pruning import PruningStudy
from experiments.studies.causal.transfer import TransferStudy
from experiments.studies.maps.chains import ChainStudy
from experiments.studies.maps.confusion import ConfusionStudy
from experiments.studies.maps.counts import HitCounts
from experiments.studies.maps.deciles import DecileStudy
from experiments.studies.maps.drift import DriftStudy
from experiments.studies.maps.explained import ExplainedStudy
from experiments.studies.maps.relatedness import RelatednessStudy
from experiments.studies.maps.shapes import ShapeStudy
from experiments.studies.maps.sinks import SinkStudy
from experiments.studies.study import ReadOfStudy, Result, Results, Study
from reports import write_measures

STUDIES: Final[tuple[type[Study[Any]], ...]] = (
    ShapeStudy,
    SinkStudy,
    DecileStudy,
    ConfusionStudy,
    ChainStudy,
    RelatednessStudy,
    PatchingStudy,
    TransferStudy,
    AblationStudy,
    ImportanceStudy,
    PruningStudy,
    GateStudy,
    LinkStudy,
    DriftStudy,
    ExplainedStudy,
    HitCounts,
)
"In the order of the tables of a config."


def in_order(studies: Sequence[type[Study[Any]]]) -> Iterator[type[Study[Any]]]:
    """Yield studies as they stand, but each after those whose results it needs; ValueError where that is a circle."""
    left = list(studies)
    while left:
        waiting = {
            study: [other for other in left if other is not study and other.gives in study.needs] for study in left
        }
        ready = next((study for study, others in waiting.items() if not others), None)
        if ready is None:
            raise ValueError(f"studies need the results of each other: {', '.join(study.name for study in left)}")
        left.remove(ready)
        yield ready


@dataclass(frozen=True)
class Studies:
    """The studies of one run, each with the rows that it has measured of the parts so far."""

    run: RunContext
    opened: Sequence[tuple[Study[Any], list[pd.DataFrame]]]

    @classmethod
    def of(cls, run: RunContext) -> Self:
        """Open the studies that the config of a run wants."""
        opened = (
            study.open(run, None if study.reads is None else study.reads.of(run.config)) for study in in_order(STUDIES)
        )
        return cls(run, [(study, []) for study in opened if study is not None])

    def __iter__(self) -> Iterator[Study[Any]]:
        """Yield the studies in the order in which they measure."""
        return (study for study, _ in self.opened)

    def add(self, scored: Scored) -> None:
        """Have every study measure what it measures of a part while the run is at it."""
        for study, rows in self.opened:
            name = f"{study.name} ({scored.part.scope}s)"
            rows += self.run.kept.tables(name, self.run.journal, partial(_of_part, study, scored)).values()

    def write(self, parts: Sequence[Scored], folder: Path) -> None:
        """Measure, and write the tables of all studies into the folder of their run."""
        results: list[Result] = []
        for study, rows in self.opened:
            with self.run.journal.stage(study.name):
                read = ReadOfStudy(parts, rows, Results(results, study.needs))
                tables = self.run.kept.tables(study.name, self.run.journal, partial(_measured, study, read))
                result = study.gives(tables)
            write_measures({name: self.run.complete(frame) for name, frame in result.tables.items()}, folder)
            results.append(result)


def _of_part(study: Study[Any], scored: Scored) -> Mapping[str, pd.DataFrame]:
    return {str(number): rows for number, rows in enumerate(study.of_part(scored))}


def _measured(study: Study[Any], read: ReadOfStudy) -> Mapping[str, pd.DataFrame]:
    return study.measure(read).tables
