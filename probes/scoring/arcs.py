"""Arcs of pairs, right and wrong ones, for trained probes."""

from __future__ import annotations

import hashlib
from bisect import bisect_left
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TypeVar

import numpy as np

from probes.records import Document, IntArray
from probes.registry import Probe
from probes.scoring.aligned import CHUNK, Aligned
from probes.scoring.hashed_random import draws
from probes.scoring.tally import Question
from probes.targets import Keys

Thing = TypeVar("Thing")

TASKS = ("gold", "control")
"What a classifier is asked to tell apart: gold from another candidate, or the control task's key from another one."


@dataclass(frozen=True, slots=True, eq=False)
class Arc:
    """A query with one of its gold keys, and what the wrong pair and the control task are drawn from."""

    text: tuple[str, int]
    "The content of the text, and which of its copies it is: equal texts are told apart, but not by where they stand."
    number: int
    "Index of the text among those that the model can read."
    query: int
    gold: int
    wrong: int
    "A candidate that is not right in this item nor in another one of the same query."
    candidates: tuple[int, ...]
    "Words, ascending; without the query and without words that have no pieces."
    form: str
    "Word form of the query, lower-cased."
    rank: int
    "Random number; the arcs with the lowest ones are sampled."
    draw: int
    "Random number in [0, 2**64) for the wrong key of the control task."


@dataclass(frozen=True)
class ControlTask:
    """A task without language: every word form has a fixed random offset, and the word there counts as right.

    Offsets are drawn from those of the gold keys of the selection split, so only words and answers are unrelated
    (Hewitt and Liang 2019, section 2, whose control for dependency edges draws one of three places for a word form).
    The key is the candidate nearest to the query plus the offset, the left one of two; so it is never the query, never
    outside the text, and of the same kind as gold.
    """

    offsets: tuple[int, ...]
    "Offsets of gold from the query, ascending, each as often as it occurs."
    seed: int

    @classmethod
    def of(cls, arcs: Sequence[Arc], seed: int) -> ControlTask:
        """Return the control task of a label whose arcs on the selection split are `arcs`."""
        return cls(tuple(sorted(arc.gold - arc.query for arc in arcs)), seed)

    def offset(self, form: str) -> int:
        """Return the offset of a word form."""
        return pick(self.offsets, draws(self.seed, "control", form)[0])

    def keys(self, arc: Arc) -> tuple[int, int]:
        """Return the key that counts as right for an arc's query, and another candidate."""
        place = arc.query + self.offset(arc.form)
        after = bisect_left(arc.candidates, place)
        right = min(arc.candidates[max(after - 1, 0) : after + 1], key=lambda key: abs(key - place))
        return right, pick([key for key in arc.candidates if key != right], arc.draw)


def pick(things: Sequence[Thing], draw: int) -> Thing:
    """Return one of `things` by a random number in [0, 2**64)."""
    return things[(draw * len(things)) >> 64]


def sample_arcs(aligned: Aligned, probes: Sequence[Probe], *, pairs: int, seed: int) -> dict[Question, list[Arc]]:
    """Return at most `pairs` arcs a question, by random rank.

    Asked are the probes about relations (those that need more than words and their frequencies) in the first of their
    variants, with pooled labels. An item gives one arc, to one of its gold keys; it gives none if every candidate is
    right. The sample is a function of the set of texts, not of their order.
    """
    sampled: dict[Question, list[Arc]] = {}
    copies: Counter[str] = Counter()
    asked = [probe for probe in probes if probe.needs not in ("words", "frequencies")]
    for start in range(0, len(aligned.kept) if asked else 0, CHUNK):
        numbers = range(start, min(start + CHUNK, len(aligned.kept)))
        for number, document in zip(numbers, aligned.texts.take([aligned.kept[i] for i in numbers]), strict=True):
            content = content_of(document)
            for probe in asked:
                for label, arc in _arcs(probe, document, (content, copies[content]), number, aligned, seed):
                    for pooled in probe.pool(label):
                        sampled.setdefault((probe.name, probe.variants[0], pooled), []).append(arc)
            copies[content] += 1
        sampled = {question: sorted(arcs, key=lambda arc: arc.rank)[:pairs] for question, arcs in sampled.items()}
    return sampled


def content_of(document: Document) -> str:
    """Return a hash of all that is annotated in a text."""
    columns = (document.words, document.heads.tolist(), document.deprels, document.upos, document.feats)
    return hashlib.blake2b(repr((document.id, columns, document.mentions)).encode(), digest_size=16).hexdigest()


def _arcs(
    probe: Probe, document: Document, text: tuple[str, int], number: int, aligned: Aligned, seed: int
) -> Iterator[tuple[str, Arc]]:
    """Yield the arcs of one text with their labels."""
    gone = set(aligned.pieces[number].missing())
    targets = probe.targets(document)[probe.variants[0]]
    golds, every = _sets(targets.gold, len(targets)), range(len(document))
    right_of: dict[int, set[int]] = {}
    for query, gold in zip(targets.query.tolist(), golds, strict=True):
        right_of.setdefault(query, set()).update(gold)
    among = [every] * len(targets) if isinstance(targets.candidates, str) else _sets(targets.candidates, len(targets))
    for query, label, gold, keys in zip(targets.query.tolist(), targets.label, golds, among, strict=True):
        if query in gone:
            continue
        candidates = [key for key in keys if key != query and key not in gone]
        right, wrong = [key for key in candidates if key in gold], [k for k in candidates if k not in right_of[query]]
        if right and wrong:
            rank, *draw = draws(seed, text, probe.name, query, label)
            yield (
                label,
                Arc(
                    text=text,
                    number=number,
                    query=query,
                    gold=pick(right, draw[0]),
                    wrong=pick(wrong, draw[1]),
                    candidates=tuple(candidates),
                    form=document.words[query].lower(),
                    rank=rank,
                    draw=draw[2],
                ),
            )


def _sets(keys: Keys, items: int) -> list[list[int]]:
    """Return the keys of each item."""
    sets: list[list[int]] = [[] for _ in range(items)]
    for key, item in zip(keys[0].tolist(), keys[1].tolist(), strict=True):
        sets[item].append(key)
    return sets


def pairs_of(arcs: Sequence[Arc], control: ControlTask) -> IntArray:
    """Return [task, arc, 2, 2], the (query, key) of the right and the wrong pair of each arc in each of TASKS."""
    keys = [[(arc.gold, arc.wrong) for arc in arcs], [control.keys(arc) for arc in arcs]]
    pairs = [[[(arc.query, key) for key in both] for arc, both in zip(arcs, task, strict=True)] for task in keys]
    return np.array(pairs, np.int64)
