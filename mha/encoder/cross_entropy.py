"""Mean cross-entropy whose memory stays in the cache of a CPU."""

from __future__ import annotations

from typing import Any

import torch
import torch.nn.functional as F
from jaxtyping import Float, Int
from torch import Tensor
from torch.autograd.function import once_differentiable

ROWS = 64
"Rows of logits that are worked on at a time: with 8,192 pieces 2 MB of float32."


def cross_entropy(logits: Float[Tensor, "token vocab"], gold: Int[Tensor, " token"]) -> Float[Tensor, ""]:
    """Mean of -log softmax(logits)[gold] in nats, as float32 also where logits are of half precision.

    On a CPU the gradient is computed with the loss, some rows at a time, and kept in the precision of the logits: a
    float32 copy of all logits, and one of their gradient, take longer to write than the numbers to compute.
    """
    if logits.device.type != "cpu" or not (logits.requires_grad and torch.is_grad_enabled()):
        return F.cross_entropy(logits.to(_precise(logits)), gold)
    loss: Tensor = _CrossEntropy.apply(logits, gold)  # type: ignore[no-untyped-call]  # torch leaves apply untyped
    return loss


class _CrossEntropy(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, logits: Tensor, gold: Tensor) -> Tensor:
        gradient = torch.empty_like(logits)
        loss = torch.zeros((), dtype=_precise(logits))
        for start in range(0, len(gold), ROWS):
            rows, column = slice(start, start + ROWS), gold[start : start + ROWS, None]
            log = logits[rows].to(loss.dtype).log_softmax(-1)
            hits = log.gather(1, column)
            loss -= hits.sum()
            gradient[rows] = log.exp_().scatter_add_(1, column, torch.full_like(hits, -1))
        ctx.save_for_backward(gradient)
        return loss / len(gold)

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, outer: Tensor) -> tuple[Tensor, None]:
        (gradient,) = ctx.saved_tensors
        return gradient * (outer / len(gradient)).item(), None


def _precise(logits: Tensor) -> torch.dtype:
    return torch.promote_types(logits.dtype, torch.float32)
