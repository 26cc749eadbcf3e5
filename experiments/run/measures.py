"""The measures of a run: what each sees, adds to the parts, and measures once all texts have been read."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Self

import pandas as pd

from experiments.run.context import RunContext
from experiments.run.measure import Frames, Measure, Read
from experiments.run.scope import Scored
from probes.corpora.corpus import Texts
from probes.scoring.observers import Observer
from reports.measures.registry import MeasureError, measures, write_measures


def measure_types() -> tuple[type[Measure], ...]:
    """Return all measures that are known, in the order of a page."""
    return tuple(one for one in measures() if issubclass(one, Measure))


def in_order(kinds: Sequence[type[Measure]]) -> Iterator[type[Measure]]:
    """Yield measures as they stand, but each after those that it needs; MeasureError where that is a circle."""
    left = list(kinds)
    while left:
        ready = next((one for one in left if not {*one.needs} & {*left} - {one}), None)
        if ready is None:
            raise MeasureError(f"measures need the results of each other: {', '.join(one.name for one in left)}")
        left.remove(ready)
        yield ready


@dataclass(frozen=True)
class RunMeasure:
    """A measure that a run wants, with the rows that it has measured of the parts so far."""

    measure: Measure
    run: RunContext
    rows: list[pd.DataFrame] = field(default_factory=list)

    def observers(self, scope: str, split: str, texts: Texts) -> Sequence[Observer]:
        """Return what sees the maps of a split while its heads are scored."""
        return self.measure.observers(self.run, scope, split, texts)

    def add(self, scored: Scored) -> None:
        """Have it measure what it measures of a part."""
        name = f"{self.measure.name} ({scored.part.scope}s)"
        self.rows.extend(self.run.kept.tables(name, self.run.journal, partial(self._of_part, scored)).values())

    def _of_part(self, scored: Scored) -> Frames:
        return {str(number): rows for number, rows in enumerate(self.measure.of_part(self.run, scored))}

    def frames(self, parts: Sequence[Scored], measured: Mapping[type[Measure], Frames]) -> Frames:
        """Return its tables; those of an interrupted run are not measured again."""
        read = Read(parts, self.rows, {one: measured.get(one, {}) for one in self.measure.needs})
        return self.run.kept.tables(self.measure.name, self.run.journal, lambda: self.measure.measure(self.run, read))


@dataclass(frozen=True)
class Measures:
    """The measures that a run wants, in the order in which they measure."""

    run: RunContext
    wanted: Sequence[RunMeasure]

    @classmethod
    def of(cls, run: RunContext) -> Self:
        """Return those that the config of a run wants; raises where one of them cannot be done."""
        made = (kind.of(run.config) for kind in in_order(measure_types()))
        return cls(run, [RunMeasure(one, run) for one in made if one.wanted(run)])

    def __iter__(self) -> Iterator[RunMeasure]:
        """Yield them in the order in which they measure."""
        return iter(self.wanted)

    @property
    def codelength(self) -> bool:
        """Whether any takes the codelengths of trained probes."""
        return any(one.measure.codelength for one in self.wanted)

    def add(self, scored: Scored) -> None:
        """Have every measure measure what it measures of a part while the run is at it."""
        for one in self.wanted:
            one.add(scored)

    def write(self, parts: Sequence[Scored], folder: Path) -> None:
        """Measure, and write all tables into the folder of the run."""
        found: dict[type[Measure], Frames] = {}
        for one in self.wanted:
            with self.run.journal.stage(one.measure.name):
                frames = found[type(one.measure)] = one.frames(parts, found)
            known = one.measure.tables
            of_run = {name for name in frames if "model" in known[name].dtypes}  # others name the models of their rows
            rows = {name: self.run.complete(frame) if name in of_run else frame for name, frame in frames.items()}
            write_measures(rows, folder)
