"""Pruning in a run: what is left of behaviours without the least important heads, and of what heads attend to."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Self

import numpy as np
import pandas as pd

from experiments.studies.causal.behaviours import Behaviours, Weighed
from experiments.studies.scope import Scored
from experiments.studies.study import Study, Surroundings
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


@dataclass
class PruningStudy(Study):
    """Curves of all behaviours, and the scores of heads once half of them are out."""

    name = "pruning"
    run: Surroundings
    behaviours: Behaviours
    migrated: list[pd.DataFrame] = field(default_factory=list)

    @classmethod
    def asked(cls, run: Surroundings) -> Self | None:
        """Return the study where the config names behaviours."""
        section = run.config.pruning
        return cls(run, Behaviours.of(run, section.behaviours, section.items)) if section.behaviours else None

    def scored(self, scored: Scored) -> None:
        """Score heads once more without those that go first, for each behaviour."""
        section, model, part = self.run.config.pruning, self.run.model, scored.part
        if not section.left:
            return
        with self.run.journal.stage(self.name):
            for name, order in self._first_out.items():
                kept = np.ones((model.layers, model.heads), bool)
                kept[tuple(np.array(order).T)] = False
                self.run.progress(f"scored without {len(order)} heads, {name} ({part.scope}s)", 0, 1)
                after = score_without(model, part.texts, part.probes, order, part.settings)
                found = migration_table(scored.splits, after, kept, self.run.effort)
                self.migrated.append(found.assign(behaviour=name, removed=len(order), heads=kept.size))

    def tables(self) -> Mapping[str, pd.DataFrame]:
        """Return the curves, the areas under them, and which heads are best at what before and after."""
        told, areas = [], []
        for one, orders in self._orders():
            section = self.run.config.pruning
            removed = removals(self.run.model.layers * self.run.model.heads, section.step)
            told_of = taken(one.behaviour, halves(one.behaviour)[1])
            step = self.run.counter(f"pruning, {one.behaviour.name}", len(told_of.asked))
            values = curves(told_of, orders, removed, step)
            told.append(curve_table(told_of, orders, removed, values, self.run.effort))
            areas.append(area_table(told_of, orders, removed, values, self.run.effort))
        found = {"pruning": told, "pruning_areas": areas, "migration": [one for one in self.migrated if len(one)]}
        return {name: pd.concat(frames, ignore_index=True) for name, frames in found.items() if frames}

    @cached_property
    def _first_out(self) -> Mapping[str, Heads]:
        """Behaviour -> the heads that go first by importance, until as many are left as the config says."""
        left = self.run.config.pruning.left
        out = round(self.run.model.layers * self.run.model.heads * (1 - left))
        return {one.behaviour.name: orders[0].heads[:out] for one, orders in self._orders()} if out else {}

    def _orders(self) -> Iterator[tuple[Weighed, list[Order]]]:
        """Yield each behaviour with the orders of heads, which one half of its items decides."""
        section, model, seed = self.run.config.pruning, self.run.model, self.run.config.seed
        shape = (model.layers, model.heads)
        for one in self.behaviours.weighed():
            chosen_on, _ = halves(one.behaviour)
            importance = one.slopes(section.directions).importance[chosen_on].mean(0).numpy()
            singles = one.singles[:, chosen_on].mean(1)
            cost = (singles[0] - singles[1:]).reshape(shape)
            orders = [ranked(IMPORTANCE, importance), ranked(COST, cost)]
            yield one, orders + random_orders(shape, section.draws, seed)
