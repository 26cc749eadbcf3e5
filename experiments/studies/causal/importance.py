"""Gradient importance in a run, beside what heads truly cost."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Self

import pandas as pd
from pydantic import Field

from experiments.config.config import StudySection
from experiments.config.section import BehaviourNames
from experiments.run.behaviours import Behaviours
from experiments.run.context import RunContext
from experiments.studies.study import ReadOfStudy, Result, Study
from probes.causal.importance_table import importance_table, taylor_table


class ImportanceSection(StudySection):
    """How much behaviours change with the gates of heads: gradient importance (Michel et al. 2019)."""

    table = "importance"
    behaviours: BehaviourNames = ()
    "As in [ablation]; importance is not measured where nothing is said."
    items: int = Field(default=500, ge=2)
    "Sentences, or pairs, at the most of each behaviour."
    directions: int = Field(default=8, ge=1)
    "Random directions in which sentence embeddings are followed."
    taylor: bool = True
    "Whether every head is also ablated by zero, to say how far Taylor's series tells what that costs."


@dataclass(frozen=True)
class ImportanceResult(Result):
    """Importance of heads, and how far Taylor's series agrees with ablation."""

    @property
    def importance(self) -> pd.DataFrame:
        """A row a behaviour and head (`reports.studies.gating`)."""
        return self.tables["importance"]


@dataclass(frozen=True)
class ImportanceStudy(Study[ImportanceSection]):
    """How much behaviours change with the gates of heads."""

    name = "importance"
    reads, gives = ImportanceSection, ImportanceResult
    behaviours: Behaviours

    @classmethod
    def open(cls, run: RunContext, section: ImportanceSection) -> Self | None:
        """Return the study where its section names behaviours."""
        return cls(run, section, Behaviours.of(run, section.behaviours, section.items)) if section.behaviours else None

    def measure(self, read: ReadOfStudy) -> ImportanceResult:
        """Return the importance of every head, and how far Taylor's series agrees with ablation."""
        section, model, effort = self.section, self.run.model, self.run.effort
        told, checks = [], []
        for one in self.behaviours.weighed():
            slopes, values = one.slopes(section.directions), one.singles if section.taylor else None
            told.append(importance_table(one.behaviour, slopes, values, (model.layers, model.heads), effort))
            if values is not None:
                checks.append(taylor_table(one.behaviour, slopes, values, effort))
        found = {"importance": told, "taylor": checks}
        tables = {name: pd.concat(frames, ignore_index=True) for name, frames in found.items() if frames}
        return ImportanceResult(tables)
