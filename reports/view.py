"""An interactive page of every head on one sentence of the user's own."""

from __future__ import annotations

import base64
import os
import re
from collections.abc import Sequence
from pathlib import Path
from uuid import uuid4

import numpy as np
import numpy.typing as npt

from reports.environment import asset, environment

_SPECIAL = re.compile(r"\[[A-Z]+\]|<[^<>\s]+>|<\|[^|]+\|>")


def write_view(
    path: Path, *, model: str, words: Sequence[str], maps: npt.NDArray[np.floating], notes: Sequence[str] = ()
) -> Path:
    """Write one self-contained HTML page that shows `maps` head by head, and return its path.

    `words` holds the special tokens at their places as words such as "[CLS]"; `maps` is the word-level attention
    [layer, head, query, key] with entries in [0, 1]. Weights are kept in 255 steps, so the page shows whole percents.
    Raises ValueError where the two do not fit each other; an older page at `path` then stays as it was.
    """
    path = Path(path)
    weights = _checked(words, np.asarray(maps), path)
    layers, heads = weights.shape[:2]
    special = special_places(words)
    data = {
        "layers": layers,
        "heads": heads,
        "words": list(words),
        "special": special,
        "weights": base64.b64encode(np.round(weights * 255).astype(np.uint8).tobytes()).decode("ascii"),
    }
    sentence = " ".join(word for i, word in enumerate(words) if i not in special)
    page = (
        environment()
        .get_template("view.html.j2")
        .render(
            model=model, sentence=sentence, notes=notes, data=data, style=asset("view.css"), script=asset("view.js")
        )
    )
    path.parent.mkdir(parents=True, exist_ok=True)
    unfinished = path.with_name(f".{path.name}-{uuid4().hex}")
    try:
        unfinished.write_text(page, encoding="utf-8")
        os.replace(unfinished, path)
    finally:
        unfinished.unlink(missing_ok=True)
    return path


def special_places(words: Sequence[str]) -> list[int]:
    """Indices of special tokens: "[SEP]" anywhere, "<s>" only at the ends, where no user can have typed it.

    >>> special_places(["<s>", "a", "<b>", "c", "</s>"])
    [0, 4]
    """
    ends = {0, len(words) - 1}
    return [i for i, word in enumerate(words) if _SPECIAL.fullmatch(word) and (i in ends or word.startswith("["))]


def _checked(words: Sequence[str], maps: npt.NDArray[np.floating], path: Path) -> npt.NDArray[np.floating]:
    """Return `maps` clipped to [0, 1], or say what is wrong with it."""
    if maps.ndim != 4 or 0 in maps.shape or maps.shape[2:] != (len(words), len(words)):
        raise ValueError(
            f"{path}: expected maps [layer, head, query, key] for {len(words)} words, got shape {tuple(maps.shape)}; "
            "special tokens count as words"
        )
    if not np.isfinite(maps).all() or maps.min() < -1e-3 or maps.max() > 1 + 1e-3:
        raise ValueError(
            f"{path}: expected attention in [0, 1], got {maps.min():.3g} to {maps.max():.3g}; "
            "pass patterns after softmax"
        )
    return np.asarray(maps.clip(0, 1))
