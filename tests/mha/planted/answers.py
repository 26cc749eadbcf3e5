"""Masked language models whose answer depends on one head, or on none, by the way they are built."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

import torch

from mha.encoder.encoder import Encoder
from mha.models.circuits import layers_of
from mha.models.model import Model
from mha.planted.heads import plant_weights, word_model

BIAS = 3.0
"By how much the bias of the decoder favours the first answer over the last where no head is read, in nats."


def answering_model(
    answers: Mapping[str, str],
    others: Iterable[str] = (),
    *,
    head: tuple[int, int],
    layers: int = 2,
    heads: int = 3,
    place: str = "previous",
    positions: int = 10,
    read: bool = True,
    noise: float = 0.0,
    norm: str = "post",
    seed: int = 0,
) -> Model:
    """Return a masked LM that answers a mask by `answers` of the word that one head attends to from there.

    The vocabulary is made of the answers, what they answer, and `others`, one piece each; texts have at most
    `positions` pieces. `head` (layer, head, from 0) attends as `place` says, one of `mha.planted.heads.BY_WEIGHTS`, and
    writes the code of the answer; all others attend here and there, and write random numbers of standard deviation
    `noise` times theirs, nothing by default. No other way leads from one word to another: feed-forward nets write
    nothing. Where not `read`, the head attends as before and writes nothing, and the answer comes from the decoder's
    bias: the earlier in `answers`, the likelier, whatever the text is.
    """
    words = {word.lower() for word in (*answers, *answers.values(), *others)}
    size = positions + len(words)  # a vector is its position and its word, both one-hot
    head_dim = max(positions, len(words), -(-size // heads))
    model = word_model(
        words,
        layers=layers,
        heads=heads,
        head_dim=head_dim,
        positions=positions,
        seed=seed,
        lm_head=True,
        norm=norm,
        activation="relu",
    )
    plant_weights(model, {head: place})
    codes = {word: number for number, word in enumerate(sorted(words))}
    with torch.no_grad():
        _write(model, codes, answers if read else {}, head, noise, seed)
        _read_out(model, codes, [] if read else [codes[word.lower()] for word in answers.values()])
    return model


def _write(
    model: Model, codes: Mapping[str, int], answers: Mapping[str, str], head: tuple[int, int], noise: float, seed: int
) -> None:
    """Give every word its code, and let heads write: the planted one the codes of answers, the others noise."""
    encoder, generator = model.module, torch.Generator().manual_seed(seed)
    assert isinstance(encoder, Encoder)
    first = encoder.config.positions
    encoder.pieces.weight.zero_()
    for word, code in codes.items():
        encoder.pieces.weight[model.tokenizer.token_to_id(word), first + code] = 1
    if encoder.token_types is not None:
        encoder.token_types.weight.zero_()
    for layer in layers_of(encoder):
        layer.attention.output.weight.normal_(0, 1, generator=generator).mul_(noise)
    attention = layers_of(encoder)[head[0]].attention
    attention.W_O[head[1]] = 0
    values = attention.W_V[head[1]].zero_()
    for word, answer in answers.items():
        code = codes[word.lower()]
        values[first + code, code] = 1
        attention.W_O[head[1], code, first + codes[answer.lower()]] = 1


def _read_out(model: Model, codes: Mapping[str, int], favoured: list[int]) -> None:
    """Let the masked-LM head read codes as they are; its bias favours words, the first of them the most."""
    encoder = model.module
    assert isinstance(encoder, Encoder)
    assert encoder.lm_head is not None
    encoder.lm_head.transform.weight.copy_(torch.eye(encoder.config.model))
    encoder.lm_head.decoder.bias.zero_()
    pieces = [model.tokenizer.token_to_id(word) for word in codes]
    for rank, code in enumerate(favoured):
        encoder.lm_head.decoder.bias[pieces[code]] = BIAS * (1 - rank / max(1, len(favoured) - 1))
