"""Whether heads that attend to something also have a causal effect on it.

A role is a label of a probe in one variant, a behaviour is what a model can do. Heads are compared on both.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np
import pandas as pd
import torch
from torch import Tensor

from mha.hooks import watch
from mha.watches import Seen
from probes.causal.behaviours import BATCH_PIECES, Behaviour
from probes.evidence.statistics import expanded_tail, spearman
from probes.scoring.tally import Numbers
from reports.tables.effects import ATTENTION_VERDICTS

BOTH, ATTENDS, EFFECT, NEITHER, UNKNOWN = ATTENTION_VERDICTS

MEASURES = ("accuracy", "mass", "write_norm", "importance", "patching", "transfer", "cost")
"What is correlated over heads, where it was measured; `cost` is that of ablation."


@dataclass(frozen=True)
class Role:
    """What heads of a role look at, and the behaviours that it should matter for."""

    probe: str
    label: str
    behaviours: tuple[str, ...]
    "Names of `probes.causal.behaviours`: corpora of minimal pairs, or those of texts."
    any_label: bool = True
    "Whether heads that have a grade in any label of the probe count as heads of the role, or in this label alone."

    @property
    def selects(self) -> str:
        """The heads of the role as `[ablation] labels` names them: "probe", or "probe: label"."""
        return self.probe if self.any_label else f"{self.probe}: {self.label}"


ROLES: Sequence[Role] = (
    Role("agreement", "all", ("grammar", "linzen", "goldberg", "marvin-linzen", "opensesame")),
    Role("coreference", "pronoun", ("grammar-pronouns",)),
    Role("antecedent", "all", ("grammar-pronouns",)),
    Role("reflexive", "all", ("grammar-reflexives",)),
    Role("position", "previous", ("masked-LM loss", "sentence embedding"), any_label=False),
)
"The roles whose behaviour is known."


def task_roles(scores: pd.DataFrame, labels: Sequence[str], behaviours: tuple[str, ...]) -> list[Role]:
    """Return the roles that are compared with behaviours for which none is known, such as labels of the user's own.

    `labels` name them as `[ablation] labels` does; without it they are all probes of `scores`, by any of their labels.
    The label that is told of a probe is the one with the most items.
    """
    most = scores[scores["split"] == "report"].sort_values("n", ascending=False, kind="stable")
    largest = most.drop_duplicates("probe").set_index("probe")["label"]
    named = (one.partition(": ") for one in labels or sorted(largest.index))
    return [
        Role(probe, label or largest[probe], behaviours, any_label=not label)
        for probe, _, label in named
        if probe in largest.index
    ]


def write_norms(behaviour: Behaviour) -> pd.Series:
    """Return the mean length of what each head writes, by (layer, head), over all pieces that a behaviour has read.

    In the units of the layer's vectors (Kobayashi et al. 2020, of the whole head). Raises HookError for an
    architecture whose W_O is not known.
    """
    total: dict[int, Tensor] = {}
    pieces = 0.0
    for batch in behaviour.batches(BATCH_PIECES):
        texts = behaviour.texts(batch)
        real = torch.ones_like(texts.ids) if texts.real is None else texts.real

        def look(seen: Seen, real: Tensor = real) -> None:
            lengths = (seen.written_norms().cpu() * real[:, None]).sum((0, 2), dtype=torch.float64)
            total[seen.layer] = total.get(seen.layer, 0) + lengths

        with torch.inference_mode(), watch(behaviour.reader.module, look, ["head_output"]):
            behaviour.reader.read(texts.ids, texts.real, texts.selected)
        pieces += float(real.sum())
    means = {(layer, head): one / pieces for layer, of in sorted(total.items()) for head, one in enumerate(of.tolist())}
    return pd.Series(means)


def attention_vs_effect(
    scores: pd.DataFrame,
    costs: Mapping[str, pd.DataFrame],
    measures: Mapping[str, Mapping[str, pd.Series]],
    *,
    roles: Sequence[Role] = ROLES,
    alpha: float = 0.05,
) -> pd.DataFrame:
    """Return one row a behaviour, role, variant and head, where both were measured.

    `scores` are those of a run with verdicts, of which the report split is told. `costs`: for each behaviour what the
    ablation of each single head costs (layer, head, cost, cost_low, cost_high, p_adjusted). `measures`: for each
    behaviour further numbers by (layer, head), named as in MEASURES; beside `transfer` its interval (`transfer_low`,
    `transfer_high`) and whether it is significant (`transfer_significant`).
    """
    told = scores[scores["split"] == "report"]
    frames = [
        _with_verdicts(told, role, variant, behaviour, costs[behaviour], measures.get(behaviour, {}), alpha)
        for role in roles
        for behaviour in role.behaviours
        if behaviour in costs
        for variant in sorted(
            told.loc[(told["probe"] == role.probe) & (told["label"] == role.label), "variant"].unique()
        )
    ]
    return pd.concat(frames, ignore_index=True) if frames else pd.DataFrame()


def _with_verdicts(
    told: pd.DataFrame,
    role: Role,
    variant: str,
    behaviour: str,
    costs: pd.DataFrame,
    measures: Mapping[str, pd.Series],
    alpha: float,
) -> pd.DataFrame:
    place = ["layer", "head"]
    of_role = told[(told["probe"] == role.probe) & (told["variant"] == variant)]
    own = of_role[of_role["label"] == role.label].set_index(place)
    rows = own[["name", "n", "accuracy", "mass", "margin"]].join(costs.set_index(place), how="inner")
    counts = of_role if role.any_label else of_role[of_role["label"] == role.label]
    heads = counts.groupby(place)[["grade", "p_adjusted"]].max().reindex(rows.index)
    for name in ("write_norm", "importance", "patching", "transfer", "transfer_low", "transfer_high"):
        rows[name] = measures[name].reindex(rows.index) if name in measures else np.nan
    significant = measures.get("transfer_significant")
    rows["transfer_significant"] = False if significant is None else significant.reindex(rows.index, fill_value=False)
    rows["attends"] = heads["grade"] > 0
    rows["has_effect"] = (rows["p_adjusted"] < alpha) & (rows["cost"] > 0)
    known = heads["p_adjusted"].notna() & rows["p_adjusted"].notna()
    attends, effect = rows["attends"], rows["has_effect"]
    facts = [~known, attends & effect, attends, effect]
    rows["verdict"] = np.select(facts, [UNKNOWN, BOTH, ATTENDS, EFFECT], NEITHER)
    about = {"behaviour": behaviour, "probe": role.probe, "label": role.label, "variant": variant}
    return rows.reset_index().assign(**about)


def rank_correlations(joined: pd.DataFrame, *, replicates: int, seed: int) -> pd.DataFrame:
    """Return Spearman's rho over heads of every two MEASURES, for each behaviour, role and variant.

    rho is in [-1, 1]. Its interval is the expanded percentile interval over resamples of heads: how much the order
    would change with other heads of the kind. Pairs of which one was not measured, or does not vary, are left out.
    """
    rows = []
    for key, heads in joined.groupby(["behaviour", "probe", "label", "variant"]):
        for one, other, x, y in _pairs(heads):
            low, high = _interval(x, y, replicates, seed)
            about = dict(zip(("behaviour", "probe", "label", "variant"), key, strict=True))
            rho = float(spearman(x, y))
            rows.append({**about, "one": one, "other": other, "heads": len(x), "rho": rho, "low": low, "high": high})
    return pd.DataFrame(rows)


def _pairs(heads: pd.DataFrame) -> Iterator[tuple[str, str, Numbers, Numbers]]:
    for one, other in combinations(MEASURES, 2):
        both = heads[[one, other]].dropna().to_numpy(np.float64)
        if len(both) > 2 and (np.ptp(both, axis=0) > 0).all():
            yield one, other, both[:, 0], both[:, 1]


def _interval(x: Numbers, y: Numbers, replicates: int, seed: int) -> tuple[float, float]:
    drawn = np.random.default_rng(seed).integers(0, len(x), size=(replicates, len(x)))
    found = spearman(x[drawn], y[drawn])
    tail = expanded_tail(len(x), 0.95)
    low, high = np.nanquantile(found, [tail, 1 - tail])
    return float(low), float(high)
