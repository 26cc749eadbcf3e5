"""What is predicted of packed rows: pieces that dynamic masking hides, or the piece after each."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import torch

from mha.encoder.masked_lm import MaskedBatch
from mha.training.packing import Ints, places_and_blocks
from mha.training.vocabulary import Vocabulary


@dataclass(frozen=True)
class Masking:
    """How pieces are hidden; the defaults are BERT's (Devlin et al. 2019, section 3.1)."""

    rate: float = 0.15
    "Share of the pieces that are to be predicted."
    hidden: float = 0.8
    "Share of these that [MASK] stands for; 1 hides them all."
    random: float = 0.1
    "Share of these that a random piece stands for; the rest stays as it is."
    whole_word: bool = False
    "Whether the pieces of a word are chosen together; each is then hidden, replaced or left by itself."
    answers: tuple[str, ...] = ()
    """Words, each a piece of the vocabulary, that alone are to be predicted, wherever one stands, whatever the rate: a
    task that is answered in words. All words may be chosen where none is named."""

    def __post_init__(self) -> None:
        """Refuse shares that are none."""
        if not 0 < self.rate < 1:
            raise ValueError(f"masking rate is {self.rate}, expected a share between 0 and 1")
        if min(self.hidden, self.random) < 0 or self.hidden + self.random > 1 + 1e-9:
            raise ValueError(f"hidden {self.hidden} and random {self.random} are shares and at most 1 together")


@dataclass(frozen=True)
class MaskedRows:
    """The rows of a step, and at which of their pieces something is to be predicted; every array is [row, length]."""

    pieces: Ints
    places: Ints
    blocks: Ints
    masked: npt.NDArray[np.bool_]
    gold: Ints

    def batch(self, rows: slice) -> MaskedBatch:
        """Return some of the rows as tensors."""
        chosen = np.flatnonzero(self.masked[rows])
        pieces, places, blocks, masked, gold = (
            torch.from_numpy(array.astype(np.int64))
            for array in (
                self.pieces[rows],
                self.places[rows],
                self.blocks[rows],
                chosen,
                self.gold[rows].ravel()[chosen],
            )
        )
        return MaskedBatch(pieces, places, blocks, masked, gold)


def mask_rows(rows: Ints, vocabulary: Vocabulary, masking: Masking, seed: int, step: int) -> MaskedRows:
    """Hide pieces of packed rows [row, length]; special pieces never.

    What happens to a row depends on its pieces, `seed`, `step` and its number, not on what was drawn before. A row in
    which nothing was drawn gets the word or piece that came nearest, so that every row has something to predict;
    where `masking` names answers it has none if no answer stands in it. Raises VocabularyError for an answer that is
    no piece.
    """
    draws = np.random.Generator(np.random.Philox(key=np.array([seed, step], np.uint64)))
    uniform = draws.random((len(rows), 3, rows.shape[1]), np.float32)  # row by row, so that more rows change none
    drawn, fate = uniform[:, 0], uniform[:, 1]
    others = vocabulary.ordinary[(uniform[:, 2] * len(vocabulary.ordinary)).astype(np.int64)]
    possible = ~np.isin(rows, list(vocabulary.special.values()))
    if masking.whole_word:
        drawn = np.take_along_axis(drawn, _word_starts(rows, vocabulary), axis=1)
    drawn = np.where(possible, drawn, np.float32(2))
    threshold = np.maximum(masking.rate, np.nextafter(drawn.min(axis=1, keepdims=True), np.float32(2)))
    masked = possible & (drawn < threshold)
    if masking.answers:
        masked = np.isin(rows, [vocabulary.piece(answer) for answer in masking.answers])
    pieces = np.where(masked & (fate < masking.hidden), vocabulary.special["[MASK]"], rows)
    replaced = masked & (fate >= masking.hidden) & (fate < masking.hidden + masking.random)
    pieces = np.where(replaced, others, pieces)
    places, blocks = places_and_blocks(rows, vocabulary)
    return MaskedRows(pieces, places, blocks, masked, rows)


def next_rows(rows: Ints, vocabulary: Vocabulary) -> MaskedRows:
    """Return packed rows [row, length] as they are, where each piece is to predict the one after it in its document."""
    places, blocks = places_and_blocks(rows, vocabulary)
    predicts = np.zeros(rows.shape, np.bool_)
    predicts[:, :-1] = (blocks[:, :-1] >= 0) & (blocks[:, :-1] == blocks[:, 1:])
    return MaskedRows(rows, places, blocks, predicts, np.roll(rows, -1, axis=1))


def _word_starts(rows: Ints, vocabulary: Vocabulary) -> npt.NDArray[np.int64]:
    """Return [row, length]: the place at which the word of each piece begins."""
    index = np.broadcast_to(np.arange(rows.shape[1]), rows.shape)
    return np.maximum.accumulate(np.where(vocabulary.begins[rows], index, 0), axis=1)
