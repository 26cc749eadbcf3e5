"""What shallow explanations achieve: rows of attention that know offsets, mentions or word forms, but no model."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import partial
from typing import Final, Protocol, runtime_checkable

import numpy as np

from probes.records import IntArray
from probes.scoring.baseline_texts import ZERO, Counts, Rows, Shown, Weights, candidate_words, one_hot
from probes.targets import Items
from probes.words.coreference import mention_heads


@runtime_checkable
class Baseline(Protocol):
    """Answers the questions of a probe without a model; labels are those of `Items.pooled`."""

    def learn(self, items: Items, shown: Shown) -> None:
        """Take in questions of the selection split with their answers."""
        ...

    def rows(self, items: Items, shown: Shown) -> Rows:
        """Return what it attends to for each item."""
        ...


class Offset:
    """Attends to one fixed distance, the most frequent one of gold for the label, over the full range.

    Clark et al. 2019, section 4.2, and Voita et al. 2019, section 5.2, tried fewer offsets. Where the offset leads out
    of the text nothing is attended to.
    """

    def __init__(self) -> None:
        self.seen = Counts()
        self._best: dict[int, int] | None = None

    def learn(self, items: Items, shown: Shown) -> None:
        """Count the distances of gold."""
        key, item = items.gold
        self.seen.add(self.seen.codes(items, item, key - items.query[item] + ZERO))
        self._best = None

    def best(self, items: Items) -> IntArray:
        """[item] Return the offset learned for each item's label; 0 where nothing was learned."""
        if self._best is None:
            question, thing, count = self.seen.table()
            offset = thing - ZERO
            order = np.lexsort((offset, np.abs(offset), -count, question))
            first = np.unique(question[order], return_index=True)[1]
            self._best = dict(zip(question[order][first].tolist(), offset[order][first].tolist(), strict=True))
        question = self.seen.codes(items, np.arange(len(items)), np.zeros(len(items), np.int64)) >> 32
        distinct, inverse = np.unique(question, return_inverse=True)
        best: IntArray = np.array([self._best.get(q, 0) for q in distinct.tolist()], np.int64)[inverse]
        return best

    def rows(self, items: Items, shown: Shown) -> Rows:
        """One key a row; none where the offset leads out of the text."""
        key = items.query + self.best(items)
        return one_hot(np.where((key >= 0) & (key < shown.words[items.text]), key, -1), shown.keys)


class LikeliestDistance:
    """Attends to the candidate at the distance at which candidates were correct most often, by label.

    It knows distances alone, and of each text which of them there are; the nearest of equally likely ones.
    """

    def __init__(self) -> None:
        self.seen = Counts()

    def learn(self, items: Items, shown: Shown) -> None:
        """Count at which distances candidates lay, and how often they were correct."""
        item, key = candidate_words(items, shown)
        right = np.zeros((len(items), shown.keys), np.int64)
        right[items.gold[1], items.gold[0]] = 1
        self.seen.add(self.seen.codes(items, item, key - items.query[item] + ZERO), right[item, key])

    def rows(self, items: Items, shown: Shown) -> Rows:
        """One key a row; none where an item has no candidate word."""
        item, key = candidate_words(items, shown)
        distance = key - items.query[item]
        asked, right = self.seen.of(self.seen.codes(items, item, distance + ZERO))
        rank = -right / np.maximum(asked, 1) + NEARER * np.abs(distance)
        return _leading(item, key, rank, len(items), shown.keys)


NEARER: Final = 1e-9
"How much a word of distance counts where distances are equally likely."


@dataclass(frozen=True)
class Untaught:
    """Answers from the texts alone, the same whatever the selection split."""

    rule: Callable[[Items, Shown], Rows]

    def learn(self, items: Items, shown: Shown) -> None:
        """Nothing to learn."""

    def rows(self, items: Items, shown: Shown) -> Rows:
        """Return the rows of the rule."""
        return self.rule(items, shown)


def previous_word(items: Items, shown: Shown) -> Rows:
    """Attend to the word before, as a previous-token head does; by column, be attended to by the word after."""
    key = items.query + (1 if items.by_column else -1)
    return one_hot(np.where(key < shown.words[items.text], key, -1), shown.keys)


def uniform(items: Items, shown: Shown) -> Rows:
    """Attend to every key of the text alike: the chance level."""
    keys = shown.words[items.text][:, None] + 2
    inside = np.arange(shown.keys) < keys - 2
    inside[:, -2:] = True
    return (inside / keys).astype(np.float32)


def nearest_mention(items: Items, shown: Shown, *, same_word: bool = False) -> Rows:
    """Attend to the head word of the nearest preceding mention (Clark et al. 2019, section 4.3).

    Mentions are those among the candidates; where none precedes it is the nearest one that follows. With `same_word`
    those on that side with the query's word form come first: the head-match baseline of the same section.
    """
    chosen = []
    for text, query, heads in zip(items.text.tolist(), items.query.tolist(), _mentions(items, shown), strict=True):
        side, forms = [head for head in heads if head < query] or heads, shown.forms[text]
        same = [head for head in side if same_word and forms[head] == forms[query]]
        chosen.append(nearest(query, same or side) if side else -1)
    return one_hot(chosen, shown.keys)


def nearest_candidate(items: Items, shown: Shown) -> Rows:
    """Attend to the nearest candidate, of two equally near ones to the one before.

    Where candidates are not listed but named, the nearest is the word before, a baseline of its own: nothing is
    attended to.
    """
    if isinstance(items.candidates, str):
        return one_hot(np.full(len(items), -1), shown.keys)
    item, key = candidate_words(items, shown)
    distance = key - items.query[item]
    return _leading(item, key, 2 * np.abs(distance) + (distance > 0), len(items), shown.keys)


def first_candidate(items: Items, shown: Shown) -> Rows:
    """Attend to the candidate that stands first in the text, which among noun phrases is often the subject."""
    item, key = candidate_words(items, shown)
    return _leading(item, key, key, len(items), shown.keys)


def same_word(items: Items, shown: Shown, *, by_rank: bool = False) -> Rows:
    """Attend to a candidate of the same word form, letter case included: the nearest, or the one of the same rank.

    With `by_rank` it is the n-th of these candidates where the query is the n-th word of its form on its own side of
    them, else the last one. Where no candidate has the form nothing is attended to.
    """
    item, key = candidate_words(items, shown)
    border = np.searchsorted(item, np.arange(1, len(items)))
    chosen = []
    for text, query, keys in zip(items.text.tolist(), items.query.tolist(), np.split(key, border), strict=True):
        words, candidates = shown.documents[text].words, keys.tolist()
        same = [key for key in candidates if key != query and words[key] == words[query]]
        if same and by_rank:
            begin = max(candidates) + 1 if query > max(candidates) else 0
            rank = sum(word == words[query] for word in words[begin:query])
            same = [same[min(rank, len(same) - 1)]]
        chosen.append(nearest(query, same) if same else -1)
    return one_hot(chosen, shown.keys)


class LexicalTable:
    """Attends by two count tables: how often a word form is right when it is a candidate, times its offset's share.

    A supervised yardstick with a column of its own, not a baseline. Rates are smoothed by a twentieth of an answer in
    one candidate more, shares by a tenth of an item in one more; ties go to the nearest candidate.
    """

    def __init__(self) -> None:
        self.forms, self.offsets, self.golds = Counts(), Counts(), Counts()

    def learn(self, items: Items, shown: Shown) -> None:
        """Count candidates, answers and offsets by label."""
        gold, of = items.gold
        item, key = candidate_words(items, shown)
        right = np.zeros((len(items), shown.keys), np.int64)
        right[of, gold] = 1
        self.forms.add(self.forms.codes(items, item, shown.forms[items.text[item], key]), right[item, key])
        self.offsets.add(self.offsets.codes(items, of, gold - items.query[of] + ZERO))
        self.golds.add(self.golds.codes(items, of, np.zeros_like(of)))

    def rows(self, items: Items, shown: Shown) -> Rows:
        """The product of both rates for every candidate."""
        item, key = candidate_words(items, shown)
        distance = key - items.query[item]
        asked, right = self.forms.of(self.forms.codes(items, item, shown.forms[items.text[item], key]))
        golds = self.golds.of(self.golds.codes(items, np.arange(len(items)), np.zeros(len(items), np.int64)))[0]
        share = (self.offsets.of(self.offsets.codes(items, item, distance + ZERO))[0] + 0.1) / (golds[item] + 1)
        rows = np.zeros((len(items), shown.keys))
        rows[item, key] = (right + 0.05) / (asked + 1) * share * (1 - 1e-6 * np.abs(distance))
        weights: Rows = (rows / np.maximum(rows.sum(1, keepdims=True), 1e-30)).astype(np.float32)
        return weights


def _mentions(items: Items, shown: Shown) -> list[list[int]]:
    """Return for each item those of its candidates that are head words of mentions, without the query."""
    is_head = np.zeros((len(shown.documents), shown.keys), bool)
    for row, document in zip(is_head, shown.documents, strict=True):
        row[mention_heads(document)] = True
    item, key = candidate_words(items, shown)
    chosen = is_head[items.text[item], key] & (key != items.query[item])
    border = np.searchsorted(item[chosen], np.arange(1, len(items)))
    return [words.tolist() for words in np.split(key[chosen], border)]


def nearest(query: int, words: Iterable[int]) -> int:
    """Return the last of the words up to the query, itself among them, else the first after it."""
    words = list(words)
    before = [word for word in words if word <= query]
    return max(before) if before else min(words)


def _leading(item: IntArray, key: IntArray, rank: IntArray | Weights, items: int, width: int) -> Rows:
    """Return rows with all weight on the key of lowest rank of each item."""
    order = np.lexsort((rank, item))
    leaders, first = np.unique(item[order], return_index=True)
    chosen = np.full(items, -1)
    chosen[leaders] = key[order][first]
    return one_hot(chosen, width)


_UNTAUGHT: dict[str, Callable[[Items, Shown], Rows]] = {
    "previous word": previous_word,
    "nearest mention": nearest_mention,
    "same head word": partial(nearest_mention, same_word=True),
    "nearest candidate": nearest_candidate,
    "first candidate": first_candidate,
    "same word, nearest": same_word,
    "same word, same rank": partial(same_word, by_rank=True),
    "uniform": uniform,
}

BASELINES: dict[str, Callable[[], Baseline]] = {
    "offset": Offset,
    "likeliest distance": LikeliestDistance,
    **{name: partial(Untaught, rule) for name, rule in _UNTAUGHT.items()},
}
"Baselines by name; `LEXICAL` is kept apart."

LEXICAL = "lexical table"
