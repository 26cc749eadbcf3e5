"""Learned gates in a run: which heads survive which price, and what is left of the behaviour with them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Self

import numpy as np
import pandas as pd
from pydantic import Field, model_validator

from experiments.config.config import StudySection
from experiments.config.section import EMBEDDING, BehaviourNames
from experiments.run.behaviours import Behaviours
from experiments.run.context import RunContext
from experiments.studies.study import ReadOfStudy, Result, Study
from mha.causal.gates import GateSettings
from mha.encoder.encoder import Encoder
from probes.causal.ablation_table import measures
from probes.causal.behaviours import Behaviour, BehaviourError
from probes.causal.gates import Gated, gate_heads, gated_values
from probes.causal.pruning import halves, taken
from probes.evidence.results import named_heads


class GatesSection(StudySection):
    """Gates of heads that are learned and pay for being open (Louizos et al. 2018; Voita et al. 2019, section 6)."""

    table = "gates"
    behaviours: BehaviourNames = ()
    "As in [ablation]; no gates are learned where nothing is said."
    items: int = Field(default=500, ge=4)
    "Sentences, or pairs, at the most of each behaviour: gates are learned on one half, and told of on the other."
    prices: tuple[float, ...] = Field(default=(0.003, 0.01, 0.03, 0.1), min_length=1)
    "What an open head costs, in the unit of the behaviour; gates are learned anew for each."
    steps: int = Field(default=300, ge=1)
    "Batches that gates are learned on."
    rate: float = Field(default=0.1, gt=0)
    "Learning rate of the gates' log-odds."
    weights: bool = False
    "Whether the weights of a model of the BERT family are trained along, on behaviours of its masked-LM head."
    weights_rate: float = Field(default=1e-4, gt=0)
    "Learning rate of the weights, where they are."

    @model_validator(mode="after")
    def _prices(self) -> Self:
        if min(self.prices) < 0 or len(set(self.prices)) < len(self.prices):
            raise ValueError("prices: expected different numbers of 0 or more")
        return self


@dataclass(frozen=True)
class GateStudy(Study[GatesSection]):
    """Gates that are learned for all behaviours and prices."""

    name = "gates"
    reads = GatesSection
    behaviours: Behaviours

    @classmethod
    def open(cls, run: RunContext, section: GatesSection) -> Self | None:
        """Return the study where it names behaviours; raises BehaviourError where weights cannot be trained."""
        if not section.behaviours:
            return None
        behaviours = Behaviours.of(run, section.behaviours, section.items)
        if section.weights and (EMBEDDING in section.behaviours or not isinstance(run.lm.module, Encoder)):
            raise BehaviourError(
                "gates.weights: weights are trained along only of models of the BERT family with a masked-LM head, and "
                'not on "embedding"; leave them as they are (weights = false)'
            )
        return cls(run, section, behaviours)

    def measure(self, read: ReadOfStudy) -> Result:
        """Return the gate of every head at every price, and the behaviour with them."""
        gates, paths = [], []
        for behaviour in self.behaviours:
            learned_on, told_of = (taken(behaviour, half) for half in halves(behaviour))
            for price in self.section.prices:
                found = self._learn(learned_on, price)
                gates.append(self._gates(found, told_of, price))
                paths.append(self._path(found, told_of, price))
        tables = {"gates": gates, "gate_paths": paths}
        return Result({name: pd.concat(frames, ignore_index=True) for name, frames in tables.items()})

    @property
    def _shape(self) -> tuple[int, int]:
        return self.run.model.layers, self.run.model.heads

    def _learn(self, behaviour: Behaviour, price: float) -> Gated:
        section = self.section
        settings = GateSettings(section.steps, section.rate, section.weights_rate, self.run.config.seed)
        step = self.run.counter(f"gates, {behaviour.name}, price {price:g}", section.steps)
        return gate_heads(behaviour, self._shape, price, settings, weights=section.weights, step=step)

    def _gates(self, found: Gated, told_of: Behaviour, price: float) -> pd.DataFrame:
        learned = {"gate": found.learned.gates.flatten().numpy(), "open": found.learned.open.flatten().numpy()}
        frame = pd.DataFrame(named_heads(self._shape) | learned)
        return frame.assign(behaviour=told_of.name, unit=told_of.unit, price=price, weights=self.section.weights)

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
                    "weights": self.section.weights,
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
