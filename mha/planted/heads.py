"""Encoders with heads whose role is known because it was built into their weights."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import torch

from mha.attention import MultiHeadAttention
from mha.encoder.encoder import Encoder, EncoderConfig
from mha.models.circuits import layers_of
from mha.models.model import Model
from mha.models.tokenizer import PairForm

SPECIAL = ("[PAD]", "[UNK]", "[CLS]", "[SEP]")

BY_WEIGHTS = ("previous", "next", "same", "first")
"Where a head of weights can be made to attend: a neighbour, the piece itself, or the first word."

SPREAD = 1.5
"Standard deviation of the entries of random queries and keys: heads that are neither uniform nor one-hot."

SHARPNESS = 6.0
"How much a planted head's score for its place is above that of other places, before scaling, in units of W_K."


def word_model(
    words: Iterable[str],
    *,
    layers: int,
    heads: int,
    head_dim: int,
    positions: int,
    seed: int,
    lm_head: bool = False,
    norm: str = "post",
    activation: str = "gelu",
) -> Model:
    """Return a model with random weights whose vocabulary is `words`, one piece each.

    Queries and keys are spread (SPREAD), so that heads are not uniform. Other words become [UNK]. With `lm_head` it has
    a masked-LM head, and its vocabulary [MASK].
    """
    special = (*SPECIAL, "[MASK]") if lm_head else SPECIAL
    vocabulary = {piece: number for number, piece in enumerate((*special, *sorted({word.lower() for word in words})))}
    shape = EncoderConfig(
        vocab=len(vocabulary),
        layers=layers,
        heads=heads,
        model=heads * head_dim,
        feed_forward=head_dim,
        positions=positions,
        norm=norm,
        activation=activation,
    )
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        encoder = Encoder(shape, lm_head=lm_head).eval()
    with torch.no_grad():
        encoder.pieces.weight.mul_(10)
        generator = torch.Generator().manual_seed(seed)
        for layer in layers_of(encoder):
            layer.attention.project.weight.normal_(0, SPREAD / (heads * head_dim) ** 0.5, generator=generator)
    return Model(
        name=f"planted-{seed}",
        source="planted",
        architecture="bert",
        module=encoder,
        tokenizer=_word_tokenizer(vocabulary),
        layers=layers,
        heads=heads,
        max_pieces=positions,
        padding=0,
        sha256="",
        pairs=PairForm(vocabulary["[SEP]"]),
    )


def plant_weights(model: Model, places: Mapping[tuple[int, int], str]) -> None:
    """Give heads {(layer, head): one of BY_WEIGHTS} of a `word_model` their places by setting W_Q, W_K and biases.

    The first `positions` entries of a vector become its position, one-hot: W_K leaves it, W_Q moves it. Nothing is
    added to the residual stream any more, so that positions reach every layer. Needs a head_dim of `positions` or more.
    """
    encoder = model.module
    assert isinstance(encoder, Encoder)
    size = encoder.config.positions
    if size > encoder.config.model // encoder.config.heads:
        raise ValueError(f"a head_dim of {size} is needed for {size} positions")
    with torch.no_grad():
        for part in (encoder.pieces, encoder.token_types):
            if part is not None:
                part.weight[:, :size] = 0
        encoder.positions.weight.zero_()[:, :size] = torch.eye(size)
        for layer in layers_of(encoder):
            layer.attention.output.weight.zero_()
            layer.contract.weight.zero_()
        for (number, head), place in places.items():
            _plant(layers_of(encoder)[number].attention, head, place, size)


def _plant(attention: MultiHeadAttention, head: int, place: str, size: int) -> None:
    attention.W_K[head].zero_()[:size, :size] = torch.eye(size)
    attention.W_Q[head].zero_()
    attention.bias(0)[head], attention.bias(1)[head] = 0, 0
    if place == "first":  # the piece after [CLS], wherever the query is
        attention.bias(0)[head, 1] = SHARPNESS**2
        return
    shift = {"previous": -1, "next": 1, "same": 0}[place]
    attention.W_Q[head, :size, :size] = SHARPNESS * torch.diag(torch.ones(size - abs(shift)), shift)


def _word_tokenizer(vocabulary: Mapping[str, int]) -> Any:
    from tokenizers import Tokenizer, models, normalizers, pre_tokenizers, processors

    tokenizer = Tokenizer(models.WordLevel(dict(vocabulary), unk_token="[UNK]"))
    tokenizer.normalizer = normalizers.Lowercase()
    tokenizer.pre_tokenizer = pre_tokenizers.WhitespaceSplit()
    ends = [(name, vocabulary[name]) for name in ("[CLS]", "[SEP]")]
    pair = "[CLS] $A [SEP] $B:1 [SEP]:1"
    tokenizer.post_processor = processors.TemplateProcessing(single="[CLS] $A [SEP]", pair=pair, special_tokens=ends)
    return tokenizer
