"""The measures of a run: what each sees, adds to the parts, and measures once all texts have been read."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
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
from reports.tables.table import Table


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
class Measures:
    """The measures that a run wants, in the order in which they measure, with their rows of the parts so far."""

    run: RunContext
    wanted: Sequence[Measure]
    rows: dict[str, list[pd.DataFrame]] = field(default_factory=lambda: defaultdict(list))

    @classmethod
    def of(cls, run: RunContext) -> Self:
        """Return those that the config of a run wants; raises where one of them cannot be done."""
        made = (kind.of(run.config) for kind in in_order(measure_types()))
        return cls(run, [one for one in made if one.wanted(run)])

    @property
    def codelength(self) -> bool:
        """Whether any takes the codelengths of trained probes."""
        return any(one.codelength for one in self.wanted)

    def observers(self, scope: str, split: str, texts: Texts) -> Sequence[Observer]:
        """Return what sees the maps of a split while its heads are scored."""
        return [observer for one in self.wanted for observer in one.observers(self.run, scope, split, texts)]

    def add(self, scored: Scored) -> None:
        """Have every measure measure what it measures of a part while the run is at it."""
        for one in self.wanted:
            name, of_part = f"{one.name} ({scored.part.scope}s)", partial(_of_part, one, scored)
            self.rows[one.name] += self.run.part(name, of_part).values()

    def write(self, parts: Sequence[Scored], folder: Path) -> None:
        """Measure, and write all tables into the folder of the run; those that were kept are not measured again."""
        found: dict[type[Measure], Frames] = {}
        for one in self.wanted:
            read = Read(parts, self.rows[one.name], {needed: found.get(needed, {}) for needed in one.needs})
            with self.run.journal.stage(one.name):
                frames = self.run.part(one.name, partial(one.measure, self.run, read))
            found[type(one)] = frames
            write_measures({name: self._told(frame, one.tables[name]) for name, frame in frames.items()}, folder)

    def _told(self, frame: pd.DataFrame, table: Table) -> pd.DataFrame:
        """Return rows with the columns of the run; those of a table without name their models themselves."""
        rows = frame if len(frame) else pd.DataFrame(columns=[*table.names])
        return self.run.complete(rows) if "model" in table.dtypes else rows


def _of_part(measure: Measure, scored: Scored) -> Frames:
    return {str(number): rows for number, rows in enumerate(measure.of_part(scored.part.run, scored))}
