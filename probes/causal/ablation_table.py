"""What heads cost: behaviour with them against behaviour without them, with intervals and tests, paired by item."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from probes.causal.ablation import HEAD, LAYER, RANDOM, SELECTED, HeadSet, head_name
from probes.causal.behaviours import Behaviour
from probes.evidence.leads import EXACT, Documents, holm, two_sided
from probes.evidence.question import Effort
from probes.evidence.statistics import Bootstrap, Resamples
from probes.records import IntArray
from probes.scoring.tally import Numbers, cluster_blocks
from reports.tables.effects import ABLATION_CONTRASTS
from reports.tables.shared_columns import ACCURACY, ATTRACTED, RUN, SCORE, VALUE
from reports.tables.table import Table

FEWEST = 3
"Heads that one is compared with in what its damage explains, at least."


@dataclass(frozen=True)
class AblatedMeasure:
    """One measure of a behaviour under all sets of heads."""

    behaviour: str
    name: str
    "One of `reports.tables.shared_columns.MEASURES`."
    unit: str
    values: Numbers
    "[set, item] The first set is the model as it is."
    place: IntArray
    "[item] Index of its cluster."
    share: bool = False
    "Whether it is a share of gold answers: in few items none may change where in many some would."
    rounding: float = 0.0
    "By how much an item changes by rounding, at the most."

    @property
    def clusters(self) -> int:
        """Number of clusters."""
        return int(self.place.max()) + 1

    @property
    def about(self) -> dict[str, Any]:
        """Return the columns that say of what, and of how many items, numbers are."""
        items = {"n": self.values.shape[1], "clusters": self.clusters}
        return {"behaviour": self.behaviour, "unit": self.unit, **items}

    @property
    def cost(self) -> Numbers:
        """Return [set, item], by how much less an item has without the heads of a set, the intact model left out.

        A set that changes no item by more than rounding costs nothing: rounding has a sign too, the same in many items.
        """
        lost = self.values[0] - self.values[1:]
        return np.where((np.abs(lost) > self.rounding).any(1, keepdims=True), lost, 0.0)

    def sums(self, of_items: Numbers) -> Numbers:
        """Return [cluster, set], sums of [set, item]."""
        found = np.zeros((self.clusters, len(of_items)))
        np.add.at(found, self.place, of_items.T)
        return found

    @property
    def counts(self) -> Numbers:
        """Return [cluster], the number of items."""
        return np.bincount(self.place).astype(np.float64)

    @property
    def documents(self) -> Documents:
        """The clusters, as what a mean over them errs by."""
        return Documents.of(self.counts)

    def resamples(self, effort: Effort) -> Resamples:
        """Return resamples of the clusters."""
        clusters = range(self.clusters)
        return Bootstrap.draw(clusters, effort.replicates, effort.seed).of(clusters, self.counts)

    def interval(self, of_items: Numbers, effort: Effort) -> Numbers:
        """Return [2, set], the interval of the mean over items of differences, [set, item].

        The expanded percentile interval of `probes.evidence.statistics.Resamples`. Of few answers that change resamples
        know too little, and of none nothing: the interval of a difference of accuracies is that of leads.
        """
        if self.share:
            return self.documents.lead_interval(self.sums(of_items))
        resamples = self.resamples(effort)
        return resamples.interval(resamples.means(self.sums(of_items)))

    def estimate(self, of_items: Numbers, effort: Effort, name: str, interval: str = "ci") -> dict[str, Numbers]:
        """Return the mean of [set, item] as the column `name`, and its interval as two more."""
        low, high = self.interval(of_items, effort)
        return {name: of_items.mean(1), f"{interval}_low": low, f"{interval}_high": high}

    def two_sided(self, of_items: Numbers) -> Numbers:
        """Return [2, set], p and p_adjusted of whether [set, item] are different from 0."""
        return two_sided(self.counts, self.sums(of_items), against=float(self.share))

    def above_median(self, of_items: Numbers) -> Numbers:
        """Return [2, set], p and p_adjusted of whether [set, item] are above their median in each item."""
        more = self.sums(of_items - np.median(of_items, axis=0))
        p = self.documents.measured(more).p_above(0, EXACT, 0)
        return np.stack([p, holm(p)])


def measures(behaviour: Behaviour, values: Numbers) -> list[AblatedMeasure]:
    """Return what is told of a behaviour, from the `values` [set, item] of its items.

    Columns after those of the items are of what is measured beside the value, as `probes.causal.ablation.measure` has
    them.
    """
    blocks = cluster_blocks(behaviour.clusters)
    place = np.array([blocks[name] for name in behaviour.clusters], np.int64)
    values, *beside = np.split(values, range(len(place), values.shape[1], len(place)), axis=1)
    share = behaviour.share or (behaviour.unit == SCORE and bool(np.isin(values, (0, 1)).all()))
    found = [AblatedMeasure(behaviour.name, VALUE, behaviour.unit, values, place, share, behaviour.rounding)]
    for (name, unit), numbers in zip(behaviour.beside.items(), beside, strict=bool(beside)):
        told = AblatedMeasure(behaviour.name, name, unit, numbers, place, name == ACCURACY, behaviour.rounding)
        found.append(told)
    if behaviour.decides:
        credit, unit = (np.sign(values) + 1) / 2, "share of pairs"
        found.append(AblatedMeasure(behaviour.name, ACCURACY, unit, credit, place, share=True))
        attracted = np.flatnonzero([bool(kind.attractors) for kind in behaviour.kinds])
        if len(attracted):
            _, there = np.unique(place[attracted], return_inverse=True)
            found.append(AblatedMeasure(behaviour.name, ATTRACTED, unit, credit[:, attracted], there, share=True))
    return found


def ablation_table(
    behaviour: Behaviour, way: str, sets: Sequence[HeadSet], values: Numbers, effort: Effort
) -> pd.DataFrame:
    """Return one row a measure and set of heads; `values` are [1 + set, item], the intact model's first.

    The cost is intact - ablated: above 0 where the model does worse without the heads, below 0 where it does better.
    Its interval is paired, see `AblatedMeasure.interval`. p is that of
    `probes.evidence.leads.two_sided`, for heads can help and hurt; p_adjusted is corrected for all sets of a kind (all
    heads, all layers; Holm 1979). Random sets are not tested.

    A behaviour that is a distance from what the intact model does can but get worse, by every head: there a head is
    tested against the median head of each item (a layer against the median layer), one-sided, and a small p says that
    it costs more than that one. About half of the heads do, by more or less. Chosen heads are not tested there: the
    contrast with random ones is their test.
    """
    frames = []
    for measured in measures(behaviour, values):
        p, p_adjusted = _tests(measured, sets, against_median=behaviour.distance)
        numbers = {"intact": measured.values[0].mean(), "ablated": measured.values[1:].mean(1)}
        numbers |= measured.estimate(measured.cost, effort, "cost") | {"p": p, "p_adjusted": p_adjusted}
        told = {"way": way, "measure": measured.name, **measured.about}
        frames.append(pd.DataFrame([_about(one) for one in sets]).assign(**told, **numbers))
    return pd.concat(frames, ignore_index=True).astype({"layer": "Int64", "head": "Int64"})


def _about(one: HeadSet) -> dict[str, object]:
    layer, head = one.heads[0] if len({place for place, _ in one.heads}) == 1 else (None, None)
    named = {"layer": None if one.kind in (SELECTED, RANDOM) else layer, "head": head if one.kind == HEAD else None}
    return {"kind": one.kind, "name": one.name, "draw": one.draw, "heads": len(one.heads), **named}


def _tests(measured: AblatedMeasure, sets: Sequence[HeadSet], *, against_median: bool) -> Numbers:
    """Return [2, set], p and p_adjusted; NaN for what is not tested."""
    found = np.full((2, len(sets)), np.nan)
    for kind in (HEAD, LAYER) if against_median else (HEAD, LAYER, SELECTED):
        family = np.flatnonzero([one.kind == kind for one in sets])
        if len(family):
            test = measured.above_median if against_median else measured.two_sided
            found[:, family] = test(measured.cost[family])
    return found


def contrast_table(
    behaviour: Behaviour, way: str, sets: Sequence[HeadSet], values: Numbers, effort: Effort
) -> pd.DataFrame:
    """Return chosen heads against random ones, one row a measure and chosen set, as in ABLATION_CONTRASTS.

    `values` as in `ablation_table`; random sets have the name of the chosen one that they are compared with. The
    difference is the cost of the chosen heads less the mean cost of the random sets, item by item, with its
    interval. p is the share of sets, the chosen one among them, that cost at least as much as it:
    (1 + count) / (1 + draws) (Phipson and Smyth 2010). `elsewhere` counts the heads of a random set that are of other
    layers than the chosen ones.
    """
    frames = []
    for measured in measures(behaviour, values):
        cost = measured.cost
        for number, chosen in enumerate(sets):
            random = [i for i, one in enumerate(sets) if one.kind == RANDOM and one.name == chosen.name]
            if chosen.kind != SELECTED or not random:
                continue
            drawn, own = cost[random].mean(1), cost[number].mean()
            told = {"way": way, "measure": measured.name, "name": chosen.name, "by": chosen.by, **measured.about}
            told |= {
                "heads": " ".join(map(head_name, chosen.heads)),
                "elsewhere": (_layers(chosen) - _layers(sets[random[0]])).total(),
            }
            told |= {"draws": len(random), "cost": own, "random_cost": drawn.mean(), "random_least": drawn.min()}
            told |= {"random_most": drawn.max(), "p": (1 + int((drawn >= own - TIE).sum())) / (1 + len(random))}
            less = (cost[number] - cost[random].mean(0))[None]
            frames.append(pd.DataFrame(told | measured.estimate(less, effort, "difference")))
    return joined(frames, ABLATION_CONTRASTS)


def _layers(one: HeadSet) -> Counter[int]:
    return Counter(layer for layer, _ in one.heads)


def joined(frames: Sequence[pd.DataFrame], table: Table) -> pd.DataFrame:
    """Return the rows of all frames; where there are none, the columns of the table that no run adds."""
    kept = [frame for frame in frames if len(frame)]
    return pd.concat(kept, ignore_index=True) if kept else pd.DataFrame(columns=[*table.names[len(RUN) :]])


TIE = 1e-9
"Costs that differ by no more are equal: rounding."


def damaging_heads(name: str, costs: pd.Series, damage: pd.Series) -> dict[str, float]:
    """Return what heads that do at least half as much damage as head `name` cost of a behaviour.

    A model that is damaged loses some of everything: these heads tell what a behaviour loses by that alone. Both series
    have a number for each head, by name; `damage` is what it costs of any text. Compared is with heads whose damage is
    not less than the head's own by more than half of that, or by the median of all heads if that is more: nearly
    harmless heads are compared with all. They are counted, and have a mean cost, NaN for fewer than FEWEST, between
    whose ends lies the cost of 95 % of such heads if costs are normal (a prediction interval).
    """
    from scipy.special import stdtrit

    own = float(damage.get(name, math.nan))
    enough = damage >= own - max(abs(own) / 2, float(damage.abs().median()))
    others = costs.reindex(damage.index[enough & (damage.index != name)]).dropna().to_numpy(np.float64)
    n, mean, half = len(others), math.nan, math.nan
    if n >= FEWEST:
        mean = float(others.mean())
        half = float(stdtrit(n - 1, 0.975) * others.std(ddof=1) * math.sqrt(1 + 1 / n))
    ends = {"damaging_low": mean - half, "damaging_high": mean + half}
    return {"damage": own, "damaging": n, "damaging_cost": mean, **ends}
