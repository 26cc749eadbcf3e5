"""Random pieces that come twice: what heads attend to in them, and what a decoder predicts of the second time."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import torch
from jaxtyping import Float, Int
from torch import Tensor

from mha import Ablate, Encoder, intervene, record
from mha.training.vocabulary import Vocabulary

INDUCTION, PREVIOUS, DUPLICATE = "induction", "previous token", "duplicate token"


Head = tuple[int, int]
"Layer and head, from 0."


@contextmanager
def ablated(encoder: Encoder, heads: Sequence[Head]) -> Iterator[None]:
    """Replace the outputs of some heads by their means over the texts that are read together."""
    if not heads:
        yield
        return
    with intervene(encoder, *(Ablate(layer, head, how="mean") for layer, head in heads)):
        yield


@dataclass(frozen=True)
class Patterns:
    """What the heads of a model attend to in repeated pieces, every array [layer, head]; shares in [0, 1]."""

    strongest: Mapping[str, Float[Tensor, "layer head"]]
    "How often the most attended piece, neither the query nor the first piece, is the one a role asks for."
    attention: Mapping[str, Float[Tensor, "layer head"]]
    'Mean attention to that piece (Olsson et al. 2022 call that of INDUCTION the "prefix matching score").'


@dataclass(frozen=True)
class RepeatedPieces:
    """Rows of [CLS], some random pieces, others, the first ones again, and others to the end; no other comes twice.

    How many come twice, and how many stand between, is drawn for each row, so that no fixed distance finds them.
    """

    ids: Int[Tensor, "row place"]
    first: Int[Tensor, " query"]
    "Place of a piece that comes twice, the first time."
    second: Int[Tensor, " query"]
    "Its place the second time: the query."
    row: Int[Tensor, " query"]

    @classmethod
    def draw(cls, vocabulary: Vocabulary, rows: int, length: int, seed: int) -> RepeatedPieces:
        """Draw `rows` rows of `length` places, a quarter to three eighths of which come twice.

        Raises ValueError for a vocabulary with fewer ordinary pieces than a row has places.
        """
        pieces = vocabulary.ordinary
        if len(pieces) < length:
            raise ValueError(f"{len(pieces)} ordinary pieces are too few for rows of {length}")
        draws = np.random.default_rng(seed)
        ids = np.full((rows, length), vocabulary.special["[CLS]"])
        queries: list[tuple[int, int, int]] = []
        for row in range(rows):
            twice = int(draws.integers(length // 4, 3 * length // 8 + 1))
            between = int(draws.integers(0, length - 2 * twice))
            ids[row, 1:] = draws.permutation(pieces)[: length - 1]
            again = 1 + twice + between
            ids[row, again : again + twice] = ids[row, 1 : 1 + twice]
            # the last one is not asked: what followed it the first time does not follow it again
            queries += [(1 + place, again + place, row) for place in range(twice - 1)]
        first, second, number = torch.tensor(queries).unbind(1)
        return cls(torch.from_numpy(ids), first, second, number)

    @cached_property
    def gold(self) -> Mapping[str, Int[Tensor, " query"]]:
        """The place that each role asks for: after the piece the first time, before the query, the piece itself."""
        return {INDUCTION: self.first + 1, PREVIOUS: self.second - 1, DUPLICATE: self.first}

    @torch.inference_mode()
    def patterns(self, encoder: Encoder, without: Sequence[Head] = ()) -> Patterns:
        """Return what the heads attend to, with the outputs of heads `without` replaced by their means."""
        with record(encoder) as seen, ablated(encoder, without):
            encoder(self.ids)
        maps = torch.stack([pattern[self.row, :, self.second] for pattern in seen["pattern"]]).transpose(1, 2)
        others = maps.clone()
        others[..., 0] = -1
        others.scatter_(-1, self.second.expand(maps.shape[:3]).unsqueeze(-1), -1)
        best = others.argmax(-1)
        at = {role: gold.expand(maps.shape[:3]).unsqueeze(-1) for role, gold in self.gold.items()}
        return Patterns(
            {role: (best == gold).double().mean(-1) for role, gold in self.gold.items()},
            {role: maps.gather(-1, places).squeeze(-1).double().mean(-1) for role, places in at.items()},
        )

    @torch.inference_mode()
    def copied(self, encoder: Encoder, without: Sequence[Head] = ()) -> float:
        """Return how often the likeliest next piece is the one that followed the first time; in [0, 1]."""
        assert encoder.lm_head is not None
        with ablated(encoder, without):
            states = encoder(self.ids, selected=self.row * self.ids.shape[1] + self.second)
        guess = encoder.lm_head(states).argmax(-1)
        return float((guess == self.ids[self.row, self.first + 1]).double().mean())

    def commonest_offset(self) -> float:
        """Return how often the commonest distance from query to gold of INDUCTION is right: a rule by position."""
        distance = self.second - self.gold[INDUCTION]
        return int(distance.bincount().max()) / len(distance)
