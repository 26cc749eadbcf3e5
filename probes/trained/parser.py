"""A dependency parser that sees nothing but attention: which word is whose head, from the maps of all heads at once."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor

PADDING = -1
"The head of a place where no word is."

PENALTY, ITERATIONS = 0.03, 30
"""Of the fit: half of this times the sum of squared weights is added to the loss; the most steps of L-BFGS.

Chosen among 0.001, 0.01 and 0.03 on sentences of EWT's training part alone."""


@dataclass(frozen=True)
class Treebank:
    """Sentences of a batch with what is known of their words, padded to one length."""

    maps: Float[Tensor, "sentence dependent head map"]
    "What is known of a pair of words, in the parser of the paper the attention from one to the other, all heads."
    ends: Float[Tensor, "sentence dependent end"]
    "What speaks for a word being the root: its attention to [CLS] and [SEP], all heads."
    vectors: Float[Tensor, "sentence word component"]
    "What is known of each word by itself; no component where the parser sees no words."
    gold: Int[Tensor, "sentence dependent"]
    "Index of each word's head, the number of words for the root, PADDING where there is no word."

    @property
    def real(self) -> Bool[Tensor, "sentence dependent"]:
        """Where words are."""
        return self.gold != PADDING


@dataclass(frozen=True)
class AttentionParser:
    """p(head i | dependent j) is proportional to exp(sum_k w_k A^k_ji + u_k A^k_ij), after Clark et al. 2019, 4.2.

    A^k_ji is the attention of head k from j to i. The root is one more candidate, with the attention of j to [CLS] and
    [SEP] and a constant. Where words are seen, w_k and u_k are linear in the vectors of dependent and head ("Attn +
    GloVe" there); of the root only the dependent has one.
    """

    pairs: Float[Tensor, "map both_ways"]
    """Weights of the maps. First those of A_ji, then as many of A_ij: one constant, those by the components of the
    dependent's vector, those by the head's."""
    root: Float[Tensor, "end_and_one own"]
    "Weights of the ends and of the constant: one constant, those by the components of the dependent's vector."
    scale: Float[Tensor, " map"]
    "Maps are divided by this: their root mean square where the parser was fitted."
    end_scale: Float[Tensor, " end"]

    @property
    def parameters(self) -> int:
        """Number of weights."""
        return self.pairs.numel() + self.root.numel()

    def scores(self, bank: Treebank) -> Float[Tensor, "sentence dependent candidate"]:
        """Return the log-odds of every candidate head, the root last; -inf for the word itself and for padding."""
        given = bank.maps @ (self.pairs / self.scale[:, None])
        there, back = given.chunk(2, -1)
        words = _by_words(there, bank.vectors) + _by_words(back.transpose(1, 2), bank.vectors)
        itself = torch.eye(words.shape[1], dtype=torch.bool)
        words = words.masked_fill(itself | ~bank.real[:, None], -torch.inf)
        constant = bank.ends.new_ones(*bank.ends.shape[:2], 1)
        ends = torch.cat([bank.ends / self.end_scale, constant], -1) @ self.root
        root = ends[..., :1] + (ends[..., 1:] * bank.vectors).sum(-1, keepdim=True)
        return torch.cat([words, root], -1)

    def heads(self, bank: Treebank) -> Int[Tensor, "sentence dependent"]:
        """Return the best head of every word by itself, whether or not the heads make a tree; the root as in `gold`."""
        best = self.scores(bank).argmax(-1)
        return torch.where(best == bank.gold.shape[1], bank.real.sum(1, keepdim=True), best)

    def loss(self, bank: Treebank) -> Tensor:
        """Return the sum over words of -log p(gold head), in nats."""
        scores = self.scores(bank)[bank.real]
        words = bank.real.sum(1)[bank.real.nonzero()[:, 0]]
        gold = bank.gold[bank.real]
        return torch.nn.functional.cross_entropy(
            scores, torch.where(gold == words, scores.shape[1] - 1, gold), reduction="sum"
        )

    @classmethod
    def blank(cls, banks: Sequence[Treebank]) -> AttentionParser:
        """Return the parser that knows nothing yet, for maps of the size of those in `banks`."""
        size = banks[0].vectors.shape[2]
        maps, ends = banks[0].maps.shape[3], banks[0].ends.shape[2]
        pairs, root = torch.zeros(maps, 2 * (1 + 2 * size)), torch.zeros(ends + 1, 1 + size)
        scale = _spread([(bank.maps, bank.real[:, :, None] & bank.real[:, None]) for bank in banks], maps)
        return cls(pairs, root, scale, _spread([(bank.ends, bank.real) for bank in banks], ends))

    @classmethod
    def fit(cls, banks: Sequence[Treebank], step: Callable[[], None] = lambda: None) -> AttentionParser:
        """Maximise the likelihood of the heads in `banks`, with a small penalty on weights: a convex problem.

        Solved from weights of 0 by L-BFGS over all banks at once, so no seed decides anything. `step` is called each
        time the loss was computed.
        """
        blank = cls.blank(banks)
        weights = [blank.pairs.requires_grad_(), blank.root.requires_grad_()]
        words = sum(int(bank.real.sum()) for bank in banks)
        solver: Any = torch.optim.LBFGS(  # its step has no types
            weights, max_iter=ITERATIONS, tolerance_change=1e-7, history_size=20, line_search_fn="strong_wolfe"
        )

        def closure() -> Tensor:
            solver.zero_grad()
            total = PENALTY / 2 * (weights[0].square().sum() + weights[1].square().sum())
            torch.autograd.backward(total)
            for bank in banks:
                part = blank.loss(bank) / words
                torch.autograd.backward(part)
                total = total.detach() + part.detach()
            step()
            return total

        solver.step(closure)
        return cls(blank.pairs.detach(), blank.root.detach(), blank.scale, blank.end_scale)


def _by_words(
    given: Float[Tensor, "sentence dependent head both"], vectors: Float[Tensor, "sentence word component"]
) -> Float[Tensor, "sentence dependent head"]:
    """Mix a constant, what goes by the dependent's vector, and what goes by the head's."""
    size = vectors.shape[2]
    of_dependent = torch.einsum("sdhc,sdc->sdh", given[..., 1 : 1 + size], vectors)
    return given[..., 0] + of_dependent + torch.einsum("sdhc,shc->sdh", given[..., 1 + size :], vectors)


def _spread(parts: Sequence[tuple[Tensor, Tensor]], size: int) -> Float[Tensor, " size"]:
    """Return the root mean square of every feature at real places, 1 where it is 0."""
    squares, places = torch.zeros(size, dtype=torch.float64), 0
    for values, real in parts:
        squares += values[real].double().square().sum(0)
        places += int(real.sum())
    spread = (squares / max(places, 1)).sqrt().to(parts[0][0].dtype)
    return torch.where(spread > 0, spread, 1)
