"""States: the vectors of a model's words from layer to layer, and passes in which single dimensions are zero."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager

import torch
from jaxtyping import Float
from torch import Tensor

from mha.batches import Batch
from mha.device import in_parts
from mha.encoder.encoder import Encoder
from mha.hooks import HookError, leaving
from mha.models.model import Model, typed


@torch.inference_mode()
def layer_states(model: Model, batch: Batch) -> Float[Tensor, "layer batch word model"]:
    """Return the states of words: what the first layer reads, then the output of each layer.

    A word's state is that of its pieces, reduced as the rows of its maps are (`Batch.from_words`); 0 at padding. They
    lie on the CPU, whatever the device of the model; where its memory lacks, texts are read in parts.
    """

    def read(texts: slice) -> Tensor:
        part, encoder = batch.part(texts).to(model.device), model.module
        with model.arithmetic():
            of_pieces = _of_encoder(model, encoder, part) if isinstance(encoder, Encoder) else _of_hub(model, part)
        return torch.stack([torch.bmm(part.from_words, states.to(part.from_words)) for states in of_pieces]).cpu()

    what = f"{model.name} on {model.device}, texts of {batch.ids.shape[1]} pieces"
    parts = [*in_parts(read, len(batch.ids), what)]
    return parts[0] if len(parts) == 1 else torch.cat(parts, 1)


def _of_encoder(model: Model, encoder: Encoder, batch: Batch) -> list[Tensor]:
    """Return [batch, piece, model] of every layer."""
    packing = encoder.packing(batch.ids, batch.mask)
    states = [encoder.embed(batch.ids, packing, model.types(batch.ids, batch.mask))]
    for layer in encoder.layers:
        states.append(layer(states[-1], packing))
    return [packing.unpack_zero(one) for one in states]


def _of_hub(model: Model, batch: Batch) -> list[Tensor]:
    real = torch.ones_like(batch.ids) if batch.mask is None else batch.mask.long()
    read = {"input_ids": batch.ids, "attention_mask": real, **typed(model.types(batch.ids, batch.mask))}
    states = model.module(**read, output_hidden_states=True).hidden_states
    return [one * real[..., None] for one in states]


@contextmanager
def zeroed_dimensions(model: Model, dimensions: Sequence[int]) -> Iterator[None]:
    """Have these dimensions of every layer's output be zero while the block runs.

    With LayerNorm at the end of a layer it is the same as scaling factor and bias of zero (Kovaleva et al. 2021).
    Raises HookError for a model that is not our Encoder: where its layers end is not known.
    """
    if not isinstance(model.module, Encoder):
        raise HookError(f"{model.name} ({model.architecture}): dimensions of its layers' outputs cannot be zeroed")
    keep = torch.ones(model.module.config.model, device=model.device)
    keep[list(dimensions)] = 0
    with ExitStack() as stack:
        for layer in model.module.layers:
            stack.enter_context(leaving(layer, lambda output: output * keep))
        yield


@contextmanager
def followed_embeddings(encoder: Encoder) -> Iterator[list[Tensor]]:
    """Keep the embeddings of pieces, before position and LayerNorm, of each pass, as leaves that gradients reach."""
    kept: list[Tensor] = []

    def follow(embeddings: Tensor) -> Tensor:
        kept.append(embeddings.detach().requires_grad_())
        return kept[-1]

    with leaving(encoder.pieces, follow):
        yield kept
