"""What a run can measure of the heads beside their scores: the form that every measure has."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar, Self

import pandas as pd
from pydantic import Field, model_validator

from experiments.config.section import BehaviourNames, ConfigTable
from reports.measures.reported import Reported

if TYPE_CHECKING:
    from experiments.config.config import Config
    from experiments.run.behaviours import Behaviours
    from experiments.run.context import RunContext
    from experiments.run.scope import Scored
    from probes.corpora.corpus import Texts
    from probes.scoring.observers import Observer

Frames = Mapping[str, pd.DataFrame]
"Name of a table -> its rows, without columns of the run."


@dataclass(frozen=True)
class Read:
    """What a run has once the model has read all texts of all scopes."""

    parts: Sequence[Scored]
    rows: Sequence[pd.DataFrame]
    "What the measure itself has measured of these parts (`Measure.of_part`), in their order."
    measured: Mapping[type[Measure], Frames]
    "What those that the measure `needs` have measured."

    def of(self, measure: type[Measure]) -> Frames:
        """Return what another measure has measured, nothing where the run does not want it.

        Raises KeyError for one that `needs` does not name, since it may come later.
        """
        return self.measured[measure]

    @property
    def frames(self) -> list[pd.DataFrame]:
        """The scores of all parts."""
        return [frame for part in self.parts for frame in part.frames]


class Measure(ConfigTable, Reported):
    """Something that a run measures of the heads beside their scores; what it has no use for stays as it is here.

    Its fields are the keys of its table in a config. It imports what runs a model within its methods alone, for pages
    are written without.
    """

    needs: ClassVar[tuple[type[Measure], ...]] = ()
    "Those whose tables it takes into account, where the run has them."
    switch: ClassVar[str] = ""
    "The key without which it is not measured: while it is 0, no, or names nothing."
    more_switches: ClassVar[tuple[str, ...]] = ()
    "Keys with which its table asks for something else, that other measures read."

    @classmethod
    def of(cls, config: Config) -> Self:
        """Return it with the keys of its table in `config`; one without keys has no table there."""
        section = getattr(config, cls.name, None)
        return section if isinstance(section, cls) else cls()

    @property
    def codelength(self) -> bool:
        """Whether it takes the codelengths of trained probes."""
        return False

    @model_validator(mode="after")
    def _not_in_vain(self) -> Self:
        """Refuse keys of a table that asks for nothing, unless it says so itself."""
        keys, switches = self.model_fields_set, [key for key in (self.switch, *self.more_switches) if key]
        changed = [key for key in sorted(keys) if getattr(self, key) != getattr(type(self).model_construct(), key)]
        said = not keys.isdisjoint(switches) or any(getattr(self, key) for key in switches)
        if switches and changed and not said:
            raise ValueError(f"{', '.join(changed)}: nothing is measured without {' or '.join(switches)}")
        return self

    def check(self, config: Config) -> None:
        """Raise ValueError where another table of `config` does not fit this one."""

    def wanted(self, run: RunContext) -> bool:
        """Return whether the run is to measure it; raises where what it asks for cannot be done."""
        return not self.switch or bool(getattr(self, self.switch))

    def observers(self, run: RunContext, scope: str, split: str, texts: Texts) -> Sequence[Observer]:
        """Return what sees the maps of a split while its heads are scored."""
        return ()

    def of_part(self, run: RunContext, scored: Scored) -> Iterable[pd.DataFrame]:
        """Return rows that it measures of a part while the run is at it."""
        return ()

    def measure(self, run: RunContext, read: Read) -> Frames:
        """Return what it measures once all texts of all scopes have been read; names are keys of `tables`."""
        raise NotImplementedError


class BehaviourMeasure(Measure):
    """Something that a run measures of behaviours, where its config names any."""

    switch = "behaviours"

    behaviours: BehaviourNames = ()
    """"loss" and "embedding", on sentences of the report split, minimal pairs as in [behaviour], and files of labelled
    rows (`probes.causal.labels`), which the model's own classifier decides; "loss" and pairs take a model with a
    masked-LM head. Nothing is measured where nothing is said."""
    items: int = Field(default=500, ge=2)
    "Sentences, pairs or rows at the most of each behaviour."

    def opened(self, run: RunContext) -> Behaviours:
        """Return the behaviours; raises where one cannot be opened."""
        from experiments.run.behaviours import Behaviours

        return Behaviours.of(run, self.behaviours, self.items)

    def wanted(self, run: RunContext) -> bool:
        """Return whether behaviours are named; raises where one cannot be opened."""
        return super().wanted(run) and bool(self.opened(run))


def tables_of(**frames: Sequence[pd.DataFrame]) -> Frames:
    """Return the tables of which there are any rows, each from its parts."""
    kept = {name: [part for part in parts if len(part)] for name, parts in frames.items()}
    return {name: pd.concat(parts, ignore_index=True) for name, parts in kept.items() if parts}
