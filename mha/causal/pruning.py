"""Heads gated for good: an encoder that is smaller, or a model of full size that `transformers` opens.

Both give the outputs of the model whose head outputs (the site head_output) are multiplied by the gates. They can, for
a gate is a factor of the head's rows of W_O, which the bias of W_V meets too; the bias of W_O belongs to no head and
stays.
"""

from __future__ import annotations

from copy import deepcopy
from dataclasses import replace
from typing import TypeVar

import torch
from jaxtyping import Float
from torch import Tensor, nn

from mha.encoder.encoder import Encoder
from mha.hooks import watch
from mha.models.circuits import layers_of
from mha.watches import Seen

Whole = TypeVar("Whole", bound=nn.Module)


class PruningError(ValueError):
    """Gates that do not fit a model."""


def smaller(encoder: Encoder, gates: Float[Tensor, "layer head"]) -> Encoder:
    """Return a copy without the heads whose gate is 0, the other gates folded into W_O.

    Heads keep their numbers; `config.pruned` of the copy names those that are gone. Gates of heads that were gone
    before count for nothing. `export_encoder` writes it as `transformers` 4 wrote pruned models.

    Raises PruningError for gates of another shape.
    """
    _check(gates, encoder.config.layers, encoder.config.heads)
    small = deepcopy(encoder)
    gone = {*encoder.config.pruned}
    with torch.no_grad():
        for number, (layer, row) in enumerate(zip(layers_of(small), gates, strict=True)):
            attention, left = layer.attention, layer.attention.left
            weight = attention.output.weight
            weight.mul_(row.to(weight)[left].repeat_interleave(attention.head_dim))
            out = [head for head in left.tolist() if row[head] == 0]
            attention.prune(out)
            gone |= {(number, head) for head in out}
    small.config = replace(encoder.config, pruned=tuple(gone))
    return small


def zeroed(model: Whole, gates: Float[Tensor, "layer head"]) -> Whole:
    """Return a copy of the same size whose heads write as much as their gates say; nothing where the gate is 0.

    `model` is an `Encoder`, which `export_encoder` writes as ever, or a model of `transformers` whose W_O
    `mha.projections.OUTPUT_PROJECTIONS` knows, for `save_pretrained`. Layers are numbered as hooks number them. The
    patterns of a head whose gate is 0 are what they were: it looks, and nothing of it is read. An encoder that lost
    heads is given them back with zero matrices, so that gates of ones alone make it one of full size again.

    Raises PruningError for gates of another shape, and for layers that share one W_O (ALBERT).
    """
    whole = deepcopy(model)
    if isinstance(whole, Encoder):
        for layer in layers_of(whole):
            layer.attention.restore()
        whole.config = replace(whole.config, pruned=())
    seen = _attention_calls(whole)
    weights = [one.call.output_weights() for one in seen if one.call is not None]
    _check(gates, len(weights), len(weights[0]))
    if len({weight.data_ptr() for weight in weights}) < len(weights):
        raise PruningError(
            f"layers of {type(model).__name__} share one W_O, so the gates of one would be those of all: gate its "
            "heads with a hook on head_output instead"
        )
    with torch.no_grad():
        for weight, row in zip(weights, gates, strict=True):
            weight.mul_(row.to(weight)[:, None, None])  # a view: the model's own W_O
    return whole


def _attention_calls(model: nn.Module) -> list[Seen]:
    seen: list[Seen] = []
    piece = next(model.parameters()).new_zeros(1, 1, dtype=torch.long)
    with torch.no_grad(), watch(model, seen.append, ["value"]):
        model(piece)
    return seen


def _check(gates: Tensor, layers: int, heads: int) -> None:
    if gates.shape != (layers, heads):
        raise PruningError(f"gates are {[*gates.shape]}, expected [{layers}, {heads}]: one for each head of each layer")
    if not bool(gates.isfinite().all()):
        raise PruningError("a gate is not finite; expected 0 for a head that goes, 1 for one that stays as it is")
