"""The texts of a batch as baselines and controls see them, and the counts that they learn from; no model."""

from __future__ import annotations

import threading
import zlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import cached_property, lru_cache
from typing import Any, Final, TypeVar

import numpy as np
import numpy.typing as npt

from probes.corpora.annotation import ud_trees
from probes.records import Document, IntArray, form_of
from probes.targets import OTHERS, Items

Made = TypeVar("Made")

Rows = npt.NDArray[np.float32]
"[item, key] The row (or column) that a baseline gives to each item; keys are words, then [SEP] and [CLS]."

Weights = npt.NDArray[np.float64]
"[pair] A number for every pair of item and candidate."

TAGS: Final = ("", *sorted(ud_trees.TAGS))
"Universal parts of speech, and that of words without one, which is also that of tags of another kind."

Ranks = npt.NDArray[np.uint16]
"""[..., side, tag] How near the nearest word of a tag is, before (side 0) and after (1): twice its distance in words,
and one more after, so that of two equally near words the one before comes first; NONE where there is none."""

NONE: Final = np.iinfo(np.uint16).max


@dataclass(frozen=True)
class Shown:
    """The texts of a batch as baselines see them."""

    documents: Sequence[Document]
    _made: dict[Callable[[Document], Any], list[Any]] = field(default_factory=dict, repr=False, compare=False)

    def each(self, make: Callable[[Document], Made]) -> list[Made]:
        """Return what `make` makes of every text, which is made once for all baselines that ask for it."""
        if make not in self._made:
            self._made[make] = [make(document) for document in self.documents]
        return self._made[make]

    @cached_property
    def words(self) -> IntArray:
        """[text] Number of words."""
        return np.array([len(document) for document in self.documents], np.int64)

    @cached_property
    def forms(self) -> IntArray:
        """[text, word] A number for each word form, letter case aside; 0 beyond the text."""
        forms = np.zeros((len(self.documents), int(self.words.max())), np.int64)
        for row, document in zip(forms, self.documents, strict=True):
            row[: len(document)] = [_form(word) for word in document.words]
        return forms

    @cached_property
    def tags(self) -> IntArray:
        """[text, word] The part of speech of each word as an index into TAGS; 0 beyond the text."""
        tags = np.zeros((len(self.documents), int(self.words.max())), np.int64)
        for row, document in zip(tags, self.documents, strict=True):
            row[: len(document)] = [_TAG.get(tag, 0) for tag in document.upos]
        return tags

    @cached_property
    def nearest_tags(self) -> Ranks:
        """[text, word, side, tag] The nearest other word of each tag before and after each word, as `Ranks` has it."""
        place = np.arange(int(self.words.max()))
        inside = place < self.words[:, None]
        of_tag = (self.tags[:, :, None] == np.arange(len(TAGS))) & inside[:, :, None]
        before = np.maximum.accumulate(np.where(of_tag, place[:, None], -1), axis=1)
        after = np.minimum.accumulate(np.where(of_tag, place[:, None], NONE)[:, ::-1], axis=1)[:, ::-1]
        ranks = np.full((*of_tag.shape[:2], 2, len(TAGS)), NONE, np.uint16)
        last, next_one = before[:, :-1], after[:, 1:]
        ranks[:, 1:, 0] = np.where(last >= 0, 2 * (place[1:, None] - last), NONE)
        ranks[:, :-1, 1] = np.where(next_one < NONE, 2 * (next_one - place[:-1, None]) + 1, NONE)
        return ranks

    @property
    def keys(self) -> int:
        """Number of keys of a row."""
        return int(self.words.max()) + 2


_TAG: Final = {tag: place for place, tag in enumerate(TAGS)}


@lru_cache(maxsize=1 << 16)
def _form(word: str) -> int:
    return zlib.crc32(form_of(word).encode())


def candidate_words(items: Items, shown: Shown) -> tuple[IntArray, IntArray]:
    """Return item and key of every candidate word of every item."""
    if not isinstance(items.candidates, str):
        return items.candidates[1], items.candidates[0]
    inside = np.arange(shown.keys) < shown.words[items.text][:, None]
    if items.candidates == OTHERS:
        inside[np.arange(len(items)), items.query] = False
    item, key = np.nonzero(inside)
    return item, key


def one_hot(keys: npt.ArrayLike, width: int) -> Rows:
    """Return rows of `width` keys with all weight on one each; rows of nothing where the key is negative."""
    chosen = np.asarray(keys, np.int64)
    rows = np.zeros((len(chosen), width), np.float32)
    known = np.flatnonzero(chosen >= 0)
    rows[known, chosen[known]] = 1
    return rows


class Counts:
    """How often each pair of (question, thing) occurred, and how often it was marked; things are below 2**32."""

    def __init__(self) -> None:
        self._labels: dict[tuple[str, str, str], int] = {}
        self._pending: list[tuple[IntArray, IntArray]] = []
        self._codes = np.zeros(0, np.int64)
        self._counts = np.zeros((2, 0), np.int64)
        "[occurred or marked, pair]"
        self._settling = threading.Lock()

    def codes(self, items: Items, item: IntArray, thing: IntArray) -> IntArray:
        """Return a number for each pair of an item's question and a thing."""
        labels = [
            self._labels.setdefault((items.probe, items.variant, label), len(self._labels)) for label in items.labels
        ]
        code: IntArray = (np.array(labels, np.int64)[items.label[item]] << 32) + thing
        return code

    def add(self, codes: IntArray, marked: IntArray | None = None) -> None:
        """Count pairs; `marked` is 1 for each that is marked, 0 for the others."""
        self._pending.append((codes, np.zeros_like(codes) if marked is None else marked))
        if sum(len(pending) for pending, _ in self._pending) > 1 << 18:
            self._settle()

    def _settle(self) -> None:
        with self._settling:  # batches that are scored side by side ask for counts at the same time
            if not self._pending:
                return
            ones = np.concatenate([np.ones(len(codes), np.int64) for codes, _ in self._pending])
            marks = np.concatenate([marked for _, marked in self._pending])
            new = np.concatenate([self._counts, np.stack([ones, marks])], axis=1)
            together = np.concatenate([self._codes, *(codes for codes, _ in self._pending)])
            self._codes, inverse = np.unique(together, return_inverse=True)
            sums = [np.bincount(inverse, row, len(self._codes)) for row in new]
            self._counts = np.stack(sums).astype(np.int64)
            self._pending = []

    def of(self, codes: IntArray) -> IntArray:
        """Return [2, pair]: how often each pair was counted, and how often it was marked."""
        self._settle()
        if not len(self._codes):
            return np.zeros((2, len(codes)), np.int64)
        place = np.searchsorted(self._codes, codes).clip(max=len(self._codes) - 1)
        return np.where(self._codes[place] == codes, self._counts[:, place], 0)

    def table(self) -> tuple[IntArray, IntArray, IntArray]:
        """Return the distinct pairs, sorted: number of the question, thing, count."""
        self._settle()
        return self._codes >> 32, self._codes & 0xFFFFFFFF, self._counts[0]


ZERO = 1 << 31
"Offset 0 as a thing to be counted."
