"""Words and word-pieces: the model's own way to cut a text, and which piece belongs to which word."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt

CLS = -1
"Key index of the special tokens before the first word; words are numbered from 0."

SEP = -2
"Key index of the special tokens after the last word."

BLANKS = ("▁", "Ġ")
"Pieces that are nothing but the mark of a blank, in vocabularies of SentencePiece and of bytes."

RARE = "𒀀"
"A letter that vocabularies lack: it becomes the unknown piece or bytes, or nothing where there are neither."


@dataclass(frozen=True)
class Pieces:
    """The word-pieces of one text, special tokens included."""

    ids: npt.NDArray[np.int32]
    "[piece] Row of each piece in the vocabulary."
    word: npt.NDArray[np.int32]
    "[piece] Index of the word that each piece belongs to; CLS before the first word, SEP for special tokens after it."
    words: int
    "Number of words."
    blank: npt.NDArray[np.bool_] | None = None
    "[piece] Whether a piece is nothing but the blank before its word; None where none is."
    shared: tuple[int, ...] = ()
    "Words whose characters, all or some, lie in a piece of a word before them (in raw text alone)."
    lost: tuple[int, ...] = ()
    "Words of which letters have no piece, under a vocabulary without an unknown piece."
    second: int = 0
    "Index of the first word of the second text of a pair; 0 where it is none."

    def __len__(self) -> int:
        """Return the number of pieces."""
        return len(self.ids)

    def missing(self) -> list[int]:
        """Return the words that have no piece of their own: the tokenizer turned them into nothing, or shares them."""
        return sorted(set(range(self.words)) - set(self.word.tolist()))

    def bare(self) -> list[int]:
        """Return the words all of whose pieces are nothing but a blank."""
        if self.blank is None:
            return []
        return sorted({*self.word[self.blank].tolist()} - {*self.word[~self.blank].tolist()})

    def misread(self, special: Mapping[str, int]) -> list[int]:
        """Return the words of which the tokenizer makes a special token of the model (role -> piece), unknown aside."""
        taken = {piece for role, piece in special.items() if role != "unk"} - {special.get("unk")}
        return sorted({*self.word[np.isin(self.ids, [*taken]) & (self.word >= 0)].tolist()})

    def moved(self, places: npt.NDArray[np.int64]) -> Pieces:
        """Return the pieces of the same words in another order, word i at `places[i]`; special tokens stay.

        Words of a pair stay in their text.
        """
        word = np.concatenate([places, [SEP, CLS]])[self.word]
        behind = np.maximum.accumulate(np.where(self.word == SEP, -1, self.word)) + 0.5
        order = np.argsort(np.where(word == SEP, behind, word), kind="stable")
        blank = None if self.blank is None else self.blank[order]
        shared, lost = (tuple(sorted(int(places[word]) for word in some)) for some in (self.shared, self.lost))
        return Pieces(self.ids[order], word[order].astype(np.int32), self.words, blank, shared, lost, self.second)


def align(
    tokenizer: Any,
    texts: Sequence[Sequence[str]],
    spaces: Sequence[Sequence[bool]] | None = None,
    seconds: Sequence[int] | None = None,
) -> list[Pieces]:
    """Cut texts as the model reads them, and give each piece to the word whose characters it covers.

    A text is its words joined by single blanks; `spaces` says after which of them a blank stands (empty: after all), as
    in raw text. `tokenizer` is a `tokenizers.Tokenizer`, whose offsets decide; nothing is truncated or padded. A piece
    of several words belongs to the first of them, one that covers a blank alone to the word after it. `seconds` says
    of each text at which word the second of a pair begins (0: it is no pair), which the tokenizer is given as such.
    """
    spaces = spaces or [()] * len(texts)
    seconds = seconds or [0] * len(texts)
    given = [*zip(texts, spaces, seconds, strict=True)]
    plain = [
        (_joined(words[:second], blanks[:second]), _joined(words[second:], blanks[second:]))
        if second
        else _joined(words, blanks)
        for words, blanks, second in given
    ]
    marks = np.array([found for name in BLANKS if (found := tokenizer.token_to_id(name)) is not None])
    encodings = tokenizer.encode_batch(plain)
    cut = [_pieces(encoding, *text, marks) for encoding, text in zip(encodings, given, strict=True)]
    if getattr(tokenizer.model, "unk_token", "") is not None or tokenizer.encode(RARE, add_special_tokens=False).ids:
        return cut
    lost = (_lost(encoding, *text) for encoding, text in zip(encodings, given, strict=True))
    return [replace(pieces, lost=words) for pieces, words in zip(cut, lost, strict=True)]


def _joined(words: Sequence[str], blanks: Sequence[bool]) -> str:
    if all(blanks):
        return " ".join(words)
    return "".join(f"{word} " if blank else word for word, blank in zip(words, blanks, strict=True)).rstrip(" ")


def _pieces(
    encoding: Any, words: Sequence[str], blanks: Sequence[bool], second: int, marks: npt.NDArray[Any]
) -> Pieces:
    ids = np.array(encoding.ids, np.int32)
    own = np.array(encoding.special_tokens_mask, bool)
    word = np.full(len(ids), SEP, np.int32)
    begin = int(np.argmin(own)) if not own.all() else 1
    word[:begin][own[:begin]] = CLS
    if not words or own.all():
        return Pieces(ids, word, len(words))
    lengths, begins = _places(words, blanks)
    offsets = _offsets(encoding, begins, second)[~own]
    # the first word that ends behind the begin of a piece; a blank lies behind the word before it
    first = np.searchsorted(begins + lengths, offsets[:, 0], "right").clip(max=len(words) - 1)
    last = np.searchsorted(begins, offsets[:, 1], "left") - 1
    word[~own] = first
    bare = np.zeros(len(ids), bool)
    bare[~own] = (last < first) | np.isin(ids[~own], marks)
    several = np.flatnonzero(last > first)
    shared = {int(one) for piece in several for one in range(first[piece] + 1, last[piece] + 1)}
    return Pieces(ids, word, len(words), bare if bare.any() else None, tuple(sorted(shared)), second=second)


def _places(words: Sequence[str], blanks: Sequence[bool]) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
    """Return how many characters each word has, and where it begins in the text."""
    lengths = np.fromiter(map(len, words), np.int64, len(words))
    widths = lengths + (np.array(blanks, np.int64) if len(blanks) else 1)
    return lengths, np.concatenate([[0], np.cumsum(widths)[:-1]])


def _offsets(encoding: Any, begins: npt.NDArray[np.int64], second: int) -> npt.NDArray[np.int64]:
    """Return [piece, 2] where each piece begins and ends, those of a second text behind those of the first."""
    offsets = np.array(encoding.offsets, np.int64).reshape(-1, 2)
    if second:
        offsets[np.array(encoding.sequence_ids) == 1] += begins[second]
    return offsets


def _lost(encoding: Any, words: Sequence[str], blanks: Sequence[bool], second: int) -> tuple[int, ...]:
    """Return the words of which a letter lies in no piece."""
    _, begins = _places(words, blanks)
    seen = {place for begin, end in _offsets(encoding, begins, second).tolist() for place in range(begin, end)}
    text = zip(words, begins.tolist(), strict=True)
    return tuple(number for number, (word, begin) in enumerate(text) if not seen.issuperset(_letters(word, begin)))


def _letters(word: str, begin: int) -> list[int]:
    return [begin + place for place, letter in enumerate(word) if not letter.isspace()]


def whole_words(tokenizer: Any) -> dict[str, int]:
    """Return word -> piece of all words of letters that the tokenizer keeps whole, in the order of the vocabulary.

    `tokenizer` is a `tokenizers.Tokenizer`.
    """
    pieces: dict[str, int] = tokenizer.get_vocab()
    marked = any(piece.startswith(BLANKS) for piece in pieces)
    found = []
    for piece, number in sorted(pieces.items(), key=lambda one: one[1]):
        begins = piece.startswith(BLANKS) if marked else not piece.startswith("##")
        word = piece[1:] if marked else piece
        if begins and word.isalpha():
            found.append((word, number))
    cut = align(tokenizer, [[word] for word, _ in found])
    return {
        word: number
        for (word, number), pieces_of in zip(found, cut, strict=True)
        if pieces_of.ids[pieces_of.word == 0].tolist() == [number]
    }
