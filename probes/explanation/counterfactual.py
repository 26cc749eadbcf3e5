"""Counterfactual attention: permuted, adversarial, and with pieces erased, over the same vectors."""

from __future__ import annotations

import torch
from jaxtyping import Float, Int
from torch import Tensor

from probes.explanation.classifier import Attention, AttentionDecisions

PERMUTATIONS = 100

STEPS, RATE, RESTARTS, PRICE = 200, 0.1, 4, 500.0
"""Of the search for adversaries: steps of Adam, their rate, random starts, and the price of a change of the output
beyond what is allowed (lambda of Jain and Wallace 2019, section 4.2.2)."""


def jensen_shannon(first: Attention, second: Attention) -> Float[Tensor, " sentence"]:
    """Return the Jensen-Shannon divergence of attention in nats, in [0, ln 2]."""
    mean = (first + second) / 2

    def divergence(part: Tensor) -> Tensor:
        nats: Tensor = torch.special.xlogy(part, part.clamp(min=1e-12) / mean.clamp(min=1e-12)).sum(-1)
        return nats

    return (divergence(first) + divergence(second)) / 2


def permuted_change(decisions: AttentionDecisions, generator: torch.Generator) -> Float[Tensor, " sentence"]:
    """Return the median total variation distance of the output where attention is permuted among the pieces.

    Of an output of two classes it is the change of the probability (Jain and Wallace 2019, section 4.2.1).
    """
    before = decisions.output(decisions.attention)
    changes = []
    for _ in range(PERMUTATIONS):
        order = torch.rand(decisions.real.shape, generator=generator).masked_fill(~decisions.real, 2).argsort(-1)
        changes.append((decisions.output(decisions.attention.gather(-1, order)) - before).abs())
    return torch.stack(changes).median(0).values


def adversarial(
    decisions: AttentionDecisions, epsilon: float, generator: torch.Generator
) -> tuple[Attention, Float[Tensor, " sentence"]]:
    """Return the attention that is farthest from the classifier's of those found that keep its output, and how far.

    The Jensen-Shannon divergence is maximised while the output stays within `epsilon` in total variation; where nothing
    is found, it is the classifier's own, at 0 (Jain and Wallace 2019, section 4.2.2, one adversary at a time).
    """
    own, before = decisions.attention, decisions.output(decisions.attention)
    best, farthest = own.clone(), torch.zeros(len(own))
    for _ in range(RESTARTS):
        logits = (2 * torch.randn(own.shape, generator=generator)).requires_grad_()
        optimiser = torch.optim.Adam([logits], lr=RATE)
        for _ in range(STEPS):
            attention = logits.masked_fill(~decisions.real, -torch.inf).softmax(-1)
            distance = jensen_shannon(own, attention)
            change = (decisions.output(attention) - before).abs()
            with torch.no_grad():
                better = (change <= epsilon) & (distance > farthest)
                best[better], farthest[better] = attention[better], distance[better]
            loss = (PRICE * (change - 0.9 * epsilon).clamp(min=0) - distance).sum()
            optimiser.zero_grad()
            loss.backward()  # type: ignore[no-untyped-call]  # torch has no types for it
            optimiser.step()
    return best, farthest


def flips_without(decisions: AttentionDecisions, piece: Int[Tensor, " sentence"]) -> Tensor:
    """Return where the decision is another without one piece, the attention of the others scaled to sum to 1.

    Serrano and Smith 2019, section 4. [sentence], True where it flips.
    """
    kept = decisions.attention.scatter(-1, piece[:, None], 0)
    left = (kept * decisions.scores).sum(-1)  # to scale does not change the sign
    return (left > 0) != (decisions.odds(decisions.attention) > 0)


def random_piece(decisions: AttentionDecisions, generator: torch.Generator) -> Int[Tensor, " sentence"]:
    """Return a random piece of each sentence other than the most attended one; that itself where there is no other."""
    chance = torch.rand(decisions.real.shape, generator=generator).masked_fill(~decisions.real, -1)
    return chance.scatter(-1, decisions.attention.argmax(-1, keepdim=True), -0.5).argmax(-1)


def erased_before_flip(
    decisions: AttentionDecisions, order: Float[Tensor, "sentence piece"]
) -> Float[Tensor, " sentence"]:
    """Return the share of pieces that are erased, those with the highest `order` first, until the decision flips.

    In (0, 1]; 1 where it never does (Serrano and Smith 2019, section 5).
    """
    first = order.masked_fill(~decisions.real, -torch.inf).argsort(-1, descending=True)
    parts = (decisions.attention * decisions.scores).gather(-1, first).double()
    left = torch.cat([parts.flip(-1).cumsum(-1).flip(-1)[:, 1:], parts.new_zeros(len(parts), 1)], -1)
    count = decisions.real.sum(-1)
    place = torch.arange(1, order.shape[1] + 1)
    flipped = ((left > 0) != (parts.sum(-1, keepdim=True) > 0)) & (place < count[:, None])
    until = torch.where(flipped, place, count[:, None]).amin(-1)
    return until / count
