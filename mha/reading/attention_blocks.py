"""What the attention block of every layer is made of on one text, and passes in which parts of layers are missing."""

from __future__ import annotations

from contextlib import ExitStack
from dataclasses import dataclass

import torch
from jaxtyping import Float, Int
from torch import Tensor

from mha.encoder.encoder import Layer
from mha.encoder.layout import Packing
from mha.hooks import entering, record
from mha.models.circuits import encoder_of, layers_of
from mha.models.model import Model


@dataclass(frozen=True)
class AttentionBlock:
    """One layer's attention block on one text: attention, the residual connection, and in post-norm LayerNorm."""

    layer: Layer
    x: Float[Tensor, "piece model"]
    "What the residual connection carries: the layer's input."
    pattern: Float[Tensor, "head query key"]
    value: Float[Tensor, "head key head_dim"]
    "x W_V + b_V of each head; in pre-norm of LayerNorm of x."

    @torch.no_grad()
    def written(self, pattern: Float[Tensor, "head query key"]) -> Float[Tensor, "query model"]:
        """Return what all heads write with this attention, without the bias of W_O: it comes from no piece."""
        return torch.einsum("hqk,hkd,hdm->qm", pattern, self.value, self.layer.attention.output_weights())

    @torch.no_grad()
    def scaled(self, part: Float[Tensor, "query model"]) -> Float[Tensor, "query model"]:
        """Return what LayerNorm makes of a part of its input, but for the factor that all parts of a query share.

        That is (part - mean(part)) * gamma (Kobayashi et al. 2021, section 3.3); in pre-norm, where none follows, the
        part itself.
        """
        if self.layer.pre:
            return part
        return (part - part.mean(-1, keepdim=True)) * self.layer.attention_norm.weight


@torch.no_grad()
def attention_blocks(model: Model, ids: Int[Tensor, " piece"]) -> list[AttentionBlock]:
    """Return the attention blocks of all layers on one text. Raises CircuitError for other than BERT's family."""
    encoder = encoder_of(model, "what attention blocks mix")
    layers = layers_of(encoder)
    with ExitStack() as stack:
        inputs = [stack.enter_context(entering(layer)) for layer in layers]
        seen = stack.enter_context(record(encoder, ("value", "pattern")))
        model.run(ids[None], None)
    parts = zip(layers, inputs, seen["pattern"], seen["value"], strict=True)
    return [AttentionBlock(layer, x[0], pattern[0], value[0]) for layer, x, pattern, value in parts]


@torch.no_grad()
def states_without(
    model: Model, ids: Int[Tensor, " piece"], *, skips: bool, feed_forward: bool
) -> Float[Tensor, "layer piece model"]:
    """Return the input of the first layer and the output of each on one text, without some parts of the layers.

    Without `skips` no residual connection adds anything; without `feed_forward` these nets, with their residual
    connection and LayerNorm, are left out (Dong et al. 2021, section 4.1). With both it is the model's own pass.
    """
    encoder = encoder_of(model)
    packing = encoder.packing(ids[None], None)
    x = encoder.embed(ids[None], packing, model.types(ids[None], None))
    states = [x]
    for layer in layers_of(encoder):
        x = _block(layer, x, packing, skips=skips, feed_forward=feed_forward)
        states.append(x)
    return torch.stack(states)


def _block(layer: Layer, x: Tensor, packing: Packing, *, skips: bool, feed_forward: bool) -> Tensor:
    kept = 1.0 if skips else 0.0
    x = kept * x + layer.attend(x, packing, None)
    if layer.pre:
        return kept * x + layer.feed_forward(layer.feed_forward_norm(x)) if feed_forward else x
    x = layer.attention_norm(x)
    return layer.feed_forward_norm(kept * x + layer.feed_forward(x)) if feed_forward else x
