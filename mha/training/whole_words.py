"""The words of a vocabulary: pieces that are a word by themselves."""

from __future__ import annotations

from typing import Any

from mha.pieces import align

MARKS = ("Ġ", "▁")
"What begins a word in vocabularies that mark it (byte-level BPE, SentencePiece); others mark what continues one."

CONTINUES = "##"


def whole_words(tokenizer: Any) -> dict[str, int]:
    """Return word -> piece of all words of letters that the tokenizer keeps whole, in the order of the vocabulary.

    `tokenizer` is a `tokenizers.Tokenizer`.
    """
    pieces: dict[str, int] = tokenizer.get_vocab()
    marked = any(piece.startswith(MARKS) for piece in pieces)
    found = []
    for piece, number in sorted(pieces.items(), key=lambda one: one[1]):
        begins = piece.startswith(MARKS) if marked else not piece.startswith(CONTINUES)
        word = piece[1:] if marked else piece
        if begins and word.isalpha():
            found.append((word, number))
    cut = align(tokenizer, [[word] for word, _ in found])
    return {
        word: number
        for (word, number), pieces_of in zip(found, cut, strict=True)
        if pieces_of.ids[pieces_of.word == 0].tolist() == [number]
    }
