from typing import Any

import numpy as np
import pytest
import torch
from torch import Tensor

from mha import Encoder
from mha.attention import MultiHeadAttention
from mha.hooks import record
from mha.models.circuits import (
    copying,
    encoder_of,
    kernel,
    layer_inputs,
    near_share,
    own_share,
    readouts,
    scores_between,
    written,
)
from mha.pieces import whole_words
from mha.planted.heads import plant_weights, word_model

WORDS = [f"{one}{other}" for one in "bdfgk" for other in "aeiou"]


def attention_of(heads: int, size: int, **weights: Tensor) -> MultiHeadAttention:
    """Attention whose weights are nothing but those that are given."""
    attention = MultiHeadAttention(size, heads)
    with torch.no_grad():
        for parameter in attention.parameters():
            parameter.zero_()
        for name, values in weights.items():
            getattr(attention, name).copy_(values)
    return attention


def test_the_kernel_of_planted_heads_peaks_where_they_look_in_every_layer() -> None:
    model = word_model(WORDS, layers=3, heads=3, head_dim=16, positions=16, seed=0)
    plant_weights(model, {(0, 0): "previous", (1, 1): "next", (2, 2): "previous", (2, 0): "same"})
    encoder = encoder_of(model)
    pieces = torch.tensor([*whole_words(model.tokenizer).values()])
    peaks = {}
    for number, given in enumerate(layer_inputs(encoder, pieces, 12)):
        score, share = kernel(scores_between(encoder.layers[number].attention, given.places), 4)
        for head in range(3):
            best = int(score[head].argmax()), int(share[head].argmax())
            peaks[number, head] = (best[0] - 4, best[1] - 4, float(share[head].max()))
    found = [peaks.pop(place) for place in ((0, 0), (1, 1), (2, 2), (2, 0))]
    assert [peak[:2] for peak in found] == [(-1, -1), (1, 1), (-1, -1), (0, 0)]
    assert min(peak[2] for peak in found) > 0.9
    assert max(peak[2] for peak in peaks.values()) < 0.5


def test_a_kernel_by_hand() -> None:
    scores = torch.tensor([[[0.0, 0.0, 3.0], [1.0, 0.0, 5.0], [0.0, 1.0, 2.0]]], dtype=torch.float64)
    score, share = kernel(scores, 1)
    # rows less their means: (-1, -1, 2), (-1, -2, 3), (-1, 0, 1)
    assert score[0].tolist() == pytest.approx([(-1 + 0) / 2, (-1 - 2 + 1) / 3, (-1 + 3) / 2])
    rows = np.exp(scores[0].numpy()) / np.exp(scores[0].numpy()).sum(1, keepdims=True)
    assert share[0].tolist() == pytest.approx([np.diag(rows, offset).mean() for offset in (-1, 0, 1)])


@pytest.mark.parametrize("norm", ["post", "pre"])
def test_inputs_of_the_first_layer_are_means_of_what_it_really_reads(norm: str, build: Any) -> None:
    encoder = build(norm=norm)
    pieces, places = torch.tensor([7, 9, 30]), 5
    given = layer_inputs(encoder, pieces, places)[0]
    read: list[Tensor] = []
    handle = encoder.layers[0].attention.project.register_forward_hook(lambda module, x, output: read.append(x[0]))
    with torch.no_grad():
        encoder(torch.cat([torch.full((3, 1), 2), pieces[:, None].expand(-1, places)], 1))
    handle.remove()
    really = read[0].view(3, places + 1, 32)[:, 1:].double()
    torch.testing.assert_close(given.words, really.mean(1), rtol=0, atol=1e-6)
    torch.testing.assert_close(given.places, really.mean(0), rtol=0, atol=1e-6)


def test_deeper_inputs_are_exact_where_the_layers_below_add_nothing(encoder: Encoder) -> None:
    with torch.no_grad():
        for layer in encoder.layers:
            for part in (layer.attention.output, layer.contract):
                part.weight.zero_()
                part.bias.zero_()
    pieces = torch.tensor([7, 9])
    given = layer_inputs(encoder, pieces, 3)[2]
    with torch.no_grad(), record(encoder, ["value"], [2]) as seen:
        encoder(torch.cat([torch.full((2, 1), 2), pieces[:, None].expand(-1, 3)], 1))
    attention = encoder.layers[2].attention
    value = torch.einsum("wm,hmd->whd", given.words, attention.W_V.detach().double())
    value += attention.bias(2).detach().double()
    torch.testing.assert_close(value, seen["value"][0][:, :, 1:].mean(2).double(), rtol=0, atol=1e-5)


@pytest.mark.parametrize(("norm", "embedding"), [("pre", None), ("post", 16)])
def test_readouts_fold_the_norms_above_exactly_but_for_a_positive_factor(
    norm: str, embedding: int | None, build: Any
) -> None:
    encoder = build(norm=norm, embedding=embedding, pooler=False, lm_head=False)
    writes = torch.randn(6, 32, dtype=torch.float64, generator=torch.Generator().manual_seed(1))
    for number, matrix in enumerate(readouts(encoder)):
        x = writes
        if norm == "post":
            for layer in encoder.layers[number:]:
                for part in (layer.attention_norm, layer.feed_forward_norm):
                    x = part.weight.detach().double() * (x - x.mean(-1, keepdim=True))
        else:
            x = encoder.final_norm.weight.detach().double() * (x - x.mean(-1, keepdim=True))
        embeddings = encoder.pieces.weight.detach().double()
        if embedding is not None:
            x = x @ encoder.embedding_project.weight.detach().double()
        torch.testing.assert_close(writes @ (embeddings @ matrix).T, x @ embeddings.T)


def test_shares_of_words_by_hand() -> None:
    scores = torch.tensor([[[3.0, 1, 2, 2], [0, 0, 1, 2], [5, 6, 7, 8], [1, 1, 1, 1]]], dtype=torch.float64)
    # word 0 beats all three; word 1 ties with one of three; word 2 beats two of three; word 3 ties with three
    assert own_share(scores)[0].item() == pytest.approx((1 + 0.5 / 3 + 2 / 3 + 0.5) / 4)
    near = torch.tensor([[2], [3], [3], [0]])
    # of the two that are neither word nor near one: 2 > 1 and 2 = 2; 2 > both; 8 > both; all tie
    assert near_share(scores, near)[0].item() == pytest.approx((0.75 + 1 + 1 + 0.5) / 4)


def test_copying_has_results_by_the_eigenvalues_of_the_whole_map_between_words() -> None:
    generator = torch.Generator().manual_seed(0)
    made = {name: torch.randn(2, *shape, generator=generator) for name, shape in (("W_V", (8, 4)), ("W_O", (4, 8)))}
    attention = attention_of(2, 8, **made)
    words = torch.randn(11, 8, dtype=torch.float64, generator=generator)
    targets = torch.randn(11, 8, dtype=torch.float64, generator=generator)
    score, positive = copying(attention, words, targets)
    whole = written(attention, words, targets)
    for head in range(2):
        direct = words.numpy() @ made["W_V"][head].double().numpy() @ made["W_O"][head].double().numpy()
        np.testing.assert_allclose(whole[head], direct @ targets.numpy().T, atol=1e-10)
        values = np.linalg.eigvals(direct @ targets.numpy().T)
        values = values[np.abs(values) > 1e-8]
        assert len(values) == 4
        assert score[head].item() == pytest.approx(values.sum().real / np.abs(values).sum())
        assert positive[head].item() == pytest.approx((values.real > 0).mean())


def test_whole_words_are_letters_that_the_tokenizer_keeps_in_one_piece() -> None:
    from tokenizers import Tokenizer, models, normalizers, pre_tokenizers

    pieces = ("[PAD]", "[UNK]", "[CLS]", "the", "##the", "Dog", "don't", "12", "cat", "a")
    tokenizer = Tokenizer(models.WordPiece({piece: i for i, piece in enumerate(pieces)}, unk_token="[UNK]"))
    tokenizer.normalizer = normalizers.Lowercase()
    assert whole_words(tokenizer) == {"the": 3, "cat": 8, "a": 9}
    marked = {"<s>": 0, "Ġthe": 1, "the": 2, "Ġcat": 3, "Ġ": 4, "t": 5, "h": 6, "e": 7, "c": 8, "a": 9}
    merges = [("t", "h"), ("th", "e"), ("Ġ", "the"), ("c", "a"), ("ca", "t"), ("Ġ", "cat")]
    bpe = Tokenizer(models.BPE(marked | {"th": 10, "ca": 11, "cat": 12}, merges))
    bpe.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=True)
    assert whole_words(bpe) == {"the": 1, "cat": 3}
