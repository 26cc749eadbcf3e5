"""Whether the heads of a run that look at something matter for it: the scores beside the ablations."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Self

import pandas as pd

from experiments.config.train_config import GRAMMAR
from experiments.run.behaviours import Behaviours
from experiments.run.context import RunContext
from experiments.studies.causal.ablation import AblationResult, AblationSection
from experiments.studies.causal.importance import ImportanceResult
from experiments.studies.causal.patching import PatchingResult
from experiments.studies.causal.transfer import TransferResult
from experiments.studies.study import ReadOfStudy, Result, Results, Study
from mha.hooks import HookError
from probes.causal.attention_effect import ROLES, link, rank_correlations, write_norms
from probes.causal.behaviours import Behaviour
from probes.causal.patch_table import ALL

PLACE = ["layer", "head"]
INTERVAL = ("transfer", "transfer_low", "transfer_high")


@dataclass(frozen=True)
class LinkStudy(Study[AblationSection]):
    """What heads attend to, compared with what each behaviour loses without them."""

    name = "attention and causal effect"
    reads, needs = AblationSection, (AblationResult, ImportanceResult, PatchingResult, TransferResult)
    behaviours: Behaviours

    @classmethod
    def open(cls, run: RunContext, section: AblationSection) -> Self | None:
        """Return the study where heads are ablated."""
        return cls(run, section, Behaviours.of(run, section.behaviours, section.items)) if section.behaviours else None

    def measure(self, read: ReadOfStudy) -> Result:
        """Return the tables of `reports.studies.link`; nothing where no behaviour belongs to a role that was scored."""
        ablated = read.results.of(AblationResult)
        if ablated is None:
            return Result({})
        config, costs = self.run.config, self._costs(ablated)
        scores = self.run.verdicts([frame for part in read.parts for frame in part.frames])
        wanted = {name for role in ROLES if role.probe in set(scores["probe"]) for name in role.behaviours}
        measures = {one.name: self._measures(one, read.results) for one in self.behaviours if one.name in wanted}
        linked = link(scores, costs, measures, alpha=config.verdict.alpha)
        if linked.empty:
            return Result({})
        correlations = rank_correlations(linked, replicates=config.scoring.replicates, seed=config.seed)
        return Result({"link": linked, **({"link_correlations": correlations} if len(correlations) else {})})

    def _costs(self, ablated: AblationResult) -> dict[str, pd.DataFrame]:
        """Return for each behaviour what the ablation of every single head costs, by the first of the ways."""
        table, way = ablated.costs, self.section.ways[0]
        single: pd.DataFrame = table[(table["kind"] == "head") & (table["way"] == way) & (table["measure"] == "value")]
        columns = {"ci_low": "cost_low", "ci_high": "cost_high"}
        kept = [*PLACE, "cost", "ci_low", "ci_high", "p_adjusted"]
        return {str(name): rows[kept].rename(columns=columns) for name, rows in single.groupby("behaviour", sort=False)}

    def _measures(self, behaviour: Behaviour, results: Results) -> dict[str, pd.Series]:
        """Return what else was measured of the heads for a behaviour, by layer and head."""
        name = behaviour.name
        found: dict[str, pd.Series] = {}
        try:
            found["write_norm"] = write_norms(behaviour)
        except HookError as error:
            self.run.note(f"write norms: {error}")
        if weighed := results.of(ImportanceResult):
            rows = weighed.importance[weighed.importance["behaviour"] == name]
            found |= {"importance": rows.set_index(PLACE)["importance"]} if len(rows) else {}
        if name == GRAMMAR and (patched := results.of(PatchingResult)):
            whole = patched.restored[patched.restored["role"] == ALL]
            found["patching"] = whole.set_index(PLACE)["share"]
        if handed := results.of(TransferResult):
            rows = handed.transfers[handed.transfers["behaviour"] == name].set_index(PLACE)
            named = {column: column for column in INTERVAL} | {"transfers": "transfer_significant"}
            found |= {mine: rows[own] for own, mine in named.items() if len(rows)}
        return found
