"""Outlier dimensions of a model in which they are planted, and what is lost without them."""

from collections.abc import Callable

import pytest
import torch

from mha import Encoder, Model, load_model
from mha.models.states import zeroed_dimensions
from probes.corpora.corpus import Corpus
from probes.records import Document
from probes.scoring.aligned import Aligned
from probes.scoring.score import Settings
from probes.states.outliers import BEYOND, INTACT, KINDS, OUTLIERS, RANDOM, TAGS, Outliers, ablated, tag_task
from probes.states.word_states import WordStates, whole_texts


@pytest.fixture(scope="module")
def aligned(model: Model, random_documents: Callable[..., list[Document]]) -> tuple[Aligned, Aligned]:
    select, report = (
        whole_texts(model, Corpus.of(random_documents(seed, sentences=12, longest=9)).sentences(), 40)
        for seed in (4, 5)
    )
    return select, report


def read(model: Model, aligned: tuple[Aligned, Aligned]) -> tuple[WordStates, WordStates]:
    select, report = (WordStates.of(model, one, Settings()) for one in aligned)
    return select, report


def planted(model: Model, dimension: int, layers: int) -> Model:
    """Return the model with a scaling factor of 60 in one dimension of the first layers, all others equal."""
    other = load_model(model.name)
    assert isinstance(other.module, Encoder)
    with torch.no_grad():
        for number, layer in enumerate(other.module.layers):
            layer.feed_forward_norm.weight[:] = 1  # type: ignore[union-attr, index]
            layer.feed_forward_norm.bias[:] = 0  # type: ignore[union-attr, index]
            layer.feed_forward_norm.weight[dimension] = 60 if number < layers else 1  # type: ignore[union-attr, index]
    return other


@pytest.mark.parametrize(("layers", "found"), [(0, []), (1, [5]), (2, [5])])
def test_an_outlier_in_half_of_the_layers_is_found_where_it_was_planted(
    model: Model, aligned: tuple[Aligned, Aligned], layers: int, found: list[int]
) -> None:
    other = planted(model, 5, layers)
    outliers = Outliers.of(other, read(other, aligned)[1])
    assert outliers.dimensions.tolist() == found
    assert outliers.table().scale_layers.tolist() == ([layers] if layers else [])
    assert outliers.table().bias_layers.tolist() == ([0] if layers else [])


def test_what_is_lost_is_counted_beside_sets_of_random_dimensions(
    model: Model, aligned: tuple[Aligned, Aligned]
) -> None:
    states, steps = read(model, aligned), []
    table = ablated(model, aligned, states, [1, 2], Settings(), sets=3, seed=0, step=lambda: steps.append(1)).set_index(
        ["measure", "kind"]
    )
    assert table.index.tolist() == [(TAGS, kind) for kind in KINDS], "a model without a head predicts no word"
    value = table.value[TAGS]
    assert value[BEYOND] == pytest.approx(value[RANDOM] - value[OUTLIERS])
    assert len(steps) == 5
    task = tag_task(model, aligned[1], states, Settings())[TAGS]
    assert task.hits().mean() == pytest.approx(value[INTACT])
    with zeroed_dimensions(model, [1, 2]):
        assert task.hits().mean() == pytest.approx(value[OUTLIERS])
