"""Every head on a sentence of one's own."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np

from mha import CLS, load_model
from mha.maps import MAPS
from mha.pieces import Pieces, align
from probes.examples import word_level
from probes.scoring import Settings
from reports import write_view


class ViewError(ValueError):
    """A sentence that cannot be shown."""


def write_sentence_view(text: str, model_name: str, path: Path, *, maps: str = "weights") -> Path:
    """Write the interactive page of every head on `text` to `path`; words are divided at white space.

    `maps` is one of `mha.maps.MAPS`; rows of norms are shown as shares. Special tokens are shown as words. Raises
    ViewError for a text without words or one that is too long, and for unknown maps.
    """
    words = text.split()
    if maps not in MAPS:
        raise ViewError(f"unknown maps {maps!r}; known are {', '.join(MAPS)}")
    if not words:
        raise ViewError("the text has no words")
    model = load_model(model_name)
    pieces = align(model.tokenizer, [words])[0]
    if len(pieces) > model.max_pieces:
        raise ViewError(f"the text has {len(pieces)} pieces, more than {model.name} reads ({model.max_pieces})")
    if gone := pieces.missing():
        raise ViewError(f"the tokenizer of {model.name} turns {words[gone[0]]!r} into nothing; leave it out")
    shown, labels = _with_specials(pieces, words, model.tokenizer)
    shares = word_level(model, shown, Settings(maps=maps))[..., : len(labels)]
    notes = [f"{model.layers} layers x {model.heads} heads; words of several pieces: sum over to, mean over from"]
    if maps != "weights":
        notes.append(f"maps: {maps}, each row as shares")
    return write_view(path, model=model.name, words=labels, maps=shares, notes=notes)


def _with_specials(pieces: Pieces, words: list[str], tokenizer: object) -> tuple[Pieces, list[str]]:
    """Number special tokens as words of their own, in their places."""
    name = tokenizer.id_to_token  # type: ignore[attr-defined]  # tokenizers.Tokenizer comes without types
    labels: list[str] = []
    word = np.empty_like(pieces.word)
    before = None
    for place, (piece, owner) in enumerate(zip(pieces.ids.tolist(), pieces.word.tolist(), strict=True)):
        if owner <= CLS or owner != before:
            labels.append(name(piece) if owner <= CLS else words[owner])
        word[place] = len(labels) - 1
        before = owner
    return replace(pieces, word=word, words=len(labels)), labels
