"""What heads write straight into the answer of a masked language model, where that can be told by a product alone."""

from __future__ import annotations

from collections.abc import Sequence

import torch
from jaxtyping import Float, Int
from torch import Tensor, nn

from mha.causal.sweep import TextBatch
from mha.encoder.encoder import Encoder
from mha.hooks import entering
from mha.models.circuits import layers_of
from mha.models.masked_prediction import MaskedLM


class DirectLogitError(ValueError):
    """A model of which no head writes straight into the logits."""


def linear_readout(lm: MaskedLM) -> tuple[Encoder, nn.LayerNorm, nn.Linear]:
    """Return the encoder of a masked LM, its final LayerNorm and what turns its vectors into logits.

    Raises DirectLogitError, with the reason, unless the encoder is ours, pre-norm, and read by a linear map: what heads
    write is then added up as it is, and nothing but one LayerNorm stands between the sum and the logits.
    """
    encoder, name = lm.module, lm.model.name
    if not isinstance(encoder, Encoder):
        raise DirectLogitError(f"{name}: direct logit attribution is told of pre-norm encoders of headscope's own kind")
    if encoder.final_norm is None:
        raise DirectLogitError(
            f"{name} is post-norm: what a head writes passes two LayerNorms and a feed-forward net in every layer, so "
            "that no product with the readout says what becomes of it"
        )
    readout: nn.Module | None = encoder.lm_head
    if not isinstance(readout, nn.Linear):
        raise DirectLogitError(
            f"{name}: its masked-LM head has a nonlinear transform between the last layer and the logits, so that no "
            "product with the readout says what becomes of what a head writes"
        )
    return encoder, encoder.final_norm, readout


@torch.no_grad()
def direct_logits(
    lm: MaskedLM,
    texts: TextBatch,
    outputs: Sequence[Float[Tensor, "batch head piece head_dim"]],
    forms: Int[Tensor, "chosen 2"],
) -> Float[Tensor, "chosen layer head"]:
    """Return what each head adds to logit(first form) - logit(second form) at the chosen pieces, without any detour.

    `outputs` are those of every layer before W_O, or by how much they differ between two runs. They go through W_O, the
    final LayerNorm with the variance that it has on `texts`, and the readout (Elhage et al. 2021, Logit Attribution);
    what later layers, or the feed-forward net of the same one, make of them is left out. Of all heads together with
    embeddings, feed-forward nets and biases this sums to the difference of logits. Raises DirectLogitError as
    `linear_readout` does.
    """
    encoder, norm, readout = linear_readout(lm)
    if texts.selected is None:
        raise ValueError("direct logits are told of chosen pieces: say which")
    with entering(norm) as entered:
        lm.read(texts.ids, texts.real, texts.selected)
    spread = (entered[0].var(-1, unbiased=False) + norm.eps).sqrt()
    direction = (readout.weight[forms[:, 0]] - readout.weight[forms[:, 1]]) * norm.weight
    direction = (direction - direction.mean(-1, keepdim=True)) / spread[:, None]
    text, piece = texts.selected // texts.ids.shape[1], texts.selected % texts.ids.shape[1]
    found = [
        torch.einsum("chd,hdm,cm->ch", output[text, :, piece], layer.attention.W_O, direction)
        for output, layer in zip(outputs, layers_of(encoder), strict=True)
    ]
    return torch.stack(found, 1)
