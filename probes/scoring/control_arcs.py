"""Control arcs: random gold at the distances of gold, for the same heads on the same items."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import numpy.typing as npt

from probes.records import IntArray
from probes.scoring.baseline_texts import ZERO, Counts, Shown, candidate_words
from probes.scoring.hashed_random import Bits, draws, random_bits
from probes.targets import Items

Weights = npt.NDArray[np.float64]
"[pair] A number for every pair of item and candidate."

NEVER = 1e-12
"Weight of a distance at which gold never lay: it counts only where no candidate has another."


class ControlArcs:
    """Draws for every item as many random keys as it has gold keys, so that nothing but the distance is right.

    The distances are those of gold on the selection split by label. Pooled labels (`Items.pooled`) have draws of their
    own: one that is pooled of bands of distance must not give the band away. A key is drawn among the item's candidate
    words, with a weight of how often a candidate at its distance was gold; among all of them alike where none lies at a
    distance of gold. Draws are a function of seed, document id, id of the first sentence, question, query and key
    alone. A head that is as good here as on gold knows distances and nothing else.
    """

    def __init__(self, seed: int) -> None:
        self.seed = seed
        self.seen = Counts()

    def learn(self, items: Items, shown: Shown) -> None:
        """Count at which distances candidates lay, and how often they were gold."""
        item, key = candidate_words(items, shown)
        right = np.zeros((len(items), shown.keys), np.int64)
        right[items.gold[1], items.gold[0]] = 1
        self.seen.add(self.seen.codes(items, item, key - items.query[item] + ZERO), right[item, key])

    def draw(self, items: Items, shown: Shown) -> Items:
        """Return the items with random keys in place of gold."""
        item, key = candidate_words(items, shown)
        wait = self._waits(items, shown, item, key)
        weight = self._weights(items, item, key - items.query[item], shown.keys)
        race = np.full((len(items), shown.keys), np.inf)
        race[item, key] = wait / np.maximum(weight, NEVER)
        wanted = np.bincount(items.gold[1], minlength=len(items))
        fastest = np.argsort(race, 1)[:, : wanted.max()]
        chosen = np.arange(fastest.shape[1]) < wanted[:, None]
        return replace(items, gold=(fastest[chosen], np.repeat(np.arange(len(items)), wanted)))

    def _waits(self, items: Items, shown: Shown, item: IntArray, key: IntArray) -> Weights:
        """Return an exponential time for every pair of item and key.

        Divided by weights, the shortest ones are a sample by weight without replacement (Efraimidis and Spirakis 2006).
        """
        asked = [(items.probe, items.variant, label) for label in items.labels]
        told = [(text.id, text.sentences[0].id if text.sentences else "") for text in shown.documents]
        of_label, of_text = self._numbers(asked), self._numbers(told)
        of_item = random_bits(of_text[items.text], of_label[items.label], items.query)
        uniform = (random_bits(of_item[item], key) >> np.uint64(11)) + 0.5
        waits: Weights = -np.log(uniform * 2.0**-53)
        return waits

    def _numbers(self, things: Sequence[tuple[str, ...]]) -> Bits:
        return np.array([draws(self.seed, "control arcs", thing)[0] for thing in things], np.uint64)

    def _weights(self, items: Items, item: IntArray, distance: IntArray, width: int) -> Weights:
        """Return how often a candidate at each distance was gold, by the item's label."""
        _, first, label = np.unique(items.label, return_index=True, return_inverse=True)
        distances = np.arange(-width, width + 1)
        codes = self.seen.codes(items, np.repeat(first, len(distances)), np.tile(distances + ZERO, len(first)))
        candidates, gold = self.seen.of(codes)
        weights: Weights = (gold / np.maximum(candidates, 1)).reshape(len(first), -1)
        return weights[label[item], distance + width]
