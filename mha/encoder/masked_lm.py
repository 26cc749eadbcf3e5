"""The masked-LM loss on rows of packed documents, with logits at masked pieces alone (Devlin et al. 2019)."""

from __future__ import annotations

from dataclasses import dataclass, fields

import torch
from jaxtyping import Float, Int
from torch import Tensor

from mha.encoder.cross_entropy import cross_entropy
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
