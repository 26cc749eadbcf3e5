"""Words and word-pieces: which piece belongs to which word, from the tokenizer's own word ids."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

CLS = -1
"Key index of the special tokens before the first word; words are numbered from 0."

SEP = -2
"Key index of the special tokens after the last word."


@dataclass(frozen=True)
class Pieces:
    """The word-pieces of one text, special tokens included."""

    ids: npt.NDArray[np.int32]
    "[piece] Row of each piece in the vocabulary."
    word: npt.NDArray[np.int32]
    "[piece] Index of the word that each piece belongs to; CLS before the first word, SEP for special tokens after it."
    words: int
    "Number of words."

    def __len__(self) -> int:
        """Return the number of pieces."""
        return len(self.ids)

    def missing(self) -> list[int]:
        """Return the words that the tokenizer turned into nothing."""
        return sorted(set(range(self.words)) - set(self.word.tolist()))

    def moved(self, places: npt.NDArray[np.int64]) -> Pieces:
        """Return the pieces of the same words in another order, word i at `places[i]`; special tokens stay."""
        word = np.concatenate([places, [SEP, CLS]])[self.word]
        order = np.argsort(np.where(word == SEP, self.words, word), kind="stable")
        return Pieces(self.ids[order], word[order].astype(np.int32), self.words)


def align(
    tokenizer: Any, texts: Sequence[Sequence[str]], spaces: Sequence[Sequence[bool]] | None = None
) -> list[Pieces]:
    """Cut texts that are given as words into pieces; nothing is truncated or padded.

    `tokenizer` is a `tokenizers.Tokenizer`. `spaces` says whether a blank follows each word.
    """
    encodings = tokenizer.encode_batch([list(words) for words in texts], is_pretokenized=True)
    return [_pieces(encoding, len(words)) for encoding, words in zip(encodings, texts, strict=True)]


def _pieces(encoding: Any, words: int) -> Pieces:
    word_ids: list[int | None] = encoding.word_ids
    begin = next((place for place, word in enumerate(word_ids) if word is not None), 1)
    word = [(CLS if place < begin else SEP) if word is None else word for place, word in enumerate(word_ids)]
    return Pieces(np.array(encoding.ids, np.int32), np.array(word, np.int32), words)
