"""What would be right: queries, gold keys and candidate keys, for one text and for a batch of texts."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import chain

import numpy as np

from mha.pieces import CLS, SEP
from probes.records import IntArray, frozen_ints

Keys = tuple[IntArray, IntArray]
"Keys and, aligned with them and ascending, the index of the item that each key belongs to."

OTHERS, WORDS, TOKENS = "other words", "all words", "all tokens"
"Named candidate sets: every word but the query; every word; every word and the special tokens."


@dataclass(frozen=True)
class Targets:
    """The questions that one variant of a probe asks of one text; an item is one question.

    Keys are word indices, or CLS and SEP of `mha.pieces`.
    """

    query: IntArray
    "[item] The word whose attention is asked for; with `by_column` the word that is attended to."
    gold: Keys
    "The right keys; at least one an item unless `spread`."
    label: Sequence[str]
    "[item] The label under which the item is counted."
    candidates: str | Keys = OTHERS
    "The keys among which the most attended one is looked for: a named set, or keys of each item (gold included)."
    by_column: bool = False
    "Whether candidates are the words that attend to the query (columns of the map), not those it attends to (rows)."
    spread: bool = False
    "Whether the item asks for broad attention: right if no key gets more than a tenth of the row."

    @classmethod
    def pairs(
        cls, query: IntArray, gold: IntArray, label: Sequence[str], *, candidates: str = OTHERS, by_column: bool = False
    ) -> Targets:
        """Return targets with one gold key an item."""
        return cls(query, (gold, np.arange(len(query))), label, candidates, by_column)

    @classmethod
    def sets(
        cls, query: Sequence[int], gold: Sequence[Sequence[int]], label: Sequence[str], candidates: str | Keys = OTHERS
    ) -> Targets:
        """Return targets whose items have several gold keys each."""
        return cls(np.array(query, np.int64), key_sets(gold), label, candidates)

    @classmethod
    def grouped(cls, pairs: Iterable[tuple[int, int, str]]) -> Targets:
        """Return one item a query and label, for which all of its keys are right; `pairs` are (query, key, label)."""
        sets: dict[tuple[int, str], list[int]] = {}
        for query, key, label in pairs:
            sets.setdefault((query, label), []).append(key)
        if not sets:
            return NOTHING
        return cls.sets([query for query, _ in sets], list(sets.values()), [label for _, label in sets])

    def moved(self, places: IntArray) -> Targets:
        """Return the same questions about words that stand elsewhere, word i at `places[i]`."""
        to = np.concatenate([places, [SEP, CLS]])  # the special keys are indices from the end
        listed = self.candidates
        candidates = listed if isinstance(listed, str) else (to[listed[0]], listed[1])
        return replace(self, query=to[self.query], gold=(to[self.gold[0]], self.gold[1]), candidates=candidates)

    def __len__(self) -> int:
        """Return the number of items."""
        return len(self.query)


def key_sets(sets: Sequence[Sequence[int]]) -> Keys:
    """Return lists of keys, one an item, in flat form."""
    keys = np.array(list(chain.from_iterable(sets)), np.int64)
    return keys, np.array([item for item, keys in enumerate(sets) for _ in keys], np.int64)


_NONE = frozen_ints([])
NOTHING = Targets(_NONE, (_NONE, _NONE), ())
"No questions about other words: what most texts get from most probes."


def both_ways(variants: Sequence[str], pairs: Sequence[tuple[int, int, str]]) -> dict[str, Targets]:
    """Return two variants of labelled pairs of words: from the first word of each to the second, and in reverse."""
    forth, back = variants
    return {forth: Targets.grouped(pairs), back: Targets.grouped((to, start, label) for start, to, label in pairs)}


@dataclass(frozen=True)
class Items:
    """The targets of one variant of a probe for a batch of texts."""

    probe: str
    variant: str
    text: IntArray
    "[item] Index of the item's text in the batch."
    query: IntArray
    label: IntArray
    "[item] Index into `labels`."
    labels: tuple[str, ...]
    gold: Keys
    candidates: str | Keys
    by_column: bool = False
    spread: bool = False

    def __len__(self) -> int:
        """Return the number of items."""
        return len(self.query)

    def take(self, indices: IntArray, label: IntArray | None = None, labels: tuple[str, ...] | None = None) -> Items:
        """Return the items at the indices `indices`, which may repeat; with other labels if they are given."""
        return replace(
            self,
            text=self.text[indices],
            query=self.query[indices],
            label=self.label[indices] if label is None else label,
            labels=labels or self.labels,
            gold=_take_keys(self.gold, indices),
            candidates=self.candidates if isinstance(self.candidates, str) else _take_keys(self.candidates, indices),
        )

    def pooled(self, pool: Callable[[str], Sequence[str]]) -> Items:
        """Return every item once for each label that `pool` counts its label towards."""
        pools = [tuple(pool(label)) for label in self.labels]
        labels = tuple(sorted({name for names in pools for name in names}))
        place = {name: i for i, name in enumerate(labels)}
        times = np.array([len(names) for names in pools], np.int64)
        first = np.concatenate([[0], np.cumsum(times)[:-1]]) if len(times) else times
        flat = np.array([place[name] for names in pools for name in names], np.int64)
        chosen = np.repeat(np.arange(len(self)), times[self.label])
        nth = np.arange(len(chosen)) - np.repeat(np.cumsum(times[self.label]) - times[self.label], times[self.label])
        return self.take(chosen, flat[first[self.label][chosen] + nth], labels)


def _take_keys(keys: Keys, chosen: IntArray) -> Keys:
    key, item = keys
    start = np.searchsorted(item, chosen, "left")
    count = np.searchsorted(item, chosen, "right") - start
    nth = np.arange(int(count.sum())) - np.repeat(np.cumsum(count) - count, count)
    return key[np.repeat(start, count) + nth], np.repeat(np.arange(len(chosen)), count)


def gather(probe: str, variant: str, targets: Sequence[Targets]) -> Items:
    """Join the targets of the texts of a batch, in their order."""
    texts = [text for text, part in enumerate(targets) if len(part)] or [0]
    parts = [targets[text] for text in texts]  # most texts are asked nothing by most probes
    counts = np.array([len(part) for part in parts])
    start = np.cumsum(counts) - counts
    names = [name for part in parts for name in part.label]
    labels = tuple(sorted(set(names)))
    place = {name: i for i, name in enumerate(labels)}
    explicit = [part.candidates for part in parts if not isinstance(part.candidates, str)]
    return Items(
        probe=probe,
        variant=variant,
        text=np.repeat(texts, counts),
        query=np.concatenate([part.query for part in parts]),
        label=np.array([place[name] for name in names], np.int64),
        labels=labels,
        gold=_join([part.gold for part in parts], start),
        candidates=_join(explicit, start) if explicit else parts[0].candidates,
        by_column=parts[0].by_column,
        spread=parts[0].spread,
    )


def _join(parts: Sequence[Keys], start: IntArray) -> Keys:
    keys = np.concatenate([key for key, _ in parts])
    return keys, np.concatenate([item + by for (_, item), by in zip(parts, start, strict=True)])
