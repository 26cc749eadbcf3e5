"""Heads taken out one after the other: what a behaviour keeps, by the order in which they go, and who takes over."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from mha.causal.interventions import Ablate
from mha.models.model import Model
from probes.causal.ablation import ZERO, Heads, head_name, measure
from probes.causal.ablation_table import AblatedMeasure, measures
from probes.causal.behaviours import Behaviour, BehaviourError
from probes.corpora.corpus import Texts
from probes.evidence.question import Effort
from probes.evidence.results import Split, pooled_sums, questions
from probes.records import IntArray
from probes.registry import Probe
from probes.scoring.hashed_random import draws
from probes.scoring.score import Settings, score_corpus
from probes.scoring.tally import Numbers, Sums
from reports.tables.effects import ORDERS

IMPORTANCE, COST, RANDOM = ORDERS


@dataclass(frozen=True)
class Order:
    """All heads of a model in the order in which they are taken out."""

    name: str
    "One of `reports.tables.effects.ORDERS`."
    heads: Heads
    draw: int = 0
    "Number of a random order, from 1; 0 for others."


def ranked(name: str, scores: Numbers) -> Order:
    """Return the order in which the lowest of `scores` [layer, head] goes first; of equals the lower head."""
    layer, head = np.unravel_index(np.argsort(scores, axis=None, kind="stable"), scores.shape)
    return Order(name, tuple(zip(layer.tolist(), head.tolist(), strict=True)))


def random_orders(shape: tuple[int, int], count: int, seed: int) -> list[Order]:
    """Return `count` orders at random of heads of `shape` (layers, heads)."""
    heads = [(layer, head) for layer in range(shape[0]) for head in range(shape[1])]
    drawn = [np.random.default_rng([seed, number]).permutation(len(heads)) for number in range(count)]
    return [
        Order(RANDOM, tuple(heads[place] for place in order.tolist()), number)
        for number, order in enumerate(drawn, start=1)
    ]


def halves(behaviour: Behaviour) -> tuple[IntArray, IntArray]:
    """Return the items by which heads are chosen, and those on which it is told what the choice does.

    Clusters are divided by a hash of their names. Raises BehaviourError where a half would be empty.
    """
    second = np.array([draws("half", cluster)[0] % 2 == 1 for cluster in behaviour.clusters])
    if second.all() or not second.any():
        raise BehaviourError(
            f"{behaviour.name}: heads are selected on one half of the documents and evaluated on the other, and "
            f"{len(set(behaviour.clusters))} cannot be halved: take more items"
        )
    return np.flatnonzero(~second), np.flatnonzero(second)


def taken(behaviour: Behaviour, items: IntArray) -> Behaviour:
    """Return the behaviour of some of the items, in their order."""
    number = {item: place for place, item in enumerate(items.tolist())}
    asked = [replace(one, item=number[one.item]) for one in behaviour.prompts if one.item in number]
    clusters = tuple(behaviour.clusters[item] for item in number)
    kinds = tuple(behaviour.kinds[item] for item in number) if behaviour.kinds else ()
    return replace(behaviour, prompts=asked, clusters=clusters, kinds=kinds)


def removals(heads: int, step: float) -> list[int]:
    """Return how many of `heads` are out at each point of a curve: none, then `step` of them more each time, to all."""
    points = range(1, int(np.ceil(1 / step - 1e-9)))
    return sorted({0, heads, *(round(heads * step * point) for point in points)})


def curves(
    behaviour: Behaviour,
    orders: Sequence[Order],
    removed: Sequence[int],
    step: Callable[[int], None] = lambda texts: None,
) -> Numbers:
    """Return [order, point, item], the values with the first `removed` heads of each order ablated by zero."""
    wanted = [tuple(sorted(order.heads[:count])) for order in orders for count in removed]
    sets = sorted(set(wanted))  # no head, and all heads, are in every order
    place = {heads: number for number, heads in enumerate(sets)}
    values = measure(behaviour, sets, ZERO, step=step).numpy()
    found: Numbers = values[[place[heads] for heads in wanted]]
    return found.reshape(len(orders), len(removed), -1)


def curve_table(
    behaviour: Behaviour, orders: Sequence[Order], removed: Sequence[int], values: Numbers, effort: Effort
) -> pd.DataFrame:
    """Return one row a measure, order and point; `values` are those of `curves`.

    `value` is the mean over items, `cost` that of the intact model less it, with a paired interval of resampled
    clusters; there is none where nothing was removed.
    """
    frames = []
    for measured in _measures(behaviour, values):
        by_order = measured.values.reshape(len(orders), len(removed), -1)
        cost = (by_order[:, :1] - by_order).reshape(len(measured.values), -1)
        intact = np.tile(np.array(removed) == 0, len(orders))
        costs = measured.estimate(cost, effort, "cost")
        told: dict[str, Any] = {"order": [order.name for order in orders for _ in removed]}
        told |= {"draw": [order.draw for order in orders for _ in removed], "removed": [*removed] * len(orders)}
        told |= {"value": measured.values.mean(1), **costs}
        told |= {end: np.where(intact, np.nan, costs[end]) for end in ("ci_low", "ci_high")}
        frames.append(pd.DataFrame(told | measured.about).assign(measure=measured.name, heads=removed[-1]))
    return pd.concat(frames, ignore_index=True)


def area_table(
    behaviour: Behaviour, orders: Sequence[Order], removed: Sequence[int], values: Numbers, effort: Effort
) -> pd.DataFrame:
    """Return one row a measure and order that is not random.

    `area` is that under the curve of the mean value against the share of heads left, by the trapezoid rule: the mean
    value over all sizes. `gain` is by how much it is above the mean area of the random orders, item by item, with an
    interval of resampled clusters; the least and the most area of a random order stand beside it.
    """
    share = np.array(removed, np.float64) / removed[-1]
    widths = np.diff(share)
    frames = []
    for measured in _measures(behaviour, values):
        by_order = measured.values.reshape(len(orders), len(removed), -1)
        areas = np.einsum("p,opi->oi", widths, (by_order[:, 1:] + by_order[:, :-1]) / 2)
        random = areas[[order.name == RANDOM for order in orders]]
        for order, area in zip(orders, areas, strict=True):
            if order.name == RANDOM:
                continue
            told = {"order": order.name, "area": area.mean(), "draws": len(random), "measure": measured.name}
            told |= {"random_area": random.mean(), "random_least": random.mean(1).min()}
            told |= {"random_most": random.mean(1).max(), **measured.about}
            gain = measured.estimate((area - random.mean(0))[None], effort, "gain")
            frames.append(pd.DataFrame(told | gain))
    return pd.concat(frames, ignore_index=True)


def _measures(behaviour: Behaviour, values: Numbers) -> list[AblatedMeasure]:
    return measures(behaviour, values.reshape(-1, values.shape[-1]))


def score_without(
    model: Model, texts: Sequence[Texts], probes: Sequence[Probe], heads: Heads, settings: Settings
) -> list[Split]:
    """Return the hits of all heads on each of `texts` while some heads are ablated by zero."""
    changes = tuple(Ablate(*head) for head in heads)
    outcomes = (
        score_corpus(model, one, probes, {}, settings, changes=lambda documents, batch: changes, hits_alone=True)
        for one in texts
    )
    return [Split(*pooled_sums(outcome, probes)) for outcome in outcomes]


def migration_table(
    before: Sequence[Split], after: Sequence[Split], kept: npt.NDArray[np.bool_], effort: Effort
) -> pd.DataFrame:
    """Return one row a question; `kept` [layer, head] says which heads are left.

    Three heads are selected on the selection split, and told of on the report split: `best` of all heads before,
    `kept`, the best before of those that stay, and `after`, the best of these once the others are gone. `change` is
    the accuracy of `after` less that of `kept`, paired, with an interval of resampled clusters: above 0 where the
    heads that are left have taken over. Questions that a split does not ask are left out.
    """
    bootstrap = effort.resamples(before[1].clusters, 1)
    stay = kept.ravel()
    rows = []
    for question in questions(*before):
        asked = [split.heads.get(question) for split in (*before, *after)]
        if any(sums is None for sums in asked):
            continue
        select, report, select_after, report_after = (sums for sums in asked if sums is not None)
        best = int(select.hits.sum(0).argmax())
        own = int(_only(select, stay).argmax())
        new = int(_only(select_after, stay).argmax())
        hits = np.stack([report.hits[:, best], report.hits[:, own], report_after.hits[:, new]], axis=1)
        resamples = bootstrap.of(report.clusters, report.n)
        low, high = resamples.interval(resamples.means((hits[:, 2] - hits[:, 1])[:, None]))[:, 0]
        accuracy = hits.sum(0) / report.n.sum()
        named = {
            name: head_name(divmod(head, kept.shape[1]))
            for name, head in (("best", best), ("kept", own), ("after", new))
        }
        told = dict(zip(("best_accuracy", "kept_accuracy", "after_accuracy"), accuracy.tolist(), strict=True))
        about = {"probe": question[0], "label": question[2], "variant": question[1], "n": int(report.n.sum())}
        about |= {"clusters": len(report.clusters), "stays": bool(stay[best])}
        rows.append({**about, **named, **told, "change": accuracy[2] - accuracy[1], "ci_low": low, "ci_high": high})
    return pd.DataFrame(rows)


def _only(sums: Sums, stay: npt.NDArray[np.bool_]) -> Numbers:
    """Return the hits of each head, less than none of those that are gone."""
    return np.where(stay, sums.hits.sum(0), -1)
