"""Batches of texts of like length, within a budget of pieces."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor

from mha.device import moved
from mha.messages import OneLineError
from mha.pieces import Pieces

REDUCTIONS = ("mean", "first")
"""How a word's pieces are reduced as queries: mean of their rows (Clark et al. 2019, section 4.1) or the first one's
that is more than the mark of a blank."""


@dataclass(frozen=True)
class WordPieces:
    """The pieces of every word of every text, ordered by word, then text, then piece."""

    text: Int[Tensor, " member"]
    piece: Int[Tensor, " member"]
    weight: Float[Tensor, " member"]
    start: Int[Tensor, "word batch"]
    "Where a word's pieces begin; it has none where the next word's begin there as well."

    @classmethod
    @torch.inference_mode(False)  # a batch keeps them for passes with slopes as well
    def of(cls, weights: Float[Tensor, "batch word piece"]) -> WordPieces:
        """Return the pieces whose weight in a word is not 0."""
        ordered = weights.transpose(0, 1)
        word, text, piece = ordered.nonzero(as_tuple=True)
        number = (ordered != 0).sum(2)
        start = number.flatten().cumsum(0).view_as(number) - number
        return cls(text, piece, ordered[word, text, piece], start)


@dataclass(frozen=True)
class Batch:
    """Padded pieces of some texts, and which of them belong to which word: as matrices, and as `queries` and `keys`."""

    ids: Int[Tensor, "batch piece"]
    mask: Bool[Tensor, "batch piece"] | None
    "True at real pieces; None where there is no padding."
    to_words: Float[Tensor, "batch piece key"]
    "1 where a piece belongs to a key. Keys are the words, then [SEP], then [CLS], so that indices SEP and CLS fit."
    from_words: Float[Tensor, "batch word piece"]
    "Weight of each piece in its word's row; rows of words sum to 1, rows of padding to 0."
    words: Int[Tensor, " batch"]
    "Number of words of each text."
    texts: tuple[Pieces, ...] = ()
    "The texts that were padded."

    @cached_property
    def queries(self) -> WordPieces:
        """The pieces of each word as a query, and their weights."""
        return WordPieces.of(self.from_words)

    @cached_property
    def keys(self) -> WordPieces:
        """The pieces of each key."""
        return WordPieces.of(self.to_words.transpose(1, 2))

    @property
    def device(self) -> torch.device:
        """Where the pieces lie."""
        return self.ids.device

    def to(self, device: torch.device) -> Batch:
        """Return the batch on a device; the numbers of words stay where they are."""
        if self.device == device:
            return self
        matrices = self.to_words.to(device), self.from_words.to(device)
        return Batch(self.ids.to(device), moved(device, self.mask), *matrices, self.words, self.texts)

    def part(self, texts: slice) -> Batch:
        """Return some of the texts, padded as they are here."""
        mask = None if self.mask is None else self.mask[texts]
        matrices = self.to_words[texts], self.from_words[texts]
        return Batch(self.ids[texts], mask, *matrices, self.words[texts], self.texts[texts])


class PaddingError(OneLineError):
    """Texts of several lengths for a model whose maps padding changes."""


def plan(texts: Sequence[Pieces], names: Sequence[str], budget: int, *, pads: bool = True) -> list[list[int]]:
    """Divide texts into batches of at most `budget` pieces with padding, longest first; a longer text is one alone.

    A batch that is half full takes no longer text, so that with many texts most batches need no padding; none does
    without `pads`, for models whose maps padding changes (`mha.models.check`).
    Texts are sorted by length, then by content and name, so the batches depend on the set of texts, not on its order.
    """
    order = sorted(range(len(texts)), key=lambda i: (len(texts[i]), texts[i].ids.tobytes(), names[i]))
    batches: list[list[int]] = []
    for i in order:
        length = len(texts[i])
        last = batches[-1] if batches else []
        full = (len(last) + 1) * length > budget
        longer = bool(last) and length > len(texts[last[0]])
        if not last or full or (longer and (not pads or 2 * len(last) * len(texts[last[0]]) >= budget)):
            batches.append([])
        batches[-1].append(i)
    return batches[::-1]


def _is_first(
    from_words: Float[np.ndarray, "batch word piece"], texts: Sequence[Pieces]
) -> Bool[np.ndarray, "batch word piece"]:
    """Return where the first piece of a word is; the mark of a blank is it only in a word that has no other piece."""
    rank = from_words.copy()
    for place, text in enumerate(texts):
        if text.blank is not None:
            rank[place, :, : len(text)] *= np.where(text.blank, 0.5, 1)
    best: Bool[np.ndarray, "batch word piece"] = rank == rank.max(2, keepdims=True)
    first: Bool[np.ndarray, "batch word piece"] = best & (np.cumsum(best, 2) == 1)
    return first


def padded(
    texts: Sequence[Pieces], padding: int | None
) -> tuple[Int[Tensor, "batch piece"], Bool[Tensor, "batch piece"] | None]:
    """Return the pieces of texts, padded at the end, and where they are no padding; None where there is none."""
    lengths = np.array([len(text) for text in texts])
    real = np.arange(lengths.max()) < lengths[:, None]
    ids = np.full(real.shape, padding or 0, np.int64)
    ids[real] = np.concatenate([text.ids for text in texts])
    return torch.from_numpy(ids), None if real.all() else torch.from_numpy(real)


def collate(texts: Sequence[Pieces], *, reduce: str = "mean", padding: int | None = 0) -> Batch:
    """Pad `texts` to one batch; `reduce` is one of REDUCTIONS.

    Raises PaddingError for texts of several lengths where `padding` is None.
    """
    if reduce not in REDUCTIONS:
        raise ValueError(f"unknown reduction {reduce!r}; known are {', '.join(REDUCTIONS)}")
    lengths = np.array([len(text) for text in texts])
    words = np.array([text.words for text in texts])
    length, width = int(lengths.max()), int(words.max())
    if padding is None and lengths.min() < length:
        raise PaddingError("padding changes the maps of this model: it reads texts of one length at a time")
    row = np.repeat(np.arange(len(texts)), lengths)
    place = np.concatenate([np.arange(n) for n in lengths])
    key = np.concatenate([text.word for text in texts])
    ids, mask = padded(texts, padding)
    to_words = np.zeros((len(texts), length, width + 2), np.float32)
    to_words[row, place, key] = 1
    from_words = to_words[:, :, :width].transpose(0, 2, 1).copy()
    if reduce == "first":
        from_words *= _is_first(from_words, texts)
    from_words /= np.maximum(from_words.sum(2, keepdims=True), 1)
    matrices = torch.from_numpy(to_words), torch.from_numpy(from_words)
    return Batch(ids, mask, *matrices, torch.from_numpy(words), tuple(texts))
