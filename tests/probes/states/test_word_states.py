"""States of words, against plain passes of `transformers` and by hand."""

import math
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch
from transformers import AutoModel

from mha import Encoder, Model, export_encoder, load_model
from mha.batches import collate
from mha.models.states import layer_states, zeroed_dimensions
from probes.corpora.corpus import Corpus, Texts
from probes.records import Document
from probes.scoring.score import Settings
from probes.states.word_states import NORMAL, ClusteredMean, WordStates, whole_texts


def test_a_mean_of_means_counts_each_stratum_once() -> None:
    """Means 2 and 10 of strata of 3 and 1 values; without the first cluster 3 and 10, without the second 1.5 alone."""
    values, strata = np.array([1.0, 2.0, 3.0, 10.0, math.nan]), np.array([5, 5, 5, 7, 9])
    clusters = np.array([0, 0, 1, 1, 2])
    mean = ClusteredMean.of_means(values, strata, clusters)
    assert (mean.value, mean.n) == (6, 4)
    assert mean.error == pytest.approx(math.sqrt(1 / 2 * ((6.5 - 4) ** 2 + (1.5 - 4) ** 2)))


def test_the_error_of_a_mean_of_means_is_that_of_repeated_draws() -> None:
    random = np.random.default_rng(0)
    drawn = []
    for _ in range(400):
        clusters = np.repeat(np.arange(40), 5)
        strata = random.integers(0, 4, 200)
        values = strata + random.normal(size=40)[clusters] + random.normal(size=200) * (1 + strata)
        drawn.append(ClusteredMean.of_means(values, strata, clusters))
    error = np.std([one.value for one in drawn])
    assert np.mean([one.error for one in drawn]) == pytest.approx(error, rel=0.1)


@pytest.fixture(scope="module")
def texts(random_documents: Callable[..., list[Document]]) -> Texts:
    return Corpus.of(random_documents(3, longest=9)).sentences()


def test_states_are_those_of_transformers_as_means_over_the_pieces_of_a_word(
    model: Model, texts: Texts, tmp_path: Path
) -> None:
    assert isinstance(model.module, Encoder)
    export_encoder(model.module, tmp_path)
    theirs = AutoModel.from_pretrained(str(tmp_path)).eval()
    aligned = whole_texts(model, texts, 20)
    states = WordStates.of(model, aligned, Settings(batch_pieces=40, workers=2))
    assert states.vectors.shape == (model.layers + 1, states.starts[-1], 24)
    for text, pieces in enumerate(aligned.pieces):
        with torch.inference_mode():
            hidden = theirs(
                torch.from_numpy(pieces.ids[None].astype(np.int64)), output_hidden_states=True
            ).hidden_states
        for layer, every in enumerate(hidden):
            for word in range(pieces.words):
                expected = every[0, np.flatnonzero(pieces.word == word)].mean(0)
                np.testing.assert_allclose(states.of_text(layer, text)[word], expected, atol=2e-5)


def test_zeroed_dimensions_are_those_of_a_layer_norm_without_them_and_come_back(model: Model, texts: Texts) -> None:
    batch = collate(whole_texts(model, texts, 4).pieces)
    before = layer_states(model, batch)
    with zeroed_dimensions(model, [2, 7]):
        found = layer_states(model, batch)
    assert found[1:, ..., [2, 7]].abs().max() == 0
    assert torch.equal(found[0], before[0]), "what the first layer reads is left as it is"
    assert torch.equal(layer_states(model, batch), before)
    other = load_model(model.name)
    assert isinstance(other.module, Encoder)
    with torch.no_grad():
        for layer in other.module.layers:
            layer.feed_forward_norm.weight[[2, 7]] = 0  # type: ignore[union-attr, index]
            layer.feed_forward_norm.bias[[2, 7]] = 0  # type: ignore[union-attr, index]
    torch.testing.assert_close(layer_states(other, batch), found)


def test_texts_with_a_word_without_pieces_are_left_out_and_counted(model: Model, texts: Texts) -> None:
    (first,) = texts.take([0])
    sentence = first.sentences[0]
    odd = replace(sentence, id="gone", words=("\u200b", *sentence.words[1:]))
    aligned = whole_texts(model, Corpus.of([Document("gone", (odd,)), first]).sentences(), 9)
    assert aligned.names == [first.id]
    assert list(aligned.dropped.counts.values()) == [1]


def test_the_error_of_a_mean_is_that_of_its_clusters() -> None:
    one = ClusteredMean.of(np.array([1.0, 2.0, 3.0, np.nan]))
    assert (one.value, one.n) == (2, 3)
    assert one.error == pytest.approx(1 / np.sqrt(3))
    twice = ClusteredMean.of(np.repeat([1.0, 2.0, 3.0], 5), np.repeat([4, 7, 9], 5))
    assert twice.error == pytest.approx(one.error), "copies in one cluster add nothing"
    assert (twice - one).error == pytest.approx(np.sqrt(2 / 3))
    assert twice.row["high"] == pytest.approx(2 + NORMAL * one.error)
    assert np.isnan(ClusteredMean.of(np.array([1.0])).error)
