"""How much behaviours change with single attention weights, in a run."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Self

import pandas as pd
from pydantic import Field

from experiments.config.config import StudySection
from experiments.config.section import BehaviourNames
from experiments.studies.causal.behaviours import Behaviours
from experiments.studies.study import Read, Result, Study
from experiments.studies.surroundings import Surroundings
from probes.causal.slopes import slope_table, weight_slopes


class SlopesSection(StudySection):
    """How much behaviours change with single attention weights, by what they are on (Clark et al. 2019)."""

    table = "slopes"
    behaviours: BehaviourNames = ()
    "As in [ablation]; slopes are not measured where nothing is said."
    items: int = Field(default=500, ge=2)
    "Sentences, or pairs, at the most of each behaviour."
    directions: int = Field(default=8, ge=1)
    "Random directions in which sentence embeddings are followed."


@dataclass(frozen=True)
class SlopeStudy(Study[SlopesSection]):
    """The slopes of behaviours by the attention weights of all heads."""

    name = "slopes"
    reads = SlopesSection
    behaviours: Behaviours

    @classmethod
    def open(cls, run: Surroundings, section: SlopesSection) -> Self | None:
        """Return the study where its section names behaviours."""
        return cls(run, section, Behaviours.of(run, section.behaviours, section.items)) if section.behaviours else None

    def measure(self, read: Read) -> Result:
        """Return the slopes of all behaviours."""
        model, seed, directions = self.run.model, self.run.config.seed, self.section.directions
        frames = []
        for behaviour in self.behaviours:
            step = self.run.counter(f"slopes, {behaviour.name}", len(behaviour.prompts))
            found = weight_slopes(behaviour, model.layers, model.heads, directions=directions, seed=seed, step=step)
            frames.append(slope_table(behaviour, found, (model.layers, model.heads), self.run.effort))
        return Result({"slopes": pd.concat(frames, ignore_index=True)})
