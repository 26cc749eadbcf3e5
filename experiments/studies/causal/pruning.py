"""Pruning in a run: what is left of behaviours without the least important heads, and of what heads attend to."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Self

import numpy as np
import pandas as pd
from pydantic import Field

from experiments.config.config import StudySection
from experiments.config.section import BehaviourNames
from experiments.run.behaviours import Behaviours, Weighed
from experiments.run.context import RunContext
from experiments.run.scope import Scored
from experiments.studies.study import ReadOfStudy, Result, Study
from probes.causal.ablation import Heads
from probes.causal.migration import migration_table, score_without
from probes.causal.pruning import (
    COST,
    IMPORTANCE,
    Order,
    area_table,
    curve_table,
    curves,
    halves,
    random_orders,
    ranked,
    removals,
    taken,
)


class PruningSection(StudySection):
    """What behaviours keep while heads are taken out: by importance, by their own cost, and at random."""

    table = "pruning"
    behaviours: BehaviourNames = ()
    "As in [ablation]; nothing is taken out where nothing is said."
    items: int = Field(default=500, ge=4)
    "Sentences, or pairs, at the most of each behaviour: heads are chosen on one half, and told of on the other."
    directions: int = Field(default=8, ge=1)
    "As in [importance]."
    step: float = Field(default=0.1, gt=0, le=1)
    "Share of all heads that goes from one point of the curve to the next."
    draws: int = Field(default=5, ge=1)
    "Random orders."
    left: float = Field(default=0.5, ge=0, lt=1)
    "Share of the heads, by importance, with which the probes score the heads once more; 0 for not at all."


@dataclass(frozen=True)
class PruningStudy(Study[PruningSection]):
    """Curves of all behaviours, and the scores of heads once half of them are out."""

    name = "pruning"
    reads = PruningSection
    behaviours: Behaviours

    @classmethod
    def open(cls, run: RunContext, section: PruningSection) -> Self | None:
        """Return the study where its section names behaviours."""
        return cls(run, section, Behaviours.of(run, section.behaviours, section.items)) if section.behaviours else None

    def of_part(self, scored: Scored) -> Sequence[pd.DataFrame]:
        """Score heads once more without those that go first; a table a behaviour."""
        if not self.section.left:
            return ()
        with self.run.journal.stage(self.name):
            return [self._migrated(scored, name, order) for name, order in self._first_out.items()]

    def _migrated(self, scored: Scored, name: str, order: Heads) -> pd.DataFrame:
        """Return which heads are best at what before and after the heads of `order` are out."""
        model, part = self.run.model, scored.part
        kept = np.ones((model.layers, model.heads), bool)
        kept[tuple(np.array(order).T)] = False
        self.run.progress(f"scored without {len(order)} heads, {name} ({part.scope}s)", 0, 1)
        after = score_without(model, part.texts, part.probes, order, part.settings)
        rows = migration_table(scored.splits, after, kept, self.run.effort)
        return rows.assign(behaviour=name, removed=len(order), heads=kept.size)

    def measure(self, read: ReadOfStudy) -> Result:
        """Return the curves, the areas under them, and which heads are best at what before and after."""
        told, areas = [], []
        for one, orders in self._orders():
            removed = removals(self.run.model.layers * self.run.model.heads, self.section.step)
            told_of = taken(one.behaviour, halves(one.behaviour)[1])
            step = self.run.counter(f"pruning, {one.behaviour.name}", len(told_of.prompts))
            values = curves(told_of, orders, removed, step)
            told.append(curve_table(told_of, orders, removed, values, self.run.effort))
            areas.append(area_table(told_of, orders, removed, values, self.run.effort))
        found = {"pruning": told, "pruning_areas": areas, "migration": [rows for rows in read.rows if len(rows)]}
        return Result({name: pd.concat(frames, ignore_index=True) for name, frames in found.items() if frames})

    @cached_property
    def _first_out(self) -> Mapping[str, Heads]:
        """Behaviour -> the heads that go first by importance, until as many are left as the config says."""
        left = self.section.left
        out = round(self.run.model.layers * self.run.model.heads * (1 - left))
        return {one.behaviour.name: orders[0].heads[:out] for one, orders in self._orders()} if out else {}

    def _orders(self) -> Iterator[tuple[Weighed, list[Order]]]:
        """Yield each behaviour with the orders of heads, which one half of its items decides."""
        section, model, seed = self.section, self.run.model, self.run.config.seed
        shape = (model.layers, model.heads)
        for one in self.behaviours.weighed():
            chosen_on, _ = halves(one.behaviour)
            importance = one.slopes(section.directions).importance[chosen_on].mean(0).numpy()
            singles = one.singles[:, chosen_on].mean(1)
            cost = (singles[0] - singles[1:]).reshape(shape)
            orders = [ranked(IMPORTANCE, importance), ranked(COST, cost)]
            yield one, orders + random_orders(shape, section.draws, seed)
