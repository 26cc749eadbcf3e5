"""A masked language model whose verb agrees by one head alone, by construction: what causal methods must find."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import torch

from mha.encoder.encoder import Encoder, EncoderConfig
from mha.models.circuits import layers_of
from mha.models.masked_prediction import MASKS, MaskedLM
from mha.models.model import Model
from mha.planted.heads import SHARPNESS, SPECIAL, _word_tokenizer

MARK, MARKED, FIRST, SECOND = range(4)
"""Entries of a vector: a word's mark, whether it has one, and what raises the first and the second form."""

WRITTEN = 2.0
"What a head that looks writes for a mark of 1, and with its sign turned beside it."


def agreeing_model(
    marks: Mapping[str, float],
    forms: Sequence[str],
    looking: Sequence[tuple[int, int]],
    read: tuple[int, int] | None,
    *,
    layers: int = 2,
    heads: int = 2,
    head_dim: int = 16,
    norm: str = "post",
    seed: int = 0,
) -> MaskedLM:
    """Return a masked LM that prefers the first of two forms, at any place, where its text has a word marked above 0.

    `forms` are the two forms of a verb, or those of several verbs, one verb after the other.
    `marks` is every word with its mark; 0 is none. The heads `looking` (layer, head; from 0) attend from every place to
    the words with a mark, and write it to two entries of the vector, to the second with its sign turned: their
    difference passes any LayerNorm but for its scale. The answer depends on what the head `read`
    writes and on no other; on none where it is None, then both forms are always equally likely. All else is random and
    small: other heads, feed-forward nets and what words are write elsewhere, and move the answer only by the scale of a
    LayerNorm.
    """
    vocabulary = {piece: i for i, piece in enumerate((*SPECIAL, MASKS[0], *sorted({*marks, *forms})))}
    size = heads * head_dim
    shape = EncoderConfig(
        vocab=len(vocabulary), layers=layers, heads=heads, model=size, feed_forward=size, positions=64, norm=norm
    )
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        encoder = Encoder(shape, lm_head=True).eval()
    kept = SECOND + 1 + 2 * len(looking)
    with torch.no_grad():
        _embed(encoder, {vocabulary[word]: mark for word, mark in marks.items()}, kept)
        for number, layer in enumerate(layers_of(encoder)):
            layer.attention.output.weight[:kept] = 0
            layer.contract.weight[:kept] = 0
            for one, (there, head) in enumerate(looking):
                if there == number:
                    _look(encoder, there, head, _entry(one))
        _read(encoder, [vocabulary[form] for form in forms], kept)
        if read is not None:
            entry = _entry(looking.index(read))
            assert encoder.lm_head is not None
            turned = torch.tensor([1.0, -1.0])
            encoder.lm_head.transform.weight[FIRST, entry : entry + 2] = turned
            encoder.lm_head.transform.weight[SECOND, entry : entry + 2] = -turned
    tokenizer = _word_tokenizer(vocabulary)
    model = Model(f"agreeing-{seed}", "planted", "bert", encoder, tokenizer, layers, heads, 64, 0, "")
    return MaskedLM.of(model)


def _embed(encoder: Encoder, marks: Mapping[int, float], kept: int) -> None:
    """Give words random vectors, and those with a mark their entries."""
    assert encoder.token_types is not None
    encoder.pieces.weight.normal_(generator=torch.Generator().manual_seed(0))
    for part in (encoder.pieces, encoder.positions, encoder.token_types):
        part.weight[:, :kept] = 0
    for piece, mark in marks.items():
        encoder.pieces.weight[piece, MARK] = mark
        encoder.pieces.weight[piece, MARKED] = float(mark != 0)


def _look(encoder: Encoder, layer: int, head: int, entry: int) -> None:
    """Let a head attend to words with a mark and write it to an entry."""
    attention = layers_of(encoder)[layer].attention
    for weights in (attention.W_Q, attention.W_K, attention.W_V):
        weights[head] = 0
    attention.bias(0)[head, 0] = SHARPNESS
    attention.W_K[head, MARKED, 0] = SHARPNESS
    attention.W_V[head, MARK, 0] = 1
    start = head * attention.W_O.shape[1]
    attention.output.weight[:, start : start + attention.W_O.shape[1]] = 0
    attention.output.weight[entry, start] = WRITTEN
    attention.output.weight[entry + 1, start] = -WRITTEN


def _entry(looking: int) -> int:
    """Return the first of the two entries that a looking head writes to."""
    return SECOND + 1 + 2 * looking


def _read(encoder: Encoder, forms: Sequence[int], kept: int) -> None:
    """Make the two forms of each verb alike but for the entries that raise them; other words have neither."""
    head = encoder.lm_head
    assert head is not None
    rest = torch.eye(len(head.transform.weight))
    rest[:kept] = 0
    head.transform.weight.copy_(rest)
    for first, second in zip(forms[::2], forms[1::2], strict=True):
        encoder.pieces.weight[first] = encoder.pieces.weight[second]
        encoder.pieces.weight[first, FIRST] = encoder.pieces.weight[second, SECOND] = 1
