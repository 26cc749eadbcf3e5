"""The texts of a batch as baselines and controls see them: words and candidates, no model."""

from __future__ import annotations

import zlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import cached_property, lru_cache
from typing import Any, Final, TypeVar

import numpy as np
import numpy.typing as npt

from probes.records import Document, IntArray
from probes.targets import OTHERS, Items

Made = TypeVar("Made")

Rows = npt.NDArray[np.float32]
"[item, key] The row (or column) that a baseline gives to each item; keys are words, then [SEP] and [CLS]."

TAGS: Final = (
    *("", "ADJ", "ADP", "ADV", "AUX", "CCONJ", "DET", "INTJ", "NOUN", "NUM", "PART", "PRON", "PROPN", "PUNCT"),
    *("SCONJ", "SYM", "VERB", "X"),
)
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
    return zlib.crc32(word.lower().encode())


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
