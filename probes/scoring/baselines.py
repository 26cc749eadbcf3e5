"""What shallow explanations achieve: rows of attention that know offsets, mentions or word forms, but no model."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import partial
from typing import Protocol, runtime_checkable

import numpy as np

from probes.records import IntArray
from probes.scoring.baseline_texts import Rows, Shown, candidate_words, one_hot
from probes.scoring.question_counts import ZERO, Counts
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
        """Start without knowledge."""
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


class PreviousWord:
    """Attends to the word before, as a previous-token head does; by column, is attended to by the word after."""

    def learn(self, items: Items, shown: Shown) -> None:
        """Nothing to learn."""

    def rows(self, items: Items, shown: Shown) -> Rows:
        """One key a row; none at the border of the text."""
        key = items.query + (1 if items.by_column else -1)
        return one_hot(np.where(key < shown.words[items.text], key, -1), shown.keys)


class Uniform:
    """Attends to everything alike: the chance level."""

    def learn(self, items: Items, shown: Shown) -> None:
        """Nothing to learn."""

    def rows(self, items: Items, shown: Shown) -> Rows:
        """The same weight for every key of the text."""
        keys = shown.words[items.text][:, None] + 2
        inside = np.arange(shown.keys) < keys - 2
        inside[:, -2:] = True
        return (inside / keys).astype(np.float32)


class NearestMention:
    """Attends to the head word of the nearest preceding mention (Clark et al. 2019, section 4.3).

    Mentions are those among the candidates; where none precedes it is the nearest one that follows.
    """

    def learn(self, items: Items, shown: Shown) -> None:
        """Nothing to learn."""

    def rows(self, items: Items, shown: Shown) -> Rows:
        """One key a row."""
        asked = zip(items.query.tolist(), _mentions(items, shown), strict=True)
        return one_hot([nearest(query, heads) if heads else -1 for query, heads in asked], shown.keys)


class SameHeadWord:
    """Attends to the nearest preceding mention with the same head word, else to the nearest preceding mention.

    The head-match baseline of Clark et al. 2019, section 4.3. Mentions are those among the candidates; where none
    precedes the same is looked for among those that follow.
    """

    def learn(self, items: Items, shown: Shown) -> None:
        """Nothing to learn."""

    def rows(self, items: Items, shown: Shown) -> Rows:
        """One key a row."""
        asked = zip(items.text.tolist(), items.query.tolist(), _mentions(items, shown), strict=True)
        return one_hot([self._choose(heads, shown.forms[text], query) for text, query, heads in asked], shown.keys)

    def _choose(self, heads: Sequence[int], forms: IntArray, query: int) -> int:
        side = [head for head in heads if head < query] or heads
        same = [head for head in side if forms[head] == forms[query]]
        return nearest(query, same or side) if side else -1


class NearestCandidate:
    """Attends to the nearest candidate, of two equally near ones to the one before.

    Where candidates are not listed but named, the nearest is the word before, a baseline of its own: nothing is
    attended to.
    """

    def learn(self, items: Items, shown: Shown) -> None:
        """Nothing to learn."""

    def rows(self, items: Items, shown: Shown) -> Rows:
        """One key a row."""
        if isinstance(items.candidates, str):
            return one_hot(np.full(len(items), -1), shown.keys)
        item, key = candidate_words(items, shown)
        distance = key - items.query[item]
        return _leading(item, key, 2 * np.abs(distance) + (distance > 0), len(items), shown.keys)


class FirstCandidate:
    """Attends to the candidate that stands first in the text, which among noun phrases is often the subject."""

    def learn(self, items: Items, shown: Shown) -> None:
        """Nothing to learn."""

    def rows(self, items: Items, shown: Shown) -> Rows:
        """One key a row."""
        item, key = candidate_words(items, shown)
        return _leading(item, key, key, len(items), shown.keys)


class SameWord:
    """Attends to a candidate of the same word form, letter case included: the nearest, or the one of the same rank.

    With `by_rank` it is the n-th of these candidates where the query is the n-th word of its form on its own side of
    them, else the last one. Where no candidate has the form nothing is attended to.
    """

    def __init__(self, *, by_rank: bool = False) -> None:
        """Take which of several it is."""
        self.by_rank = by_rank

    def learn(self, items: Items, shown: Shown) -> None:
        """Nothing to learn."""

    def rows(self, items: Items, shown: Shown) -> Rows:
        """One key a row."""
        item, key = candidate_words(items, shown)
        border = np.searchsorted(item, np.arange(1, len(items)))
        asked = zip(items.text.tolist(), items.query.tolist(), np.split(key, border), strict=True)
        return one_hot(
            [self._choose(shown.documents[text].words, q, keys.tolist()) for text, q, keys in asked], shown.keys
        )

    def _choose(self, words: Sequence[str], query: int, candidates: Sequence[int]) -> int:
        same = [key for key in candidates if key != query and words[key] == words[query]]
        if not same:
            return -1
        if not self.by_rank:
            return nearest(query, same)
        begin = max(candidates) + 1 if query > max(candidates) else 0
        rank = sum(word == words[query] for word in words[begin:query])
        return same[min(rank, len(same) - 1)]


class LexicalTable:
    """Attends by two count tables: how often a word form is right when it is a candidate, times its offset's share.

    A supervised yardstick with a column of its own, not a baseline. Rates are smoothed by a twentieth of an answer in
    one candidate more, shares by a tenth of an item in one more; ties go to the nearest candidate.
    """

    def __init__(self) -> None:
        """Start without knowledge."""
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


def _leading(item: IntArray, key: IntArray, rank: IntArray, items: int, width: int) -> Rows:
    """Return rows with all weight on the key of lowest rank of each item."""
    order = np.lexsort((rank, item))
    leaders, first = np.unique(item[order], return_index=True)
    chosen = np.full(items, -1)
    chosen[leaders] = key[order][first]
    return one_hot(chosen, width)


BASELINES: dict[str, Callable[[], Baseline]] = {
    "offset": Offset,
    "previous word": PreviousWord,
    "nearest mention": NearestMention,
    "same head word": SameHeadWord,
    "nearest candidate": NearestCandidate,
    "first candidate": FirstCandidate,
    "same word, nearest": SameWord,
    "same word, same rank": partial(SameWord, by_rank=True),
    "uniform": Uniform,
}
"Baselines by name; `LEXICAL` is kept apart."

LEXICAL = "lexical table"
