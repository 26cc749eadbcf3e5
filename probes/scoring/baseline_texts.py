"""The texts of a batch as baselines and controls see them: words and candidates, no model."""

from __future__ import annotations

import zlib
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache

import numpy as np
import numpy.typing as npt

from probes.records import Document, IntArray
from probes.targets import OTHERS, Items

Rows = npt.NDArray[np.float32]
"[item, key] The row (or column) that a baseline gives to each item; keys are words, then [SEP] and [CLS]."


@dataclass(frozen=True)
class Shown:
    """The texts of a batch as baselines see them."""

    documents: Sequence[Document]

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

    @property
    def keys(self) -> int:
        """Number of keys of a row."""
        return int(self.words.max()) + 2


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
