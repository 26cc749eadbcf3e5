"""A part of a run whose heads have been scored."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeVar

import pandas as pd

from probes.evidence.results import Split
from probes.scoring.observers import Observer

if TYPE_CHECKING:
    from experiments.studies.scope import Part

Looker = TypeVar("Looker", bound=Observer)
"A kind of observer."


@dataclass(frozen=True)
class Scored:
    """A part of a run whose heads have been scored."""

    part: Part
    scores: pd.DataFrame
    splits: Sequence[Split]
    "The sums that the scores come from."
    trained: Sequence[pd.DataFrame]
    "The scores of trained probes, where the config wants them."
    observers: Mapping[str, Sequence[Observer]]
    "Split, or name of a control -> what has seen its maps: of all studies; of a control's only the report split."

    @property
    def frames(self) -> list[pd.DataFrame]:
        """All scores: those of the heads, then those of trained probes."""
        return [self.scores, *self.trained]

    def observed(self, kind: type[Looker], split: str) -> list[Looker]:
        """Return the observers of a kind that have seen the maps of a split, or of a control; none where it was not."""
        return [one for one in self.observers.get(split, ()) if isinstance(one, kind)]
