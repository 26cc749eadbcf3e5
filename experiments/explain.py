"""One head's computation on a sentence of one's own, step by step."""

from __future__ import annotations

import difflib
import re
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import torch

from mha import CLS, Model, Pieces, align, load_model
from mha.walk import Walk, walk
from reports.explain import AXES, Explained, write_explanation

MOST_PIECES = 64
"A longer text has tables of pairs that nobody can read; `headscope view` without --explain shows it."


class ExplainError(ValueError):
    """A sentence, a word or a name of a head that no steps can be shown of."""


def explain_head(text: str, model_name: str, name: str, path: Path, *, word: str = "") -> Path:
    """Write the page that walks through head `name` ("3-5", from 1) on `text`, divided at white space, to `path`.

    `word` is the place of a word from 1, or the word itself: its first piece is followed at first. Without it, that is
    the piece that gives one of another word the most weight. Raises ExplainError for what cannot be shown.
    """
    words = text.split()
    numbers = re.fullmatch(r"(\d+)-(\d+)", name)
    if numbers is None:
        raise ExplainError(f"{name!r} names no head; expected --explain LAYER-HEAD, counted from 1, such as 3-5")
    if not words:
        raise ExplainError("the text has no words")
    place = _place(words, word) if word else None
    model = load_model(model_name)
    pieces = _pieces(model, words)
    layer, head = (int(number) - 1 for number in numbers.groups())
    found = walk(model, torch.from_numpy(pieces.ids), layer, head)
    explained = Explained(
        model=model.name,
        sentence=" ".join(words),
        layer=layer,
        layers=model.layers,
        head=head,
        pieces=[_label(model, piece) for piece in pieces.ids.tolist()],
        words=["" if owner <= CLS else words[owner] for owner in pieces.word.tolist()],
        chosen=_most_told(found, pieces) if place is None else pieces.word.tolist().index(place),
        embeddings={part: values.numpy() for part, values in found.embeddings.items()},
        steps={step: getattr(found, step).numpy() for step in AXES},
        scaling=found.scaling,
        pre=found.pre,
        differences=found.differences(),
    )
    return write_explanation(path, explained)


def _place(words: Sequence[str], word: str) -> int:
    """Return the index of the word that `word` means: a number from 1, or the word itself."""
    if word.isdecimal():
        if not 1 <= int(word) <= len(words):
            raise ExplainError(f"there is no word {word}: the text has words 1 to {len(words)}")
        return int(word) - 1
    places = [i for i, one in enumerate(words) if one == word]
    if not places:
        near = difflib.get_close_matches(word, words, 1)
        hint = f"did you mean {near[0]!r}?" if near else f"its words are {' '.join(words)}"
        raise ExplainError(f"{word!r} is no word of the text; {hint}")
    if len(places) > 1:
        raise ExplainError(f"{word!r} stands at {', '.join(str(i + 1) for i in places)}: give the number of the word")
    return places[0]


def _pieces(model: Model, words: list[str]) -> Pieces:
    """Return the pieces of the words, or say why they cannot be shown."""
    pieces = align(model.tokenizer, [words])[0]
    if gone := pieces.missing():
        raise ExplainError(f"the tokenizer of {model.name} turns {words[gone[0]]!r} into nothing; leave it out")
    if len(pieces) > min(MOST_PIECES, model.max_pieces):
        raise ExplainError(
            f"the text has {len(pieces)} pieces, too many to follow (at most {min(MOST_PIECES, model.max_pieces)}): "
            "give a shorter one, or leave out --explain"
        )
    return pieces


def _label(model: Model, piece: int) -> str:
    """Return a piece as a reader knows it: byte-level tokenizers have signs of their own for spaces and bytes."""
    said: str = model.tokenizer.decode([piece], skip_special_tokens=False).strip()
    return said if said and "\ufffd" not in said else str(model.tokenizer.id_to_token(piece))


def _most_told(found: Walk, pieces: Pieces) -> int:
    """Return the piece that gives a piece of another word the most weight; the first one where no word has another."""
    word = pieces.word
    others = (word[:, None] != word) & (word > CLS) & (word > CLS)[:, None]
    return int(np.where(others, found.pattern.numpy(), 0).max(1).argmax()) if others.any() else 0
