"""Heads gated for good: a model of full size that `transformers` opens, and one without the heads that write nothing.

Both give the outputs of the model whose head outputs (the site head_output) are multiplied by the gates. They can, for
a gate is a factor of the head's rows of W_O, which the bias of W_V meets too; the bias of W_O belongs to no head and
stays.
"""

from __future__ import annotations

from copy import deepcopy
from dataclasses import replace
from typing import Any, TypeVar

import torch
from jaxtyping import Float
from torch import Tensor, nn

from mha.encoder.encoder import Encoder
from mha.hooks import watch
from mha.messages import OneLineError
from mha.models.circuits import layers_of
from mha.watches import Call, Seen

Whole = TypeVar("Whole", bound=nn.Module)

COUNTS = ("num_attention_heads", "num_key_value_heads", "num_heads", "n_heads")
"What modules of `transformers` call their number of heads."

ROUNDING = 1e-3
"By how much of the largest output those of a smaller model may differ, in half precision too."


class PruningError(OneLineError):
    """Gates that do not fit a model, and heads that cannot be taken out of it."""


def zeroed(model: Whole, gates: Float[Tensor, "layer head"]) -> Whole:
    """Return a copy of the same size whose heads write as much as their gates say; nothing where the gate is 0.

    `model` is an `Encoder`, for `export_encoder`, or a model of `transformers` whose W_O
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
    weights = [call.output_weights() for call in _attention_calls(encoder_in(whole))]
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


@torch.no_grad()
def smaller(model: Whole, least: int = 1) -> Whole:
    """Return a copy without the heads whose part of W_O is zero, as `zeroed` leaves them: its projections are smaller.

    Heads of our `Encoder` keep their numbers; `config.pruned` names those that are gone, and `export_encoder` writes it
    as `transformers` 4 wrote pruned models. Of a model of `transformers`, which is put into evaluation mode, at `least`
    so many heads of a layer stay, and it is for use as it is: version 5 opens no folder of it (but see `even`).

    Raises PruningError where the copy does not give the outputs of the model, for its heads lie in another way.
    """
    small = deepcopy(model)
    if isinstance(small, Encoder):
        _take_zeros_out(small)
        return small
    encoder: Any = encoder_in(small.eval())
    pieces = torch.arange(5, 13, device=next(encoder.parameters()).device)[None]
    expected = encoder(pieces)[0]
    try:
        for call in _attention_calls(encoder):
            _keep_writing(call, least)
        off = (encoder(pieces)[0] - expected).abs().max() / expected.abs().max()
    except RuntimeError:  # of shapes
        off = torch.tensor(torch.inf)
    if not off < ROUNDING:
        raise PruningError(f"heads of a {type(model).__name__} cannot be taken out: how they lie in it is not known")
    return small


def _take_zeros_out(encoder: Encoder) -> None:
    gone = {*encoder.config.pruned}
    for number, layer in enumerate(layers_of(encoder)):
        left, writing = layer.attention.left, _writing(layer.attention.output_weights())
        out = [head for head in left.tolist() if not writing[head]]
        layer.attention.prune(out)
        gone |= {(number, head) for head in out}
    encoder.config = replace(encoder.config, pruned=tuple(gone))


def even(model: Any) -> Any | None:
    """Return `smaller` with as many heads in every layer, where the config of the model can say so, else None.

    It can where a config names the size of a head beside the number of heads, as those of EuroBERT and NomicBERT do.
    """
    weights = [call.output_weights() for call in _attention_calls(encoder_in(model))]
    least, config = max(int(_writing(weight).sum()) for weight in weights), deepcopy(model.config)
    if not 0 < least < len(weights[0]):
        return None
    sizes = {name: least for name in COUNTS if hasattr(config, name)} | {"head_dim": weights[0].shape[1]}
    try:
        small = smaller(model, least)
        config = type(config).from_dict(config.to_dict() | sizes)
        with torch.device("meta"):
            shell = type(small)(config)
    except Exception:  # each architecture refuses sizes in its own way, some by an assertion
        return None
    small.config = config
    shapes = [{name: one.shape for name, one in either.state_dict().items()} for either in (small, shell)]
    return small if shapes[0] == shapes[1] else None


def encoder_in(model: Any) -> nn.Module:
    """Return the encoder of a model of `transformers`, without the head of a task; an `Encoder` is one itself."""
    if isinstance(model, Encoder):
        return model
    encoder: nn.Module = model.get_encoder() if model.config.is_encoder_decoder else model.base_model
    return encoder


def _attention_calls(model: nn.Module) -> list[Call]:
    seen: list[Seen] = []
    piece = next(model.parameters()).new_zeros(1, 1, dtype=torch.long)
    with torch.no_grad(), watch(model, seen.append, ["value"]):
        model(piece)
    return [one.call for one in seen if one.call is not None]


def _writing(weight: Float[Tensor, "head head_dim model"]) -> Tensor:
    return weight.flatten(1).any(1)


def _keep_writing(call: Call, least: int) -> None:
    """Take what belongs to heads that write nothing out of an attention module's projections."""
    weight, module, output = call.output_weights(), call.module, call.output_projection()
    (heads, size, _), writing = weight.shape, _writing(weight)
    stay = (~writing).byte().argsort(stable=True)[: max(least, int(writing.sum()))].sort().values
    kept = (stay[:, None] * size + torch.arange(size, device=stay.device)).flatten()
    for part in module.children():
        if isinstance(part, nn.Linear) and part is not output and part.out_features % (heads * size) == 0:
            starts = range(0, part.out_features, heads * size)  # three where W_Q, W_K and W_V lie in one
            rows = torch.cat([start + kept for start in starts])
            part.out_features = len(rows)
            for name, whole in [*part.named_parameters()]:  # a bias is not always there
                setattr(part, name, nn.Parameter(whole[rows], whole.requires_grad))
    output.in_features = len(kept)
    output.weight = nn.Parameter(output.weight[:, kept], output.weight.requires_grad)
    for name, before in (*((name, heads) for name in COUNTS), ("all_head_size", heads * size)):
        if getattr(module, name, None) == before:
            setattr(module, name, before * len(stay) // heads)


def _check(gates: Tensor, layers: int, heads: int) -> None:
    if gates.shape != (layers, heads):
        raise PruningError(f"gates are {[*gates.shape]}, expected [{layers}, {heads}]: one for each head of each layer")
    if not bool(gates.isfinite().all()):
        raise PruningError("a gate is not finite; expected 0 for a head that goes, 1 for one that stays as it is")
