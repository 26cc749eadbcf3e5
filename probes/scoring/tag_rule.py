"""The nearest word of a few parts of speech: what a rule of grammar finds that knows tags, but no tree and no model."""

from __future__ import annotations

import threading
from collections import defaultdict
from dataclasses import dataclass
from typing import Final

import numpy as np
import numpy.typing as npt

from probes.records import IntArray
from probes.scoring.baseline_texts import NONE, TAGS, Ranks, Rows, Shown, candidate_words, one_hot
from probes.scoring.tally import Question
from probes.targets import Items

MOST_TAGS: Final = 5
"Tags that a rule may name: the most frequent ones of right words."

SIDES: Final = {"before": [0], "after": [1], "on either side": [0, 1]}
"Where a rule looks, and the columns of `Ranks` that it reads."

Right = npt.NDArray[np.bool_]


@dataclass(frozen=True)
class NearestTag:
    """The rule of one question: the nearest word with one of the tags."""

    side: str
    tags: tuple[str, ...]


class TagRule:
    """Attends to the nearest candidate whose part of speech is in a set: before the query, after it, or on either side.

    Side and set are chosen for each label on the selection split: of the five most frequent tags of right words, tags
    are added one by one, each time the one with which most items are answered, while that grows. Where no such word
    stands there, nothing is attended to. It knows the corpus' tags, which a model does not: an expert's rule of grammar
    without a tree.
    """

    def __init__(self) -> None:
        self._seen: dict[Question, list[tuple[Ranks, Right]]] = defaultdict(list)
        self._golds: dict[Question, IntArray] = defaultdict(lambda: np.zeros(len(TAGS), np.int64))
        "[tag] How many right words have it."
        self._rules: dict[Question, NearestTag] = {}
        self._choosing = threading.Lock()

    def learn(self, items: Items, shown: Shown) -> None:
        """Take in how near the nearest word of every tag is, and whether it is right."""
        ranks = _ranks(items, shown)
        gold = np.zeros((len(items), shown.keys), bool)
        gold[items.gold[1], items.gold[0]] = True
        key, item = (part[items.gold[0] >= 0] for part in items.gold)
        golds = np.zeros((len(items.labels), len(TAGS)), np.int64)
        np.add.at(golds, (items.label[item], shown.tags[items.text[item], key]), 1)
        right = (ranks < NONE) & np.take_along_axis(gold[:, None], _keys(items, ranks), 2)
        for place, label in enumerate(items.labels):
            of_label = items.label == place
            question = (items.probe, items.variant, label)
            self._seen[question].append((ranks[of_label], right[of_label]))
            self._golds[question] += golds[place]

    def rule(self, question: Question) -> NearestTag:
        """Return the rule of a question; one without tags where nothing was learned."""
        with self._choosing:  # batches that are scored side by side ask for it at the same time
            if question not in self._rules:
                self._rules[question] = self._choose(question)
            return self._rules[question]

    def _choose(self, question: Question) -> NearestTag:
        """Return the rule that answers most of the questions learned, which are then forgotten."""
        seen = self._seen.pop(question, [])
        if not seen:
            return _NOTHING
        frequent = np.sort(np.argsort(-self._golds[question], kind="stable")[:MOST_TAGS])
        ranks, right = (np.concatenate(part) for part in zip(*seen, strict=True))
        return _best(ranks, right, frequent)

    def rows(self, items: Items, shown: Shown) -> Rows:
        """One key a row; none where there is no such word."""
        ranks, nearest = _ranks(items, shown), np.full(len(items), NONE, np.uint16)
        for place, label in enumerate(items.labels):
            rule, asked = self.rule((items.probe, items.variant, label)), np.flatnonzero(items.label == place)
            of_sides = ranks[asked][:, SIDES[rule.side]]
            of_tags = of_sides[:, :, [TAGS.index(tag) for tag in rule.tags]]
            nearest[asked] = of_tags.min((1, 2), initial=NONE)
        return one_hot(np.where(nearest < NONE, _keys(items, nearest[:, None, None])[:, 0, 0], -1), shown.keys)


_NOTHING: Final = NearestTag("on either side", ())


def _ranks(items: Items, shown: Shown) -> Ranks:
    """Return [item, side, tag], the nearest candidate of each tag; the query is none."""
    if isinstance(items.candidates, str):
        nearest: Ranks = shown.nearest_tags[items.text, items.query]
        return nearest
    item, key = candidate_words(items, shown)
    apart = key - items.query[item]
    words = (key >= 0) & (key < shown.words[items.text[item]]) & (apart != 0)  # no special tokens
    item, key, apart = item[words], key[words], apart[words]
    ranks = np.full((len(items), 2, len(TAGS)), NONE, np.uint16)
    after = (apart > 0).astype(np.int64)
    np.minimum.at(
        ranks, (item, after, shown.tags[items.text[item], key]), (2 * np.abs(apart) + after).astype(np.uint16)
    )
    return ranks


def _keys(items: Items, ranks: Ranks) -> npt.NDArray[np.int64]:
    """Return the keys that stand at these ranks; the query where there is none."""
    apart = np.where(ranks < NONE, ranks // 2, 0).astype(np.int64)
    keys: npt.NDArray[np.int64] = items.query[:, None, None] + np.where(ranks % 2 == 1, apart, -apart)
    return keys


def _best(ranks: Ranks, right: Right, allowed: IntArray) -> NearestTag:
    """Return the rule that answers most items with `allowed` tags; of equals the first side, and the first tags."""
    ranks, right = ranks[:, :, allowed], right[:, :, allowed]
    found = [
        (*_greedy(ranks[:, sides].min(1), _of_nearest(ranks, right, sides)), side) for side, sides in SIDES.items()
    ]
    _, tags, side = max(found, key=lambda one: one[0])
    return NearestTag(side, tuple(TAGS[allowed[tag]] for tag in tags))


def _of_nearest(ranks: Ranks, right: Right, sides: list[int]) -> Right:
    """Return [item, tag], whether the nearest word of each tag on these sides is right."""
    nearest = ranks[:, sides].argmin(1)[:, None]
    return np.take_along_axis(right[:, sides], nearest, 1)[:, 0]


def _greedy(ranks: npt.NDArray[np.uint16], right: Right) -> tuple[int, list[int]]:
    """Return how many items a set of tags answers, and the tags, from [item, tag] of one choice of sides."""
    nearest, hit = np.full((len(ranks), 1), NONE, np.uint16), np.zeros((len(ranks), 1), bool)
    answered, tags = 0, list[int]()
    while True:
        hits = np.where(ranks < nearest, right, hit)
        counts = hits.sum(0)
        tag = int(counts.argmax())
        if counts[tag] <= answered:
            return answered, tags
        answered, hit = int(counts[tag]), hits[:, [tag]]
        nearest = np.minimum(nearest, ranks[:, [tag]])
        tags.append(tag)
