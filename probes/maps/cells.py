"""Measures of maps that are weighted sums of their cells: one matrix product a layer gives them all.

Everything is asked of the pattern of pieces, where special tokens have rows as well. Weights of words are weights of
their pieces: a word attends as its pieces do on average, and gets what its pieces get together.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import torch
from jaxtyping import Bool, Float
from torch import Tensor

from mha.batches import Batch
from probes.records import Document

REACH = 8
"Offsets up to this many words are told one by one."

BAND = 2
"Tokens to either side that are local, beside the token itself (Pande et al. 2021)."

ATTENTION = ("[CLS]", "[SEP]", "[SEP] from [SEP]", "[SEP] from others", "period or comma", "punctuation")
"What gets attention, of all tokens where nothing else is said."

BEYOND = (f"before -{REACH}", f"beyond +{REACH}")


def offset_name(offset: int) -> str:
    """Return how an offset is written: "-1" is the previous word, "+1" the next one, "0" the word itself."""
    return f"{offset:+d}" if offset else "0"


OFFSETS = (BEYOND[0], *map(offset_name, range(-REACH, REACH + 1)), BEYOND[1])

SIEVES = ("local", "delimiter", "syntactic")
"Those that are weighted sums; of blocks see `probes.maps.shapes`."

PARTS = ("distance", "words", "within")
"Attention times its distance in words; attention to words; attention of words to those of their sentence."

BETWEEN = tuple(f"{start} to {end}" for start in "AB" for end in ("A", "B", "[CLS]", "[SEP]"))
"From the words of one text of a pair to those of either, and to special tokens; A is the first, B the second."

CELLS = (*ATTENTION, *OFFSETS, *SIEVES, *PARTS)


@dataclass(frozen=True)
class Layout:
    """What stands where in the maps of a batch."""

    batch: Batch
    documents: Sequence[Document]
    signs: Tensor
    "Ids of the pieces that are exactly a period or a comma."

    @cached_property
    def key(self) -> Tensor:
        """[text, piece] Word of each piece, or the index of [SEP] or [CLS] among the keys."""
        return self.batch.to_words.argmax(2)

    @cached_property
    def tokens(self) -> Float[Tensor, "text piece"]:
        """1 at pieces, 0 at padding."""
        return self.batch.to_words.sum(2)

    @property
    def width(self) -> int:
        """Words of the longest text."""
        return self.batch.to_words.shape[2] - 2

    @cached_property
    def words(self) -> Float[Tensor, "text piece"]:
        """1 at the pieces of words."""
        return self.batch.to_words[:, :, : self.width].sum(2)

    def special(self, key: int) -> Float[Tensor, "text piece"]:
        """1 at the pieces of a special key, SEP or CLS."""
        return self.batch.to_words[:, :, key]

    @cached_property
    def of_words(self) -> Float[Tensor, "text piece"]:
        """The part of each piece in the row of its word."""
        return self.batch.from_words.sum(1)

    def of_each(self, values: Iterable[Iterable[float]]) -> Float[Tensor, "text piece"]:
        """Return a number of each word at its pieces."""
        table = torch.zeros(len(self.documents), self.width)
        for text, row in enumerate(values):
            numbers = list(row)
            table[text, : len(numbers)] = torch.tensor(numbers)
        return torch.bmm(self.batch.to_words[:, :, : self.width], self.placed(table)[:, :, None])[:, :, 0]

    def placed(self, tensor: Tensor) -> Tensor:
        """Return a tensor on the device of the batch."""
        return tensor.to(self.batch.device)

    @cached_property
    def pairs(self) -> Bool[Tensor, "text query key"]:
        """Whether both are pieces of words."""
        return (self.words[:, :, None] * self.words[:, None]) > 0

    @cached_property
    def offset(self) -> Tensor:
        """[text, query, key] Word of the key minus that of the query; of no meaning where one is no word."""
        return self.key[:, None] - self.key[:, :, None]

    @cached_property
    def within(self) -> Bool[Tensor, "text query key"]:
        """Whether both are of one sentence, in texts of several."""
        numbers = self.of_each(
            [number for number, sentence in enumerate(text.sentences) for _ in sentence.words]
            for text in self.documents
        )
        several = torch.tensor([sum(len(one) > 0 for one in text.sentences) > 1 for text in self.documents])
        return self.pairs & (numbers[:, :, None] == numbers[:, None]) & self.placed(several)[:, None, None]

    @cached_property
    def texts(self) -> tuple[Float[Tensor, "text piece"], Float[Tensor, "text piece"]] | None:
        """1 at the pieces of the words of the first text of each pair, and of the second; None where none is a pair."""
        if not any(text.second for text in self.documents):
            return None
        numbers = self.of_each(
            [1 + (word >= text.second) for word in range(len(text))] if text.second else [] for text in self.documents
        )
        return (numbers == 1).float(), (numbers == 2).float()

    @cached_property
    def tree(self) -> Bool[Tensor, "text query key"]:
        """Whether one is the head of the other."""
        arcs = torch.zeros(len(self.documents), self.width, self.width)
        for text, document in enumerate(self.documents):
            dependent = np.flatnonzero(document.heads >= 0)
            arcs[text, dependent, document.heads[dependent]] = 1
        to_words, both = self.batch.to_words[:, :, : self.width], self.placed(arcs + arcs.transpose(1, 2))
        return torch.bmm(torch.bmm(to_words, both), to_words.transpose(1, 2)) > 0


@dataclass(frozen=True)
class CellWeights:
    """How much each cell of the maps of a batch counts towards each of CELLS."""

    weights: Float[Tensor, "text measure cell"]
    counted: Bool[Tensor, "text measure"]
    "Whether a text has what is measured; where not, weights are 0."

    @classmethod
    def of(cls, layout: Layout) -> CellWeights:
        """Lay out the weights of all measures."""
        return cls.joined([*_attention(layout), *_offsets(layout), *_sieves(layout), *_parts(layout)])

    @classmethod
    def between(cls, layout: Layout) -> CellWeights | None:
        """Lay out the weights of BETWEEN, means over the words of a text of a pair; None where no text is a pair."""
        if layout.texts is None:
            return None
        ends = (*layout.texts, layout.special(-1), layout.special(-2))
        rows = [layout.of_words * text for text in layout.texts]
        square = torch.ones_like(layout.pairs)
        return cls.joined([_mean(row, square & (end > 0)[:, None]) for row in rows for end in ends])

    @classmethod
    def joined(cls, measures: Sequence[Weighted]) -> CellWeights:
        """Return the weights of several measures together."""
        weights = torch.stack([weights.flatten(1) for weights, _ in measures], 1)
        return cls(weights, torch.stack([known for _, known in measures], 1))

    def sums(self, pattern: Float[Tensor, "text head query key"]) -> Float[Tensor, "text measure head"]:
        """Return all measures of all heads."""
        return torch.bmm(self.weights, pattern.flatten(2).transpose(1, 2))


Weighted = tuple[Tensor, Tensor]
"Weights [text, query, key] and whether a text has what is measured [text]."


def _mean(rows: Tensor, cells: Tensor, *, everywhere: bool = False) -> Weighted:
    """Return the mean over rows, weighted by `rows` [text, query], of the attention to `cells` [text, query, key].

    Rows without such a cell do not count, unless `everywhere`: then their attention is 0.
    """
    there = rows if everywhere else rows * cells.any(2)
    total = there.sum(1)
    return (there / total.clamp(min=1e-9)[:, None])[:, :, None] * cells, total > 0


def _attention(layout: Layout) -> Iterator[Weighted]:
    """Yield the weights of ATTENTION (Clark et al. 2019, section 3.2): means over tokens."""
    tokens, cls, sep = layout.tokens, layout.special(-1), layout.special(-2)
    square = torch.ones_like(layout.pairs)
    sign = torch.isin(layout.batch.ids, layout.placed(layout.signs)) & (layout.tokens > 0)
    tagged = layout.placed(torch.tensor([any(text.upos) for text in layout.documents]))
    marks = layout.of_each([tag == "PUNCT" for tag in text.upos] for text in layout.documents)
    for rows, keys in ((tokens, cls), (tokens, sep), (sep, sep), (tokens - sep, sep)):
        yield _mean(rows, square & (keys > 0)[:, None])
    known = torch.full_like(tagged, len(layout.signs) > 0)
    for keys, asked in ((sign, known), (marks > 0, tagged)):
        weights, _ = _mean(tokens, square & keys[:, None], everywhere=True)
        yield weights, asked


def _offsets(layout: Layout) -> Iterator[Weighted]:
    """Yield the weights of OFFSETS: means over the words that have a word there."""
    rows, pairs, offset = layout.of_words, layout.pairs, layout.offset
    yield _mean(rows, pairs & (offset < -REACH))
    for one in range(-REACH, REACH + 1):
        yield _mean(rows, pairs & (offset == one))
    yield _mean(rows, pairs & (offset > REACH))


def _sieves(layout: Layout) -> Iterator[Weighted]:
    """Yield the weights of SIEVES: for each token the mean attention in a sieve over that to all tokens.

    The mean over all tokens is 1 / tokens, for rows sum to 1.
    """
    tokens = layout.tokens
    place = torch.arange(tokens.shape[1], device=tokens.device)
    real = (tokens[:, :, None] * tokens[:, None]) > 0
    ends = (layout.special(-1) + layout.special(-2)) > 0
    near = (place - place[:, None]).abs() <= BAND
    for rows, cells in ((tokens, real & near), (tokens, real & ends[:, None]), (layout.words, layout.tree)):
        yield sieve_weights(layout, rows, cells)


def sieve_weights(layout: Layout, rows: Tensor, cells: Tensor) -> Weighted:
    """Return the mean over rows of: tokens x mean attention to `cells` (Pande et al. 2021)."""
    weights, counted = _mean(rows, cells)
    return weights * layout.tokens.sum(1)[:, None, None] / cells.sum(2, keepdim=True).clamp(min=1), counted


def _parts(layout: Layout) -> Iterator[Weighted]:
    """Yield the weights of PARTS."""
    weights, _ = _mean(layout.of_words, layout.pairs)
    several = layout.batch.from_words.sum(2).sum(1) > 1.5
    yield weights * layout.offset.abs(), several
    yield weights, several
    yield _mean(layout.words, layout.within)
