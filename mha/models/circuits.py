"""What the weights alone say of heads: which places and words they match, and what they write for a word. No text.

A layer's input is split into what it has of the word and what of the place, on the residual path alone: whatever the
layers below add is left out, their LayerNorms are applied, and LayerNorms above are folded into what is written to.
"""

from __future__ import annotations

from dataclasses import dataclass

import torch
from jaxtyping import Float, Float64, Int
from torch import Tensor, nn

from mha.attention import MultiHeadAttention
from mha.encoder.encoder import Encoder, Layer
from mha.encoder.families import FAMILIES
from mha.encoder.layout import Packing
from mha.messages import OneLineError
from mha.models.model import Model

CHUNK = 64
"Words whose inputs are made at a time, at every place."


class CircuitError(OneLineError):
    """A model whose weights cannot be read without text."""


@dataclass(frozen=True)
class LayerInput:
    """What a layer reads of words and of places where the layers below add nothing."""

    words: Float64[Tensor, "word model"]
    "Of each word, averaged over places."
    places: Float64[Tensor, "place model"]
    "At each place, averaged over words."


def encoder_of(model: Model, what: str = "what weights alone say") -> Encoder:
    """Return the encoder of a model of the BERT family; raises CircuitError, which names the architecture, for others.

    Others have positions or layers of their own kinds (rotary positions, shared or interleaved layers), for which
    kernels and paths would have to be defined anew; so have causal ones, whose keys end at the query. `what` is what is
    asked, as the error has it.
    """
    if isinstance(model.module, Encoder):
        if model.module.config.causal:
            raise CircuitError(f"{model.name}: {what} is told of encoders that attend to both sides, this is a decoder")
        return model.module
    raise CircuitError(f"{model.name}: {what} is told of {', '.join(FAMILIES)}, not of {model.architecture!r}")


@torch.inference_mode()
def layer_inputs(encoder: Encoder, pieces: Int[Tensor, " word"], places: int) -> list[LayerInput]:
    """Return the input of every layer's W_Q, W_K and W_V for `pieces` and for the `places` after the first, [CLS]'s.

    Each word is put at each place; its embedding goes through the LayerNorms below, and nothing is added to it.
    """
    layers, size = layers_of(encoder), encoder.config.model
    words = torch.zeros(len(layers), len(pieces), size, dtype=torch.float64)
    at = torch.zeros(len(layers), places, size, dtype=torch.float64)
    for start in range(0, len(pieces), CHUNK):
        grid = pieces[start : start + CHUNK, None].expand(-1, places)
        place = torch.arange(1, places + 1).expand_as(grid)
        x = encoder.embed(grid, Packing.of(None, grid), None, place).view(*grid.shape, size)
        for number, layer in enumerate(layers):
            read = layer.attention_norm(x) if layer.pre else x
            words[number, start : start + CHUNK] = read.double().mean(1)
            at[number] += read.double().sum(0)
            if not layer.pre:
                x = layer.feed_forward_norm(layer.attention_norm(x))
    return [LayerInput(one, other / len(pieces)) for one, other in zip(words, at, strict=True)]


@torch.inference_mode()
def readouts(encoder: Encoder) -> list[Float64[Tensor, "size model"]]:
    """Return, for every layer, the matrix R for which a head there must write along e R to raise the logit of a word.

    e is the word's row of the piece embedding, which is the decoder of a masked-LM head too. The LayerNorms that a
    write passes are folded in, scale and centring, but for the positive factor of each token's variance; the transform
    of a masked-LM head is left out. Where embeddings are projected (ELECTRA), what is written goes back the same way.
    """
    project = encoder.embedding_project
    size = encoder.config.embedding or encoder.config.model
    reached = torch.eye(size, dtype=torch.float64) if project is None else project.weight.double().T
    if encoder.final_norm is not None:
        reached = _through(encoder.final_norm, reached)
    found = []
    for layer in reversed(layers_of(encoder)):
        if not layer.pre:
            reached = _through(layer.attention_norm, _through(layer.feed_forward_norm, reached))
        found.append(reached)
    return found[::-1]


def _through(norm: nn.LayerNorm, direction: Tensor) -> Tensor:
    scaled = direction * norm.weight.double()
    return scaled - scaled.mean(-1, keepdim=True)


def layers_of(encoder: Encoder) -> list[Layer]:
    """Return the layers, as what they are."""
    return [layer for layer in encoder.layers if isinstance(layer, Layer)]


@torch.inference_mode()
def scores_between(
    attention: MultiHeadAttention, inputs: Float64[Tensor, "token model"]
) -> Float64[Tensor, "head query key"]:
    """Return the scores before softmax that every head gives each input for each other."""
    query, key = (
        torch.einsum("tm,hmd->htd", inputs, weight.double()) + attention.bias(which).double()[:, None]
        for which, weight in ((0, attention.W_Q), (1, attention.W_K))
    )
    return torch.einsum("hqd,hkd->hqk", query, key) * attention.scaling


def kernel(
    scores: Float64[Tensor, "head place place"], reach: int
) -> tuple[Float64[Tensor, "head offset"], Float64[Tensor, "head offset"]]:
    """Return the positional kernel of every head for the offsets -reach to reach, as scores and as attention.

    The score of an offset is the mean of q_t k_(t + offset) over places t, each row's mean taken off, which softmax
    does not see; its attention is the mean that softmax over all places gives, in [0, 1].
    """
    centred, pattern = scores - scores.mean(-1, keepdim=True), scores.softmax(-1)
    offsets = range(-reach, reach + 1)
    return tuple(  # type: ignore[return-value]  # of two
        torch.stack([part.diagonal(offset, 1, 2).mean(-1) for offset in offsets], 1) for part in (centred, pattern)
    )


@torch.inference_mode()
def nearest_words(embeddings: Float[Tensor, "word size"], count: int) -> Int[Tensor, "word near"]:
    """Return for every word the `count` others whose embeddings have the highest cosine, the mean word taken off."""
    unit = nn.functional.normalize((embeddings - embeddings.mean(0)).double(), dim=1)
    return (unit @ unit.T).fill_diagonal_(-2).topk(count, 1).indices


def own_share(scores: Float64[Tensor, "head word word"]) -> Float64[Tensor, " head"]:
    """Return the mean share of other words that score below the word itself in its row; ties count half.

    In [0, 1]: 1 where each word prefers itself to all others, 0.5 where it is one of many.
    """
    own = scores.diagonal(dim1=1, dim2=2)[..., None]
    below = (scores < own).sum(-1) + ((scores == own).sum(-1) - 1) / 2
    return (below.double() / (scores.shape[1] - 1)).mean(-1)


def near_share(scores: Float64[Tensor, "head word word"], near: Int[Tensor, "word near"]) -> Float64[Tensor, " head"]:
    """Return the mean share of other words that score below each of a word's `near` ones; ties count half.

    In [0, 1]; 0.5 where related words are treated as any other. The word itself is neither counted nor compared.
    """
    own, words = scores.diagonal(dim1=1, dim2=2), scores.shape[1]
    shares = []
    for column in near.T:
        value = scores[:, torch.arange(words), column]
        below = (scores < value[..., None]).sum(-1) - (own < value).long()
        ties = (scores == value[..., None]).sum(-1) - 1 - (own == value).long()
        shares.append(((below + ties / 2) / (words - 2)).mean(-1).double())
    return torch.stack(shares).mean(0)


@torch.inference_mode()
def written(
    attention: MultiHeadAttention, sources: Float64[Tensor, "word model"], targets: Float64[Tensor, "other model"]
) -> Float64[Tensor, "head word other"]:
    """Return the logit that each head, attending to a source alone, gives each target: c W_V W_O u, without biases."""
    value = torch.einsum("wm,hmd->hwd", sources, attention.W_V.double())
    reach = torch.einsum("hdm,om->hdo", attention.W_O.double(), targets)
    return torch.einsum("hwd,hdo->hwo", value, reach)


@torch.inference_mode()
def copying(
    attention: MultiHeadAttention, sources: Float64[Tensor, "word model"], targets: Float64[Tensor, "word model"]
) -> tuple[Float64[Tensor, " head"], Float64[Tensor, " head"]]:
    """Return the copying score of each head, and the share of its eigenvalues with a positive real part.

    Of the eigenvalues of the map from words to words, `written` for equal words: their sum over the sum of their
    moduli, in [-1, 1]; 1 where every word raises itself, or words like it (Elhage et al. 2021, "Copying heads"). They
    are those of a head_dim x head_dim matrix; NaN for a head that writes nothing.
    """
    between = targets.T @ sources
    inner = torch.einsum("hdm,mn,hne->hde", attention.W_O.double(), between, attention.W_V.double())
    values = torch.linalg.eigvals(inner)
    return values.real.sum(-1) / values.abs().sum(-1), (values.real > 0).double().mean(-1)
