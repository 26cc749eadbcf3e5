"""One head's computation on a sentence of one's own, step by step."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import torch

from experiments.heads.typed_text import TypedError, cut, find_head, find_word
from mha import CLS, Model, Pieces, load_model
from mha.reading.head_steps import Walk, walk
from reports.formats import model_title
from reports.view.explain import AXES, Explained, write_explanation

MOST_PIECES = 64
"A longer text has tables of pairs that nobody can read; `headscope view` without --explain shows it."


def explain_head(text: str, model_name: str, name: str, path: Path, *, word: str = "") -> Path:
    """Write the page that walks through head `name` ("3-5", from 1) on `text` to `path`.

    `word` is the place of a word from 1, or the word itself: its first piece is followed at first. Without it, that is
    the piece that gives one of another word the most weight. Raises TypedError for what cannot be shown.
    """
    model = load_model(model_name)
    words, pieces = cut(model, text)
    if len(pieces) > MOST_PIECES:
        raise TypedError(
            f"the text has {len(pieces)} pieces, too many to follow (at most {MOST_PIECES}): "
            "give a shorter one, or leave out --explain"
        )
    layer, head = find_head(name, model.name, model.layers, model.heads)
    place = find_word(words, word) if word else None
    found = walk(model, torch.from_numpy(pieces.ids), layer, head)
    explained = Explained(
        model=model_title(model.name),
        sentence=" ".join(text.split()),
        layer=layer,
        layers=model.layers,
        head=head,
        pieces=[_label(model, piece) for piece in pieces.ids.tolist()],
        words=["" if owner <= CLS else words[owner] for owner in pieces.word.tolist()],
        selected=_most_told(found, pieces) if place is None else pieces.word.tolist().index(place),
        embeddings={part: values.numpy() for part, values in found.embeddings.items()},
        steps={step: getattr(found, step).numpy() for step in AXES},
        scaling=found.scaling,
        pre=found.pre,
        differences=found.differences(),
    )
    return write_explanation(path, explained)


def _label(model: Model, piece: int) -> str:
    """Return a piece as a reader knows it: byte-level tokenizers have signs of their own for spaces and bytes."""
    said: str = model.tokenizer.decode([piece], skip_special_tokens=False).strip()
    return said if said and "\ufffd" not in said else str(model.tokenizer.id_to_token(piece))


def _most_told(found: Walk, pieces: Pieces) -> int:
    """Return the piece that gives a piece of another word the most weight; the first one where no word has another."""
    word = pieces.word
    others = (word[:, None] != word) & (word > CLS) & (word > CLS)[:, None]
    return int(np.where(others, found.pattern.numpy(), 0).max(1).argmax()) if others.any() else 0
