"""How sharp patterns are, and how much gradient they let through to the scores."""

from __future__ import annotations

from collections.abc import Sequence

import torch
import torch.nn.functional as F
from jaxtyping import Float
from torch import Tensor

from mha import Encoder, watch
from mha.encoder.masked_lm import MaskedBatch, masked_lm_loss
from mha.watches import Seen


def entropy(pattern: Float[Tensor, "*row key"]) -> Float[Tensor, "*row"]:
    """Return the entropy of rows that sum to 1, in nats: 0 for all weight on one key, log(keys) for equal weights."""
    terms: Tensor = torch.special.entr(pattern)
    return terms.sum(-1)


def random_scores(dimension: int, queries: int, keys: int, seed: int) -> Float[Tensor, "query key"]:
    """Return products of random queries and keys whose components have mean 0 and variance 1."""
    generator = torch.Generator().manual_seed(seed)
    query, key = (torch.randn(count, dimension, generator=generator) for count in (queries, keys))
    return query @ key.T


def score_gradient(scores: Float[Tensor, "query key"], seed: int) -> float:
    """Return the mean norm, over rows, of the gradient of a random function of the pattern for the scores.

    The function weights every entry of the pattern with a normal number of variance 1.
    """
    scores = scores.clone().requires_grad_()
    weights = torch.randn(scores.shape, generator=torch.Generator().manual_seed(seed))
    torch.autograd.backward((F.softmax(scores, -1) * weights).sum())
    assert scores.grad is not None
    return float(scores.grad.norm(dim=-1).mean())


def sharpness(encoder: Encoder, batches: Sequence[MaskedBatch]) -> tuple[float, float]:
    """Return the mean entropy of an encoder's patterns in nats, and the norm of the loss's gradient for the scores.

    Entropy over the rows of real pieces of all heads and layers; the norm is that of all scores of a batch together,
    averaged over batches. Both depend on what the encoder computes, not on how its weights are written down.
    """
    entropies, norms = [], []
    for batch in batches:
        scores: list[Tensor] = []
        real = batch.blocks >= 0

        def see(seen: Seen, scores: list[Tensor] = scores, real: Tensor = real) -> None:
            if seen.site == "scores":
                seen.tensor.retain_grad()
                scores.append(seen.tensor)
            else:
                entropies.append(float(entropy(seen.tensor.detach()).transpose(1, 2)[real].mean()))

        with watch(encoder, see, ["scores", "pattern"]):
            torch.autograd.backward(masked_lm_loss(encoder, batch))
        norms.append(float(torch.stack([one.grad.norm() for one in scores if one.grad is not None]).norm()))
        encoder.zero_grad()
    return sum(entropies) / len(entropies), sum(norms) / len(norms)
