"""Whether the heads of a run that look at something matter for it: the scores beside the ablations."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Self

import pandas as pd

from experiments.config.train_config import GRAMMAR
from experiments.studies.causal.behaviours import Behaviours
from experiments.studies.scope import Scored
from experiments.studies.study import Study, Surroundings
from mha.hooks import HookError
from probes.causal.attention_effect import ROLES, link, rank_correlations, write_norms
from probes.causal.behaviours import Behaviour
from probes.causal.patch_table import ALL

PLACE = ["layer", "head"]


@dataclass
class LinkStudy(Study):
    """What heads look at, held against what each behaviour loses without them."""

    name = "looking and mattering"
    run: Surroundings
    behaviours: Behaviours
    scores: list[pd.DataFrame] = field(default_factory=list)
    before: Mapping[str, pd.DataFrame] = field(default_factory=dict)

    @classmethod
    def asked(cls, run: Surroundings) -> Self | None:
        """Return the study where heads are ablated."""
        section = run.config.ablation
        return cls(run, Behaviours.of(run, section.behaviours, section.items)) if section.behaviours else None

    def scored(self, scored: Scored) -> None:
        """Keep the scores of all parts: verdicts are corrected for all of them."""
        self.scores += [scored.scores, *scored.trained]

    def beside(self, tables: Mapping[str, pd.DataFrame]) -> None:
        """Keep what ablation, importance and patching found."""
        self.before = tables

    def tables(self) -> dict[str, pd.DataFrame]:
        """Return the tables of `reports.studies.link`; nothing where no behaviour belongs to a role that was scored."""
        config = self.run.config
        scores, costs = self.run.verdicts(self.scores), self._costs()
        wanted = {name for role in ROLES if role.probe in set(scores["probe"]) for name in role.behaviours}
        measures = {one.name: self._measures(one) for one in self.behaviours if one.name in wanted}
        linked = link(scores, costs, measures, alpha=config.verdict.alpha)
        if linked.empty:
            return {}
        correlations = rank_correlations(linked, replicates=config.scoring.replicates, seed=config.seed)
        return {"link": linked, **({"link_correlations": correlations} if len(correlations) else {})}

    def _costs(self) -> dict[str, pd.DataFrame]:
        """Return for each behaviour what the ablation of every single head costs, by the first of the ways."""
        table = self.before["ablations"]
        way = self.run.config.ablation.ways[0]
        single: pd.DataFrame = table[(table["kind"] == "head") & (table["way"] == way) & (table["measure"] == "value")]
        columns = {"ci_low": "cost_low", "ci_high": "cost_high"}
        kept = [*PLACE, "cost", "ci_low", "ci_high", "p_adjusted"]
        return {str(name): rows[kept].rename(columns=columns) for name, rows in single.groupby("behaviour", sort=False)}

    def _measures(self, behaviour: Behaviour) -> dict[str, pd.Series]:
        """Return what else was measured of the heads for a behaviour, by layer and head."""
        name = behaviour.name
        found: dict[str, pd.Series] = {}
        try:
            found["write_norm"] = write_norms(behaviour)
        except HookError as error:
            self.run.note(f"write norms: {error}")
        importance = self.before.get("importance")
        if importance is not None and (of := importance[importance["behaviour"] == name]).size:
            found["importance"] = of.set_index(PLACE)["importance"]
        patching = self.before.get("patching")
        if patching is not None and name == GRAMMAR:
            whole = patching[patching["role"] == ALL]
            found["patching"] = whole.set_index(PLACE)["share"]
        return found
