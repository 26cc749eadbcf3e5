"""Heads that are told where to attend: roles of known strength, and decoys that only follow an offset."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import cast

import numpy as np
import torch
from torch import Tensor

from mha.batches import Batch
from mha.causal.interventions import Attend
from probes.records import Document, IntArray
from probes.registry import Probe, get_probe
from probes.scoring.hashed_random import draws, random_bits
from probes.scoring.tally import Numbers, Question
from probes.targets import OTHERS, Targets

NOWHERE = -1
"In the place of a word: the head is left as it is."

Head = tuple[int, int]
"Layer and head, from 0."

NearestGold = tuple[IntArray, IntArray]
"The queries of a question in a text, and the right answer to each."


@dataclass(frozen=True)
class Knows:
    """A head that attends to the right word in a share of cases, and to a random other word in the rest."""

    question: Question
    strength: float
    "Share of the items in which it knows the answer."
    seed: int = 0
    spread: float = 0.0
    """How far a document's own share may lie from `strength`, to either side (no further than 0 or 1 is from it): real
    heads do better in some documents than in others, so that items of one document are alike."""

    def attended(self, document: Document, nearest: NearestGold | None = None) -> IntArray:
        """Return the word that each word attends to; the nearest gold where there are several, NOWHERE if not asked.

        `nearest` is `nearest_gold` of the question, where it is known already.
        """
        query, gold = nearest or nearest_gold(self.question, document)
        places = np.full(len(document), NOWHERE)
        other, uniform = _random_words(document, query, self.question, self.strength, self.seed)
        places[query] = np.where(uniform < self._strength_in(document), gold, other)
        return places

    def _strength_in(self, document: Document) -> float:
        """Return the share of a document, uniform over the spread."""
        reach = min(self.spread, self.strength, 1 - self.strength)
        drawn = draws("strength", document.id, self.question, self.strength, self.seed)[0] / 2**64
        return self.strength + reach * (2 * drawn - 1)


@dataclass(frozen=True)
class Follows:
    """A decoy: it attends to a fixed offset in a share of cases, whatever the words are, and else to a random word."""

    offset: int
    strength: float = 1.0
    seed: int = 0

    def attended(self, document: Document) -> IntArray:
        """Return the word that each word attends to, NOWHERE where the offset leads out of the text."""
        word = np.arange(len(document))
        other, uniform = _random_words(document, word, self.offset, self.strength, self.seed)
        place = np.where(uniform < self.strength, word + self.offset, other)
        return np.where((place >= 0) & (place < len(document)), place, NOWHERE)


@dataclass(frozen=True)
class RandomGold:
    """A probe whose gold answers are drawn anew: one random candidate an item, so that there is nothing to know."""

    probe: Probe
    draw: int
    "Number of the drawing."
    name: str
    variants: tuple[str, ...]
    scope: str
    baselines: tuple[str, ...]
    rules: tuple[str, ...]
    controls: tuple[str, ...]
    needs: str
    source: str = "a null hypothesis"

    @classmethod
    def of(cls, probe: Probe, variant: str, draw: int) -> Probe:
        """Draw gold answers for one variant of a probe."""
        name = f"{probe.name}, random {draw}"
        kinds = (probe.baselines, probe.rules, probe.controls, probe.needs)
        return cast(Probe, cls(probe, draw, name, (variant,), probe.scope, *kinds))

    def targets(self, document: Document) -> dict[str, Targets]:
        """Return the probe's questions with one random right answer each; ValueError where other keys may be right."""
        asked = self.probe.targets(document)[self.variants[0]]
        items = np.arange(len(asked))
        if isinstance(asked.candidates, str):
            if asked.candidates != OTHERS:
                raise ValueError(f"{self.name}: drawn among other words or listed candidates, not {asked.candidates}")
            gold = _random_words(document, asked.query, self.name)[0]
        else:
            key, item = asked.candidates
            drawn = random_bits(np.array(draws(self.name, document.id, _first(document))[:1], np.uint64), item, key)
            gold = key[np.lexsort((drawn, item))[np.searchsorted(item, items)]]
        return {self.variants[0]: replace(asked, gold=(gold, items))}

    def pool(self, label: str) -> Sequence[str]:
        """Labels count as they do for the probe."""
        return self.probe.pool(label)


Planted = Mapping[Head, Knows | Follows]


def nearest_gold(question: Question, document: Document) -> NearestGold:
    """Return the queries of a question in a text, and the gold key nearest to each."""
    probe = get_probe(question[0])
    targets: Targets = probe.targets(document)[question[1]]
    counts = np.array([question[2] in probe.pool(label) for label in targets.label], bool)
    key, item = targets.gold
    order = np.lexsort((np.abs(key - targets.query[item]), item))
    first = order[np.searchsorted(item[order], np.arange(len(targets)))] if len(targets) else order
    return targets.query[counts], key[first][counts]


def _random_words(document: Document, query: IntArray, *what: object) -> tuple[IntArray, Numbers]:
    """Return a random other word for every query, and a random number in [0, 1)."""
    drawn = np.array(draws("planted", document.id, _first(document), *what)[:2], np.uint64)
    bits = random_bits(drawn[:1], query)
    others = max(len(document) - 1, 1)
    other = (query + 1 + (bits % np.uint64(others)).astype(np.int64)) % max(len(document), 1)
    return other, (random_bits(drawn[1:], query) >> np.uint64(11)).astype(np.float64) * 2.0**-53


def _first(document: Document) -> str:
    """Return the id of a text's first sentence, which tells texts of one document apart."""
    return document.sentences[0].id if document.sentences else ""


def planted_changes(planted: Planted, documents: Sequence[Document], batch: Batch) -> list[Attend]:
    """Return what makes the heads of a model attend as `planted` says while it reads a batch, one change a layer."""
    patterns: dict[int, dict[int, Tensor]] = {}
    known: dict[Question, list[NearestGold]] = {}
    for (layer, head), role in planted.items():
        if isinstance(role, Knows):
            if role.question not in known:
                known[role.question] = [nearest_gold(role.question, text) for text in documents]
            places = [role.attended(*pair) for pair in zip(documents, known[role.question], strict=True)]
        else:
            places = [role.attended(text) for text in documents]
        patterns.setdefault(layer, {})[head] = piece_pattern(places, batch)
    return [Attend(layer, heads) for layer, heads in sorted(patterns.items())]


def piece_pattern(places: Sequence[IntArray], batch: Batch) -> Tensor:
    """Return [batch, query, key] over pieces: all pieces of a word attend to the pieces of the word told, alike."""
    texts, width = len(places), batch.from_words.shape[1]
    words = np.zeros((texts, width, width), np.float32)
    for text, place in enumerate(places):
        query = np.flatnonzero(place != NOWHERE)
        words[text, query, place[query]] = 1
    return batch.to_words[:, :, :width] @ torch.from_numpy(words) @ batch.from_words
