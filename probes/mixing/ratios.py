"""Mixing ratios: how much of what an attention block gives a piece comes from other pieces (Kobayashi et al. 2021)."""

from __future__ import annotations

import torch
from jaxtyping import Float
from torch import Tensor

from mha.reading.attention_blocks import AttentionBlock

WEIGHTS, HALF, NORMS, RESIDUAL, BLOCK = RATIOS = (
    "weights",
    "weights, residual",
    "norms",
    "norms, residual",
    "norms, residual, LayerNorm",
)
"""What is taken into account: attention weights, averaged over heads; half of them, half the piece itself (Abnar and
Zuidema 2020); the vectors that heads write; these and the residual; and LayerNorm too, all of the block."""


def mixing_ratios(block: AttentionBlock) -> dict[str, Float[Tensor, " piece"]]:
    """Return each of RATIOS for every piece, in [0, 1]: 0 where nothing comes from other pieces.

    Of vectors it is |c| / (|c| + |o|), c the sum of what comes from other pieces and o what comes from the piece itself
    (Kobayashi et al. 2021, equation 13). The biases of W_O and LayerNorm come from no piece and are left out.
    """
    own = torch.diagonal(block.pattern, dim1=1, dim2=2)
    context = block.written(block.pattern - torch.diag_embed(own))
    itself = block.written(torch.diag_embed(own))
    with_residual = itself + block.x
    others = 1 - own.mean(0)
    return {
        WEIGHTS: others,
        HALF: others / 2,
        NORMS: _ratio(context, itself),
        RESIDUAL: _ratio(context, with_residual),
        BLOCK: _ratio(block.scaled(context), block.scaled(with_residual)),
    }


def _ratio(context: Float[Tensor, "piece model"], itself: Float[Tensor, "piece model"]) -> Float[Tensor, " piece"]:
    mixed, kept = context.norm(dim=-1), itself.norm(dim=-1)
    ratio: Tensor = mixed / (mixed + kept)
    return ratio
