"""Gradient importance in a run, beside what heads truly cost."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Self

import pandas as pd

from experiments.studies.causal.behaviours import Behaviours
from experiments.studies.study import Study, Surroundings
from probes.causal.importance_table import importance_table, taylor_table


@dataclass(frozen=True)
class ImportanceStudy(Study):
    """How much behaviours change with the gates of heads."""

    name = "importance"
    run: Surroundings
    behaviours: Behaviours

    @classmethod
    def asked(cls, run: Surroundings) -> Self | None:
        """Return the study where the config names behaviours."""
        section = run.config.importance
        return cls(run, Behaviours.of(run, section.behaviours, section.items)) if section.behaviours else None

    def tables(self) -> Mapping[str, pd.DataFrame]:
        """Return the importance of every head, and how far Taylor's series agrees with ablation."""
        section, model, effort = self.run.config.importance, self.run.model, self.run.effort
        told, checks = [], []
        for one in self.behaviours.weighed():
            slopes, values = one.slopes(section.directions), one.singles if section.taylor else None
            told.append(importance_table(one.behaviour, slopes, values, (model.layers, model.heads), effort))
            if values is not None:
                checks.append(taylor_table(one.behaviour, slopes, values, effort))
        found = {"importance": told, "taylor": checks}
        return {name: pd.concat(frames, ignore_index=True) for name, frames in found.items() if frames}
