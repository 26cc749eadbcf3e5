import copy
from collections.abc import Callable

import numpy as np
import pytest
import torch
from torch import Tensor

from mha import Model
from mha.models.maps import MAPS
from probes import Corpus, Probe, get_probe
from probes.records import Document
from probes.scoring.score import Settings, score_corpus
from probes.words.position import BROAD

PROBES = [get_probe(name) for name in ("position", "dependency", "agreement")]


def sums_of(model: Model, documents: list[Document], kind: str, pieces: int) -> dict[tuple[str, str, str], np.ndarray]:
    """[measure, head] The sums over all clusters of every question."""
    texts = Corpus.of(documents).sentences()
    heads = score_corpus(model, texts, PROBES, {}, Settings(pieces, workers=1, maps=kind)).heads
    pooled = heads.pooled(lambda question: (question[2],))
    return {question: np.stack([one.hits.sum(0), one.mass.sum(0), one.coverage]) for question, one in pooled}


@pytest.mark.parametrize("kind", MAPS)
def test_every_probe_reads_every_kind_of_map_and_batches_change_no_number(
    kind: str, model: Model, random_documents: Callable[..., list[Document]]
) -> None:
    documents = random_documents(12)
    many, few = (sums_of(model, documents, kind, pieces) for pieces in (4096, 40))
    assert {probe for probe, _, _ in many} >= {"position", "dependency"}
    for question, sums in many.items():
        np.testing.assert_allclose(few[question], sums, rtol=1e-4, atol=1e-5)


def test_kinds_of_maps_differ_above_the_first_layer_and_norms_everywhere(
    model: Model, random_documents: Callable[..., list[Document]]
) -> None:
    question = ("position", "other words", "previous")
    weights, norms, rollout = (sums_of(model, random_documents(12), kind, 4096)[question] for kind in MAPS)
    first = slice(0, model.heads)
    np.testing.assert_allclose(rollout[:, first], weights[:, first], rtol=1e-6)
    assert np.abs(rollout[1] - weights[1])[model.heads :].min() > 1e-3
    assert np.abs(norms[1] - weights[1]).min() > 1e-3


class Keeper:
    """An observer, and the observation of each of its batches, that keeps what it sees."""

    def __init__(self) -> None:
        self.seen: list[tuple[Tensor, Tensor]] = []

    def observe(self, documents: object, batch: object, items: object) -> "Keeper":
        return self

    def see(self, layer: int, maps: Tensor, pattern: Tensor) -> None:
        self.seen.append((maps.clone(), pattern.clone()))

    def add(self, observation: object) -> None:
        pass


@pytest.mark.parametrize("asked", [PROBES, []])
def test_observers_see_the_maps_that_are_scored_and_attention_itself_with_questions_or_without(
    asked: list[Probe], model: Model, random_documents: Callable[..., list[Document]]
) -> None:
    texts = Corpus.of(random_documents(3)).sentences()
    weights, norms = Keeper(), Keeper()
    for kind, keeper in (("weights", weights), ("norms", norms)):
        score_corpus(model, texts, asked, {}, Settings(workers=1, maps=kind), observers=[keeper])
    assert len(norms.seen) == model.layers
    for (plain, pattern), (maps, same) in zip(weights.seen, norms.seen, strict=True):
        assert bool((pattern == same).all())
        assert float((maps - plain).abs().max()) > 1e-3


def test_broad_heads_are_told_by_shares_of_norms_whatever_their_size(
    model: Model, random_documents: Callable[..., list[Document]]
) -> None:
    """Values of the first layer a hundred times as long: norms grow with them, and their shares do not."""
    question = ("position", BROAD, "broad")
    even, size = copy.deepcopy(model), model.module.config.model
    with torch.no_grad():
        even.module.layers[0].attention.project.weight[: 2 * size] *= 0.02  # queries and keys
        longer = copy.deepcopy(even)
        longer.module.layers[0].attention.project.weight[-size:] *= 100
        longer.module.layers[0].attention.project.bias[-size:] *= 100
    documents = random_documents(12, longest=30)
    before, after = (sums_of(one, documents, "norms", 4096)[question][:, : model.heads] for one in (even, longer))
    np.testing.assert_allclose(after[1], 100 * before[1], rtol=1e-4)
    np.testing.assert_array_equal(after[0], before[0])
    assert before[0].max() > 0
