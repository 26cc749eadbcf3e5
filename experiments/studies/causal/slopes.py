"""How much behaviours change with single attention weights, in a run."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Self

import pandas as pd

from experiments.studies.causal.behaviours import Behaviours
from experiments.studies.study import Study, Surroundings
from probes.causal.slopes import slope_table, weight_slopes


@dataclass(frozen=True)
class SlopeStudy(Study):
    """The slopes of behaviours by the attention weights of all heads."""

    name = "slopes"
    run: Surroundings
    behaviours: Behaviours

    @classmethod
    def asked(cls, run: Surroundings) -> Self | None:
        """Return the study where the config names behaviours."""
        section = run.config.slopes
        return cls(run, Behaviours.of(run, section.behaviours, section.items)) if section.behaviours else None

    def tables(self) -> Mapping[str, pd.DataFrame]:
        """Return the slopes of all behaviours."""
        model, seed, directions = self.run.model, self.run.config.seed, self.run.config.slopes.directions
        frames = []
        for behaviour in self.behaviours:
            step = self.run.counter(f"slopes, {behaviour.name}", len(behaviour.asked))
            found = weight_slopes(behaviour, model.layers, model.heads, directions=directions, seed=seed, step=step)
            frames.append(slope_table(behaviour, found, (model.layers, model.heads), self.run.effort))
        return {"slopes": pd.concat(frames, ignore_index=True)}
