"""Heads taken out one after the other: what a behaviour keeps, by the order in which they go."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pandas as pd

from probes.causal.ablation import ZERO, Heads, measure
from probes.causal.ablation_table import AblatedMeasure, measures
from probes.causal.behaviours import Behaviour, BehaviourError
from probes.evidence.question import Effort
from probes.records import IntArray
from probes.scoring.hashed_random import draws
from probes.scoring.tally import Numbers

IMPORTANCE, COST, RANDOM = "importance", "cost", "random"

ORDERS = (IMPORTANCE, COST, RANDOM)
"""In which order heads go: the least important first (gradient importance), those first that cost least when they alone
are ablated (scored once, with all others there), or at random."""

COLUMNS = (
    *("behaviour", "unit", "measure", "order", "draw", "removed", "heads", "n", "clusters"),
    *("value", "cost", "ci_low", "ci_high"),
)
"Columns of `curve_table`."

AREAS = (
    *("behaviour", "unit", "measure", "order", "n", "clusters", "area", "draws", "random_area"),
    *("random_least", "random_most", "gain", "ci_low", "ci_high"),
)
"Columns of `area_table`."


@dataclass(frozen=True)
class Order:
    """All heads of a model in the order in which they are taken out."""

    name: str
    "One of ORDERS."
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
    """Return one row a measure, order and point, in COLUMNS; `values` are those of `curves`.

    `value` is the mean over items, `cost` that of the intact model less it, with a paired interval of resampled
    clusters; there is none where nothing was removed.
    """
    frames = []
    for measured in _measures(behaviour, values):
        by_order = measured.values.reshape(len(orders), len(removed), -1)
        cost = (by_order[:, :1] - by_order).reshape(len(measured.values), -1)
        low, high = measured.interval(cost, effort)
        intact = np.tile(np.array(removed) == 0, len(orders))
        frame = pd.DataFrame(
            {
                "order": [order.name for order in orders for _ in removed],
                "draw": [order.draw for order in orders for _ in removed],
                "removed": [*removed] * len(orders),
                "value": measured.values.mean(1),
                "cost": cost.mean(1),
                "ci_low": np.where(intact, np.nan, low),
                "ci_high": np.where(intact, np.nan, high),
            }
        )
        frames.append(frame.assign(heads=removed[-1], **_about(behaviour, measured)))
    return pd.concat(frames, ignore_index=True)[[*COLUMNS]]


def area_table(
    behaviour: Behaviour, orders: Sequence[Order], removed: Sequence[int], values: Numbers, effort: Effort
) -> pd.DataFrame:
    """Return one row a measure and order that is not random, in AREAS.

    `area` is that under the curve of the mean value against the share of heads left, by the trapezoid rule: the mean
    value over all sizes. `gain` is by how much it is above the mean area of the random orders, item by item, with an
    interval of resampled clusters; the least and the most area of a random order stand beside it.
    """
    share = np.array(removed, np.float64) / removed[-1]
    widths = np.diff(share)
    rows = []
    for measured in _measures(behaviour, values):
        by_order = measured.values.reshape(len(orders), len(removed), -1)
        areas = np.einsum("p,opi->oi", widths, (by_order[:, 1:] + by_order[:, :-1]) / 2)
        random = areas[[order.name == RANDOM for order in orders]]
        for order, area in zip(orders, areas, strict=True):
            if order.name == RANDOM:
                continue
            row = {"order": order.name, "area": area.mean(), "draws": len(random), **_about(behaviour, measured)}
            gain, (least, most) = (area - random.mean(0))[None], np.quantile(random.mean(1), (0, 1))
            low, high = measured.interval(gain, effort)[:, 0]
            row |= {"random_area": random.mean(), "random_least": least, "random_most": most}
            rows.append(row | {"gain": gain.mean(), "ci_low": low, "ci_high": high})
    return pd.DataFrame(rows, columns=[*AREAS])


def _measures(behaviour: Behaviour, values: Numbers) -> list[AblatedMeasure]:
    return measures(behaviour, values.reshape(-1, values.shape[-1]))


def _about(behaviour: Behaviour, measured: AblatedMeasure) -> dict[str, Any]:
    return {
        "behaviour": behaviour.name,
        "unit": measured.unit,
        "measure": measured.name,
        "n": measured.values.shape[1],
        "clusters": measured.clusters,
    }
