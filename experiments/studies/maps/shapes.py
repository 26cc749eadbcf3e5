"""The shapes of heads in a run: what observes its passes over the corpora, and the table of both splits."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Self

import pandas as pd

from experiments.studies.study import Study, Surroundings
from probes.corpora.corpus import Texts
from probes.evidence.results import SPLITS
from probes.maps.shape_table import add_adjusted, shape_table
from probes.maps.shapes import Shapes


@dataclass(frozen=True)
class ShapeStudy(Study):
    """The shapes of a model's heads on all that a run has it read."""

    name = "shapes"
    run: Surroundings
    seen: dict[tuple[str, str], Shapes] = field(default_factory=dict)
    "What was measured of each scope and split."

    @classmethod
    def asked(cls, run: Surroundings) -> Self | None:
        """Return the study where it is not switched off."""
        return cls(run) if run.config.shapes.enabled else None

    def observer(self, scope: str, split: str, texts: Texts) -> Shapes:
        """Return what looks at the maps of a split."""
        self.seen[scope, split] = shapes = Shapes(self.run.model, texts.ids())
        return shapes

    def tables(self) -> dict[str, pd.DataFrame]:
        """Return the shapes on all scopes and both splits."""
        threshold, frames = self.run.config.shapes.threshold, []
        for scope in dict.fromkeys(scope for scope, _ in self.seen):
            select, report = (self.seen[scope, split] for split in SPLITS)
            frames.append(shape_table(select, report, self.run.effort, threshold).assign(scope=scope))
        return {"shapes": add_adjusted(pd.concat(frames, ignore_index=True))}
