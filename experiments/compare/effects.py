"""What models lose without the heads that were selected for a target, from whichever run measured it."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

import pandas as pd

from probes.causal.ablation_table import damaging_heads
from probes.causal.attention_vs_effect import ROLES
from reports import Run
from reports.compare.target_tables import EFFECTS, POSITION, TARGETS, RoleTarget
from reports.tables.table import last_step


@dataclass(frozen=True)
class NamedRun:
    """One run, as the page names it."""

    title: str
    model: str
    "Runs of the same weights have the same."
    run: Run
    scores: pd.DataFrame
    "The rows that one page can show."
    notes: tuple[str, ...]

    @property
    def asks(self) -> bool:
        """Whether it asked for any of the targets."""
        return bool({*self.scores["probe"]} & {probe for target in TARGETS for probe in target.probes})

    @property
    def measures(self) -> bool:
        """Whether it took heads away one by one."""
        return "ablations" in self.run.tables


BEHAVIOURS: Final = {
    target.name: tuple(dict.fromkeys(name for role in ROLES if role.probe in target.probes for name in role.behaviours))
    for target in TARGETS
}
"Target -> the behaviours that belong to it, by the roles of its probes."

OF_ANY_TEXT: Final = BEHAVIOURS[POSITION.name]
"Behaviours that any text shows: told where a model has none of the target's own."

NOT_TOGETHER: Final = {
    "together": "",
    **dict.fromkeys(("random_cost", "difference", "difference_low", "difference_high", "p_random"), math.nan),
}


def effects(answers: pd.DataFrame, runs: Sequence[NamedRun]) -> pd.DataFrame:
    """Return the rows of `EFFECTS` for the selected heads: of each model the first run that measured a behaviour."""
    selected = answers.drop_duplicates(["target", "model", "name"])
    rows = [row for head in selected.to_dict("records") for row in _of_head(head, runs)]
    return pd.DataFrame(rows, columns=[*EFFECTS.names])


def _of_head(head: Mapping[Any, Any], runs: Sequence[NamedRun]) -> Iterator[dict[str, Any]]:
    own = BEHAVIOURS[head["target"]]
    target = next(target for target in TARGETS if target.name == head["target"])
    for behaviour in dict.fromkeys((*own, *OF_ANY_TEXT)):
        measured = (run for run in runs if run.model == head["model"] and _measured(run, behaviour))
        if (run := next(measured, None)) is None:
            continue
        costs = _costs(run, behaviour)
        contrasts = run.run.tables.get("ablation_contrasts")
        about = {"target": head["target"], "model": head["model"], "run": run.title, "own": behaviour in own}
        damage = _damage(run, str(costs["way"].iloc[0])) if behaviour not in OF_ANY_TEXT else pd.Series(dtype=float)
        for _, rows in costs.groupby("measure", sort=False):
            if (rows["name"] == head["name"]).any():
                effect = _effect(str(head["name"]), rows, damage)
                together = {} if contrasts is None else _together(target, effect, last_step(contrasts))
                yield {name: (NOT_TOGETHER | effect | together | about)[name] for name in EFFECTS.names}


def _measured(run: NamedRun, behaviour: str) -> bool:
    return run.measures and bool((run.run.tables["ablations"]["behaviour"] == behaviour).any())


def _costs(run: NamedRun, behaviour: str) -> pd.DataFrame:
    """Return what every single head costs of a behaviour, by the first way in which heads were taken away."""
    table = last_step(run.run.tables["ablations"])
    table = table[(table["behaviour"] == behaviour) & (table["kind"] == "head")]
    first: pd.DataFrame = table[table["way"] == table["way"].iloc[0]]
    return first


def _damage(run: NamedRun, way: str) -> pd.Series:
    """Return what every head costs of any text, by name; empty where the run has not measured that."""
    for behaviour in OF_ANY_TEXT:
        if _measured(run, behaviour):
            costs = _costs(run, behaviour)
            return costs[costs["way"] == way].set_index("name")["cost"]
    return pd.Series(dtype=float)


def _effect(name: str, rows: pd.DataFrame, damage: pd.Series) -> dict[str, Any]:
    """Return the row of one head, with its place among all heads of the same behaviour and measure."""
    (row,) = rows[rows["name"] == name].to_dict("records")
    beside = rows[(rows["layer"] == row["layer"]) & (rows["name"] != name)]
    place = {"median_cost": float(rows["cost"].median()), "layer_cost": float(beside["cost"].mean())}
    rank = int((rows["cost"] > row["cost"]).sum()) + 1
    beside_damage = damaging_heads(name, rows.set_index("name")["cost"], damage)
    return {str(key): value for key, value in row.items()} | place | {"rank": rank, "heads": len(rows)} | beside_damage


def _together(target: RoleTarget, effect: Mapping[str, Any], contrasts: pd.DataFrame) -> dict[str, Any]:
    """Return how the heads of the target, this one among them, cost beside random heads of the same layers."""
    for row in contrasts.to_dict("records"):
        alike = all(row[key] == effect[key] for key in ("behaviour", "way", "measure"))
        of_target = str(row["name"]).partition(":")[0] in target.probes
        if alike and of_target and effect["name"] in row["heads"].split():
            ends = {"difference_low": row["ci_low"], "difference_high": row["ci_high"], "p_random": row["p"]}
            return {"together": row["heads"], **{key: row[key] for key in ("random_cost", "difference")}, **ends}
    return {}
