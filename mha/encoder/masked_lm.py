"""The masked-LM loss on rows of packed documents, with logits at masked pieces alone (Devlin et al. 2019)."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Any

import torch
import torch.nn.functional as F
from jaxtyping import Float, Int
from torch import Tensor
from torch.autograd.function import once_differentiable

from mha.encoder.encoder import Encoder


@dataclass(frozen=True)
class MaskedBatch:
    """Rows of one or more documents, and at which pieces something is predicted: a masked piece, or the next one."""

    pieces: Int[Tensor, "batch length"]
    "Piece ids as the encoder reads them: after masking."
    places: Int[Tensor, "batch length"]
    "Position of each piece within its document, from 0."
    blocks: Int[Tensor, "batch length"]
    "Number of the document within its row, -1 at padding; pieces attend to their own document alone."
    masked: Int[Tensor, " masked"]
    "Indices, in the flattened batch, of the pieces at which something is predicted, sorted."
    gold: Int[Tensor, " masked"]
    "The piece ids to predict."

    def to(self, device: torch.device | str) -> MaskedBatch:
        """Return the batch on another device."""
        moved = {field.name: getattr(self, field.name).to(device, non_blocking=True) for field in fields(self)}
        return MaskedBatch(**moved)


def masked_logits(encoder: Encoder, batch: MaskedBatch) -> Float[Tensor, "masked vocab"]:
    """Return the logits at the masked pieces. Raises ValueError for an encoder without a masked-LM head."""
    if encoder.lm_head is None:
        raise ValueError("the encoder has no masked-LM head: make it with Encoder(config, lm_head=True)")
    vectors = encoder(batch.pieces, places=batch.places, blocks=batch.blocks, selected=batch.masked)
    logits: Tensor = encoder.lm_head(vectors)
    return logits


def masked_lm_loss(encoder: Encoder, batch: MaskedBatch) -> Float[Tensor, ""]:
    """Mean cross-entropy of the masked pieces in nats, from 0; lower is better.

    Raises ValueError where no piece is masked.
    """
    if not len(batch.gold):
        raise ValueError("no piece of the batch is masked, so it has no loss: raise the masking rate or the batch")
    return cross_entropy(masked_logits(encoder, batch), batch.gold)


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
