"""What heads do with all of their attention: how much of it lies on the pairs of words that stand in a relation.

Accuracy asks about scored words alone; here every word counts. The gold pairs of a text that belong to the same
questions have one signature. Attention is summed by signature, so that the numbers of every question, and of any set of
questions, follow from the pass in which heads are scored.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
import pandas as pd
import torch
from torch import Tensor

from mha.batches import Batch
from mha.device import exact
from probes.evidence.results import SPLITS
from probes.records import Document, IntArray
from probes.registry import Probe
from probes.scoring.scorer import BROAD_LIMIT, top_of
from probes.scoring.tally import Numbers, Question
from probes.targets import Items

STRONG = BROAD_LIMIT
"A word attends to another if that one gets the most of all others, and at least this much of the word's attention."

Signature = frozenset[Question]
"The questions of which a pair of words is gold, without pooled labels."


SUMMED: Final = ("strong", "between", "by_offset", "n", "_on", "_hits", "_pairs")
"Arrays of `RelationAttention`."


@dataclass(frozen=True)
class GoldPairs:
    """The pairs of different words of a batch that are gold in some question, each once; special tokens have none."""

    text: IntArray
    "[pair]"
    query: IntArray
    "[pair] The word that attends."
    key: IntArray
    "[pair] The word that is attended to."
    signature: IntArray
    "[pair] Index into `signatures`."
    signatures: tuple[Signature, ...]

    @classmethod
    def of(cls, item_sets: Sequence[Items]) -> GoldPairs:
        """Collect the pairs of all items: (query, gold), or (gold, query) where columns are read."""
        questions: list[Question] = []
        found = [np.zeros((4, 0), np.int64)]
        for items in item_sets:
            gold, item = items.gold
            word, label = items.query[item], items.label[item] + len(questions)
            query, key = (gold, word) if items.by_column else (word, gold)
            found.append(np.stack([items.text[item], query, key, label])[:, (gold >= 0) & (gold != word)])
            questions.extend((items.probe, items.variant, one) for one in items.labels)
        every = np.concatenate(found, 1)
        shape = tuple(every.max(1, initial=0) + 1)
        pair, question = np.divmod(np.unique(np.ravel_multi_index(tuple(every), shape)), shape[-1])
        pair, first = np.unique(pair, return_index=True)
        names = np.random.default_rng(0).integers(2**63, size=len(questions), dtype=np.uint64)
        sums = np.add.reduceat(names[question], first)  # of equal sets; those of others are equal once in 2**63
        _, example, signature = np.unique(sums, return_index=True, return_inverse=True)
        last = np.append(first[1:], len(question))
        signatures = (frozenset(questions[one] for one in question[first[i] : last[i]]) for i in example)
        text, query, key = np.unravel_index(pair, shape[:-1])
        return cls(text, query, key, signature, tuple(signatures))


class RelationAttention:
    """Sums the attention between words of all heads, while heads are scored (an Observer)."""

    def __init__(self, layers: int, heads: int, probes: Sequence[Probe]) -> None:
        """Look at heads of that many layers; `probes` are those whose questions are asked."""
        self.shape, self.pools = (layers, heads), {probe.name: probe.pool for probe in probes}
        count = layers * heads
        self.questions: set[Question] = set()
        self.strong = np.zeros(count)
        "[layer * head] Words whose strongest other word gets at least STRONG."
        self.words, self.between = 0.0, np.zeros(count)
        "Number of words; [layer * head] the attention between different words."
        self.by_offset = np.zeros((1, count))
        """[offset, layer * head] Attention to the word so many words on, from the furthest before to the furthest
        after, in units of uniform attention to the other words of the text."""
        self.n = np.zeros(1)
        "[offset] Pairs of words that lie so far apart."
        self._rows: dict[Signature, int] = {}
        self._on, self._hits = np.zeros((0, count)), np.zeros((0, count))
        "[signature, layer * head] Attention on pairs, and how many of them are a word and its strongest other word."
        self._pairs = np.zeros((0, 1))
        "[signature, offset] What uniform attention to the other words of a text puts on pairs."

    def observe(self, documents: Sequence[Document], batch: Batch, items: Sequence[Items]) -> RelationObservation:
        """Return what sums the attention of a batch."""
        return RelationObservation(items, batch, self.shape)

    def add(self, observation: RelationObservation) -> None:
        """Take in a batch."""
        self.questions |= observation.questions
        rows = [self._rows.setdefault(one, len(self._rows)) for one in observation.pairs.signatures]
        self._reserve(observation.width - 1)
        reach = len(self.n) // 2
        near = slice(reach - observation.width + 1, reach + observation.width)
        self._on[rows] += observation.on.reshape(-1, self.strong.size)
        self._hits[rows] += observation.hits.reshape(-1, self.strong.size)
        self._pairs[rows, near] += observation.pairs_by_offset()
        self.words += float(observation.n[observation.width - 1])
        self.between += observation.between.reshape(-1)
        self.strong += observation.strong.reshape(-1)
        self.by_offset[near] += observation.by_offset.reshape(2 * observation.width - 1, -1)
        self.n[near] += observation.n

    def saved(self) -> dict[str, Any]:
        """Return all that was summed as arrays without objects, for `take`."""
        signatures = [sorted(one) for one in self._rows]
        names = {"questions": sorted(self.questions), "signatures": signatures, "words": self.words}
        return {name: getattr(self, name) for name in SUMMED} | {"names": np.array(json.dumps(names))}

    def take(self, saved: Mapping[str, Any]) -> None:
        """Go on from what another of the same shape and probes had `saved`."""
        names = json.loads(saved["names"].item())
        self.questions = {_question(one) for one in names["questions"]}
        self._rows = {frozenset(map(_question, one)): row for row, one in enumerate(names["signatures"])}
        self.words = float(names["words"])
        for name in SUMMED:
            setattr(self, name, saved[name])

    def _reserve(self, reach: int) -> None:
        """Make room for all signatures, and for offsets up to `reach`."""
        rows, more = len(self._rows) - len(self._on), max(reach - len(self.n) // 2, 0)
        self._on, self._hits = (np.pad(sums, ((0, rows), (0, 0))) for sums in (self._on, self._hits))
        self._pairs = np.pad(self._pairs, ((0, rows), (more, more)))
        self.by_offset, self.n = np.pad(self.by_offset, ((more, more), (0, 0))), np.pad(self.n, more)

    @property
    def between_share(self) -> Numbers:
        """[layer * head] Attention between words as a share of all attention of words, in [0, 1]; NaN without words."""
        return _ratio(self.between, np.full_like(self.between, self.words))

    def members(self) -> dict[Question, IntArray]:
        """Return the signatures whose pairs are gold in a question, of all that were asked, pooled labels included."""
        rows: dict[Question, set[int]] = {pooled: set() for one in self.questions for pooled in self._pooled(one)}
        for signature, row in self._rows.items():
            for one in signature:
                for pooled in self._pooled(one):
                    rows[pooled].add(row)
        return {question: np.array(sorted(found), np.int64) for question, found in rows.items()}

    def _pooled(self, question: Question) -> list[Question]:
        probe, variant, label = question
        return [(probe, variant, pooled) for pooled in self.pools[probe](label)]

    def measures(self) -> dict[Question, tuple[Numbers, Numbers]]:
        """Return precision and lift [layer * head] of every question; NaN of those without pairs of different words.

        The precision, in [0, 1], is the share of pairs of the relation among all words and their strongest other word
        that gets at least STRONG; NaN where no word has such a one. The lift is attention on the pairs of the relation,
        divided by what the head's mean attention at their offsets comes to: 1 where it follows from distance alone, as
        for the previous word. Texts differ in length, so that means are taken of attention in units of 1 / (n - 1),
        what each of the n - 1 other words of a text gets from uniform attention: that has a lift of 1.
        """
        at_offset = np.divide(
            self.by_offset, self.n[:, None], out=np.zeros_like(self.by_offset), where=self.n[:, None] > 0
        )
        expected = self._pairs @ at_offset
        return {
            question: (
                _ratio(self._hits[rows].sum(0), self.strong * bool(len(rows))),
                _ratio(self._on[rows].sum(0), expected[rows].sum(0)),
            )
            for question, rows in self.members().items()
        }

    def explained(self, roles: Sequence[Iterable[Question]]) -> Numbers:
        """Return the share of attention between different words that lies on pairs of any of a head's roles, in [0, 1].

        `roles` are those of each head, [layer * head]; a pair that stands in several counts once. NaN where a role was
        not asked about, or the head has no attention between words.
        """
        members, on = self.members(), np.full(len(roles), np.nan)
        for head, questions in enumerate(map(list, roles)):
            if all(question in members for question in questions):
                rows = np.unique(np.concatenate([np.zeros(0, np.int64), *(members[one] for one in questions)]))
                on[head] = self._on[rows, head].sum()
        return _ratio(on, self.between)


class RelationObservation:
    """What one batch contributes to `RelationAttention`."""

    def __init__(self, item_sets: Sequence[Items], batch: Batch, shape: tuple[int, int]) -> None:
        """Lay out the pairs of the questions `item_sets`; `shape` is (layers, heads)."""
        self.questions = {(items.probe, items.variant, label) for items in item_sets for label in items.labels}
        self.pairs = pairs = GoldPairs.of(item_sets)
        texts, self.width = batch.from_words.shape[:2]
        cell = (pairs.query * (self.width + 2) + pairs.key) * texts + pairs.text
        rows = (pairs.query * texts + pairs.text, cell, pairs.signature)
        self._row, self._cell, self._signature = (torch.from_numpy(one).to(batch.device) for one in rows)
        word = torch.arange(self.width, device=batch.device)
        self._offset = (word - word[:, None] + self.width - 1).flatten()
        "[query * key] Index of the offset."
        whole = (batch.from_words.sum(2) > 0.5).cpu().double()
        self._others = (whole.sum(1) - 1).float().to(batch.device)
        "[text] Number of other words that a word can attend to."
        self.n = np.bincount(self._offset.cpu().numpy(), (whole.T @ whole).flatten().numpy())
        self.on = np.zeros((len(pairs.signatures), *shape))
        self.hits = np.zeros_like(self.on)
        self.strong = np.zeros(shape)
        self.between = np.zeros(shape)
        self.by_offset = np.zeros((2 * self.width - 1, *shape))

    def pairs_by_offset(self) -> Numbers:
        """Return what uniform attention to other words puts on pairs, by signature and offset."""
        offset, count = self.pairs.key - self.pairs.query + self.width - 1, 2 * self.width - 1
        cell, uniform = self.pairs.signature * count + offset, 1 / self._others.cpu().double().numpy()[self.pairs.text]
        cells: Numbers = np.bincount(cell, uniform, len(self.pairs.signatures) * count).astype(np.float64)
        return cells.reshape(-1, count)

    def see(self, layer: int, maps: Tensor, pattern: Tensor) -> None:
        """Sum the attention of a layer."""
        memory = maps.permute(2, 3, 0, 1).contiguous()
        words = memory[:, : self.width]
        double = exact(maps.device)
        relative = (words * self._others[:, None]).sum(2, dtype=double).flatten(0, 1)
        self.by_offset[:, layer] = _sums(relative, self._offset, len(self.by_offset))
        diagonal = torch.arange(self.width, device=maps.device)
        itself = words[diagonal, diagonal]
        words[diagonal, diagonal] = 0
        self.between[layer] = words.sum((0, 1, 2), dtype=double).cpu().numpy()
        top = top_of(words, 1)
        words[diagonal, diagonal] = itself
        best = top.best.flatten(0, 1)
        self.strong[layer] = (best >= STRONG).sum(0).cpu().numpy()
        on = memory.view(-1, maps.shape[1]).index_select(0, self._cell)
        hits = (on >= best.clamp(min=STRONG).index_select(0, self._row)).to(double)
        if top.ties is not None:
            hits /= top.ties.flatten(0, 1).index_select(0, self._row)
        self.on[:, layer] = _sums(on.to(double), self._signature, len(self.on))
        self.hits[:, layer] = _sums(hits, self._signature, len(self.on))


def _sums(values: Tensor, place: Tensor, places: int) -> Numbers:
    """Return the sums [place, head] of values [row, head]."""
    summed: Numbers = values.new_zeros(places, values.shape[1]).index_add_(0, place, values).cpu().double().numpy()
    return summed


def _question(names: Sequence[str]) -> Question:
    probe, variant, label = names
    return probe, variant, label


def _ratio(part: Numbers, whole: Numbers) -> Numbers:
    """Return part / whole, NaN where there is no whole."""
    ratio: Numbers = np.divide(part, whole, out=np.full(part.shape, np.nan), where=whole > 0)
    return ratio


def add_relation_attention(scores: pd.DataFrame, attention: RelationAttention) -> pd.DataFrame:
    """Return scores (`probes.evidence.results.score_table`) with the precision and the lift of the report split."""
    names = ["precision", "lift"]
    columns = scores[names].to_numpy(np.float64, copy=True)
    places = scores.groupby(["probe", "variant", "label", "split"], sort=False).indices
    for question, numbers in attention.measures().items():
        rows = places.get((*question, SPLITS[1]))
        if rows is not None:
            columns[rows] = np.stack(numbers, 1)
    return scores.assign(**dict(zip(names, columns.T, strict=True)))
