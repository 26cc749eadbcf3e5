"""Sets of heads that are ablated together: single heads, whole layers, chosen heads, and as many at random."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd

from probes.causal.ablation import Heads

HEAD, LAYER, SELECTED, RANDOM = "head", "layer", "selected", "random"

KINDS = (HEAD, LAYER, SELECTED, RANDOM)
"""Kinds of sets: one head; all heads of a layer; those that a probe's label selects; as many random heads as these."""

SPECIALISED, MARGIN = "specialised", "largest margin"
"What heads of a label are selected by: their grades, or their margins on the selection split."


@dataclass(frozen=True)
class HeadSet:
    """Heads that are ablated together."""

    kind: str
    "One of KINDS."
    name: str
    "The head's name, from 1 (3-5); the layer's number, from 1; or what the heads were chosen for."
    heads: Heads
    draw: int = 0
    "Number of a random set, from 1; 0 for others."
    by: str = ""
    "What chosen heads were chosen by; empty for others."


def single_heads(layers: int, heads: int) -> list[HeadSet]:
    """Return a set for every head."""
    return [HeadSet(HEAD, head_name((i, j)), ((i, j),)) for i in range(layers) for j in range(heads)]


def whole_layers(layers: int, heads: int) -> list[HeadSet]:
    """Return a set for every layer."""
    return [HeadSet(LAYER, str(i + 1), tuple((i, j) for j in range(heads))) for i in range(layers)]


def head_name(head: tuple[int, int]) -> str:
    """Return the name of a head, from 1: "3-5" for (2, 4)."""
    return f"{head[0] + 1}-{head[1] + 1}"


@dataclass(frozen=True)
class RandomSets:
    """Random heads to hold chosen ones against."""

    sets: tuple[Heads, ...]
    elsewhere: int
    "Heads of each set that are of other layers than the chosen ones, for their layers have too few others."


def random_sets(selected: Heads, shape: tuple[int, int], draws: int, seed: Sequence[int]) -> RandomSets | None:
    """Return `draws` sets of heads that are not chosen, of each layer as many as are; `shape` is (layers, heads).

    Where a layer has too few other heads all of them are taken, and what is missing is drawn from the other layers.
    None where more than half of all heads are chosen, or none.
    """
    layers, heads = shape
    others = {
        layer: [(layer, head) for head in range(heads) if (layer, head) not in selected] for layer in range(layers)
    }
    wanted = Counter(layer for layer, _ in selected)
    if not selected or sum(map(len, others.values())) < len(selected):
        return None
    random = np.random.default_rng(list(seed))

    def drawn(pool: list[tuple[int, int]], count: int) -> list[tuple[int, int]]:
        return [pool[place] for place in random.permutation(len(pool))[:count].tolist()]

    elsewhere = sum(max(0, count - len(others[layer])) for layer, count in wanted.items())
    sets = []
    for _ in range(draws):
        taken = [head for layer, count in sorted(wanted.items()) for head in drawn(others[layer], count)]
        rest = [head for pool in others.values() for head in pool if head not in taken]
        sets.append(tuple(sorted(taken + drawn(rest, elsewhere))))
    return RandomSets(tuple(sets), elsewhere)


def choose_heads(scores: pd.DataFrame, label: str, top: int) -> tuple[Heads, str]:
    """Return the heads of "probe: label", or of any label of "probe", in order, and what they are chosen by.

    With `top` those with the largest margins on the selection split, in any variant; without it those that have a
    grade, or the one with the largest margin where there is none. None where nothing of the label was scored.
    """
    probe, _, name = label.partition(": ")
    rows = scores[(scores["probe"] == probe) & (scores["label"] == name if name else True)]
    found, by = rows[(rows["split"] == "report") & (rows["grade"] > 0)], SPECIALISED
    if top or found.empty:
        best = rows[(rows["split"] == "select") & rows["margin"].notna()]
        best = best.sort_values(["margin", "layer", "head"], ascending=[False, True, True])
        found, by = best.drop_duplicates(["layer", "head"]).head(max(top, 1)), MARGIN
    places = zip(found["layer"].tolist(), found["head"].tolist(), strict=True)
    return tuple(sorted(set(places))), by


def against_random(label: str, selected: Heads, by: str, drawn: RandomSets) -> list[HeadSet]:
    """Return the set of the heads that a label chose, and those of random heads."""
    random = (HeadSet(RANDOM, label, heads, number) for number, heads in enumerate(drawn.sets, 1))
    return [HeadSet(SELECTED, label, selected, by=by), *random]
