"""Learned gates in a run: which heads survive which price, and what is left of the behaviour with them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Self

import numpy as np
import pandas as pd

from experiments.config.section import EMBEDDING
from experiments.studies.causal.behaviours import Behaviours
from experiments.studies.study import Study, Surroundings
from mha.causal.gates import GateSettings
from mha.encoder.encoder import Encoder
from probes.causal.ablation_table import measures
from probes.causal.behaviours import Behaviour, BehaviourError
from probes.causal.gates import Gated, gate_heads, gated_values
from probes.causal.pruning import halves, taken
from probes.evidence.results import named_heads


@dataclass(frozen=True)
class GateStudy(Study):
    """Gates that are learned for all behaviours and prices."""

    name = "gates"
    run: Surroundings
    behaviours: Behaviours

    @classmethod
    def asked(cls, run: Surroundings) -> Self | None:
        """Return the study where the config names behaviours; raises BehaviourError where weights cannot be trained."""
        section = run.config.gates
        if not section.behaviours:
            return None
        behaviours = Behaviours.of(run, section.behaviours, section.items)
        if section.weights and (EMBEDDING in section.behaviours or not isinstance(run.lm.module, Encoder)):
            raise BehaviourError(
                "gates.weights: weights are trained along only of models of the BERT family with a masked-LM head, and "
                'not on "embedding"; leave them as they are (weights = false)'
            )
        return cls(run, behaviours)

    def tables(self) -> Mapping[str, pd.DataFrame]:
        """Return the gate of every head at every price, and the behaviour with them."""
        gates, paths = [], []
        for behaviour in self.behaviours:
            learned_on, told_of = (taken(behaviour, half) for half in halves(behaviour))
            for price in self.run.config.gates.prices:
                found = self._learn(learned_on, price)
                gates.append(self._gates(found, told_of, price))
                paths.append(self._path(found, told_of, price))
        return {"gates": pd.concat(gates, ignore_index=True), "gate_paths": pd.concat(paths, ignore_index=True)}

    @property
    def _shape(self) -> tuple[int, int]:
        return self.run.model.layers, self.run.model.heads

    def _learn(self, behaviour: Behaviour, price: float) -> Gated:
        section = self.run.config.gates
        settings = GateSettings(section.steps, section.rate, section.weights_rate, self.run.config.seed)
        step = self.run.counter(f"gates, {behaviour.name}, price {price:g}", section.steps)
        return gate_heads(behaviour, self._shape, price, settings, weights=section.weights, step=step)

    def _gates(self, found: Gated, told_of: Behaviour, price: float) -> pd.DataFrame:
        learned = {"gate": found.learned.gates.flatten().numpy(), "open": found.learned.open.flatten().numpy()}
        frame = pd.DataFrame(named_heads(self._shape) | learned)
        return frame.assign(
            behaviour=told_of.name, unit=told_of.unit, price=price, weights=self.run.config.gates.weights
        )

    def _path(self, found: Gated, told_of: Behaviour, price: float) -> pd.DataFrame:
        """Return what the behaviour is with the gates, on items that they were not learned on; a row a measure."""
        intact = gated_values(told_of, found.learned.gates.new_ones(self._shape))
        values = np.stack([intact.numpy(), found.values(told_of).numpy()])
        rows = []
        for measured in measures(told_of, values):
            low, high = measured.interval(measured.cost, self.run.effort)[:, 0]
            rows.append(
                {
                    "behaviour": told_of.name,
                    "unit": measured.unit,
                    "measure": measured.name,
                    "price": price,
                    "weights": self.run.config.gates.weights,
                    "left": len(found.learned.survivors),
                    "heads": found.learned.gates.numel(),
                    "n": measured.values.shape[1],
                    "clusters": measured.clusters,
                    "intact": measured.values[0].mean(),
                    "value": measured.values[1].mean(),
                    "cost": measured.cost.mean(),
                    "ci_low": low,
                    "ci_high": high,
                }
            )
        return pd.DataFrame(rows)
