"""Subspaces and outputs of heads whose overlap is known."""

from collections.abc import Callable
from copy import deepcopy
from dataclasses import replace

import numpy as np
import pytest
import torch
from scipy.linalg import subspace_angles

from mha import Model, align, collate, record
from mha.attention import MultiHeadAttention
from probes.corpora.corpus import Corpus
from probes.records import Document
from probes.scoring.score import Settings
from probes.scoring.tally import Numbers
from probes.weights.subspaces import output_similarity, subspace_overlap


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


def test_principal_angles_are_those_of_scipy() -> None:
    spans = torch.randn(3, 9, 4, generator=torch.Generator().manual_seed(1))
    overlap, nearest = subspace_overlap(spans)
    for i in range(3):
        for j in range(3):
            cosines = np.cos(subspace_angles(spans[i].double().numpy(), spans[j].double().numpy()))
            assert overlap[i, j] == pytest.approx((cosines**2).mean())
            assert nearest[i, j] == pytest.approx(cosines.max())


def test_a_span_of_lower_rank_counts_by_its_rank_and_a_zero_one_has_no_number() -> None:
    basis = torch.eye(4)
    flat = torch.stack([basis[:, 0], 2 * basis[:, 0]], 1)
    overlap, nearest = subspace_overlap(torch.stack([flat, basis[:, :2], torch.zeros(4, 2)]))
    assert overlap[0, 1] == pytest.approx(1), "one direction, held by the other"
    assert np.isnan(overlap[2]).all()
    assert np.isnan(nearest[:, 2]).all()


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


def test_a_head_that_gives_every_word_the_same_is_like_no_other(
    model: Model, random_documents: Callable[..., list[Document]]
) -> None:
    texts = Corpus.of(random_documents(5)).sentences().take(range(12))
    constant = replace(model, module=deepcopy(model.module))
    layer = next(part for part in constant.module.modules() if isinstance(part, MultiHeadAttention))
    torch.nn.init.zeros_(layer.W_V[1])
    found, _ = output_similarity(constant, texts, Settings())
    without = np.arange(len(found)) != 1
    np.testing.assert_array_equal(np.isfinite(found), without[:, None] & without)
