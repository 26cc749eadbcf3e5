"""The shapes of heads in a run: what observes its passes over the corpora, and the table of both splits."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Self

import pandas as pd
from pydantic import Field

from experiments.config.config import StudySection
from experiments.run.context import RunContext
from experiments.studies.study import ReadOfStudy, Result, Study
from probes.corpora.corpus import Texts
from probes.evidence.results import SPLITS
from probes.maps.shape_table import add_adjusted, shape_table
from probes.maps.shapes import Shapes


class ShapesSection(StudySection):
    """Whether attention statistics are measured: entropies, attention by distance and kind, sieves, classes."""

    table = "shapes"
    enabled: bool = True
    "Whether it is measured, in the pass in which heads are scored."
    threshold: float = Field(default=3.0, gt=0)
    "A head is said to have the bias of a sieve whose score is surely above this (Pande et al. 2021: 3; even: 1)."


@dataclass(frozen=True)
class ShapeStudy(Study[ShapesSection]):
    """The shapes of a model's heads on all that a run has it read."""

    name = "shapes"
    reads = ShapesSection

    @classmethod
    def open(cls, run: RunContext, section: ShapesSection) -> Self | None:
        """Return the study where it is asked for."""
        return cls(run, section) if section.enabled else None

    def observers(self, scope: str, split: str, texts: Texts) -> Sequence[Shapes]:
        """Return what sees the maps of a split."""
        return [Shapes(self.run.model, texts.ids())]

    def measure(self, read: ReadOfStudy) -> Result:
        """Return the shapes on all scopes and both splits."""
        frames = []
        for scored in read.parts:
            (select,), (report,) = (scored.observed(Shapes, split) for split in SPLITS)
            table = shape_table(select, report, self.run.effort, self.section.threshold)
            frames.append(table.assign(scope=scored.part.scope))
        return Result({"shapes": add_adjusted(pd.concat(frames, ignore_index=True))})
