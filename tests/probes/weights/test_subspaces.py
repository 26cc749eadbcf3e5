"""Subspaces and outputs of heads whose overlap is known."""

from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest
import torch
from scipy.linalg import subspace_angles

from mha import Encoder, Model, align, collate, record
from mha.encoder.encoder import Layer
from mha.planted.heads import word_model
from probes.corpora.corpus import Corpus
from probes.records import Document
from probes.scoring.score import Settings
from probes.scoring.tally import Numbers
from probes.weights.subspaces import SubspaceError, head_weights, output_similarity, subspace_overlap


def direct_cka(one: Numbers, other: Numbers) -> float:
    """Kornblith et al. 2019, equation 3, with the linear kernel, on whole matrices."""
    kernels = [(rows - rows.mean(0)) @ (rows - rows.mean(0)).T for rows in (one, other)]
    hsic = [[float((a * b).sum()) for b in kernels] for a in kernels]
    return float(hsic[0][1] / np.sqrt(hsic[0][0] * hsic[1][1]))


def outputs(model: Model, texts: list[Document]) -> list[Numbers]:
    """Return [word, head_dim] of every head, text by text."""
    found: list[list[Numbers]] = [[] for _ in range(model.layers * model.heads)]
    for text in texts:
        batch = collate(align(model.tokenizer, [text.words]))
        with torch.inference_mode(), record(model.module, ["head_output"]) as seen:
            model.run(batch.ids, batch.mask)
        for layer, output in enumerate(seen["head_output"]):
            words = (batch.from_words[0].double() @ output[0].double()).numpy()
            for head in range(model.heads):
                found[layer * model.heads + head].append(words[head])
    return [np.concatenate(parts) for parts in found]


def test_equal_subspaces_overlap_wholly_orthogonal_ones_not_at_all_and_half_shared_ones_by_half() -> None:
    basis = torch.eye(6)
    mix = torch.tensor([[1.0, 2.0], [-1.0, 3.0]])
    spans = torch.stack([basis[:, :2], basis[:, :2] @ mix, basis[:, 2:4], basis[:, [0, 4]]])
    overlap, nearest = subspace_overlap(spans)
    np.testing.assert_allclose(overlap[0], [1, 1, 0, 0.5], atol=1e-12)
    np.testing.assert_allclose(nearest[0], [1, 1, 0, 1], atol=1e-12)
    np.testing.assert_allclose(overlap, overlap.T, atol=1e-12)


def test_principal_angles_are_those_of_scipy() -> None:
    spans = torch.randn(3, 9, 4, generator=torch.Generator().manual_seed(1))
    overlap, nearest = subspace_overlap(spans)
    for i in range(3):
        for j in range(3):
            cosines = np.cos(subspace_angles(spans[i].double().numpy(), spans[j].double().numpy()))
            assert overlap[i, j] == pytest.approx((cosines**2).mean())
            assert nearest[i, j] == pytest.approx(cosines.max())


def test_random_subspaces_overlap_by_their_share_of_the_space() -> None:
    overlap, _ = subspace_overlap(torch.randn(12, 64, 16, generator=torch.Generator().manual_seed(0)))
    assert overlap[np.triu_indices(12, 1)].mean() == pytest.approx(16 / 64, abs=0.01)


def test_a_span_of_lower_rank_counts_by_its_rank_and_a_zero_one_has_no_number() -> None:
    basis = torch.eye(4)
    flat = torch.stack([basis[:, 0], 2 * basis[:, 0]], 1)
    overlap, nearest = subspace_overlap(torch.stack([flat, basis[:, :2], torch.zeros(4, 2)]))
    assert overlap[0, 1] == pytest.approx(1), "one direction, held by the other"
    assert np.isnan(overlap[2]).all()
    assert np.isnan(nearest[:, 2]).all()


def test_the_weights_of_our_encoder_are_taken_layer_by_layer(model: Model) -> None:
    assert isinstance(model.module, Encoder)
    layer = model.module.layers[1]
    assert isinstance(layer, Layer)
    spans = head_weights(model)
    assert {what: tuple(part.shape) for what, part in spans.items()} == {"W_V": (6, 24, 8), "W_O": (6, 24, 8)}
    assert torch.equal(spans["W_V"][4], layer.attention.W_V[1])
    assert torch.equal(spans["W_O"][4], layer.attention.W_O[1].T)


def test_other_architectures_are_refused_by_name(model: Model) -> None:
    other = replace(model, module=torch.nn.Linear(1, 1), name="gpt", architecture="gpt2")
    with pytest.raises(
        SubspaceError, match="gpt: where W_V lies is known for models of BERT's family only, not for 'gpt2'"
    ):
        head_weights(other)


def test_cka_of_the_heads_is_that_of_the_whole_matrices(
    model: Model, random_documents: Callable[..., list[Document]]
) -> None:
    texts = Corpus.of(random_documents(5)).sentences().take(range(12))
    whole = outputs(model, texts)
    expected = [[direct_cka(one, other) for other in whole] for one in whole]
    found, words = output_similarity(model, texts, Settings())
    assert words == sum(map(len, texts))
    np.testing.assert_allclose(found, expected, atol=1e-6)
    np.testing.assert_allclose(
        output_similarity(model, texts, Settings(batch_pieces=8, workers=2))[0], found, atol=1e-6
    )


def test_cka_does_not_see_a_rotation_and_a_constant_head_has_none() -> None:
    words = ["the", "dog", "cat", "sees", "runs"]
    model = word_model(words, layers=1, heads=3, head_dim=4, positions=16, seed=0)
    assert isinstance(model.module, Encoder)
    layer = model.module.layers[0]
    assert isinstance(layer, Layer)
    attention, random = layer.attention, np.random.default_rng(0)
    turn = torch.linalg.qr(torch.randn(4, 4, generator=torch.Generator().manual_seed(2)))[0]
    with torch.no_grad():
        for part in (attention.W_Q, attention.W_K):
            part[1] = part[0]
        attention.W_V[1] = 3 * attention.W_V[0] @ turn
        attention.W_V[2] = 0
    texts = [sentence(f"s{i}", random.choice(words, 7)) for i in range(9)]
    found, _ = output_similarity(model, texts, Settings())
    assert found[0, 1] == pytest.approx(1)
    assert np.isnan(found[2]).all()


def sentence(name: str, words: Numbers) -> Document:
    from probes.records import Sentence, frozen_ints

    heads = frozen_ints([-1] + [0] * (len(words) - 1))
    blank = ("",) * len(words)
    return Document(name, (Sentence(name, tuple(map(str, words)), heads, ("dep",) * len(words), blank, blank),))
