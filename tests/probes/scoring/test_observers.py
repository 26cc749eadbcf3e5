"""Observers: they see what heads did, batch by batch, and change nothing."""

import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import numpy as np
import pytest
import torch
from torch import Tensor

from mha import Model
from mha.batches import Batch
from mha.causal.interventions import Attend
from mha.models.maps import merge
from probes import get_probe
from probes.corpora.corpus import Corpus, Texts
from probes.records import Document
from probes.scoring.hashed_random import shuffled_places
from probes.scoring.score import Outcome, Settings, score_corpus

PROBES = [get_probe("dependency")]


@dataclass
class Watched:
    """What was seen of one batch, copied."""

    documents: Sequence[Document]
    batch: Batch
    layers: list[tuple[int, Tensor, Tensor]] = field(default_factory=list)

    def see(self, layer: int, maps: Tensor, pattern: Tensor) -> None:
        self.layers.append((layer, maps.clone(), pattern.clone()))


@dataclass
class Watcher:
    """An observer that keeps everything."""

    observations: list[Watched] = field(default_factory=list)
    adding: set[int] = field(default_factory=set)
    "Threads that called `add`."

    def observe(self, documents: Sequence[Document], batch: Batch, items: object) -> Watched:
        return Watched(documents, batch)

    def add(self, observation: Watched) -> None:
        self.observations.append(observation)
        self.adding.add(threading.get_ident())


@pytest.fixture(scope="module")
def texts(random_documents: Callable[..., list[Document]]) -> Texts:
    return Corpus.of(random_documents(8, sentences=4)).sentences()


def score(model: Model, texts: Texts, *watchers: Watcher, **more: object) -> Outcome:
    settings = Settings(batch_pieces=60, workers=3)
    return score_corpus(model, texts, PROBES, {}, settings, observers=watchers, **more)


def hits(outcome: Outcome) -> list[tuple[object, list[list[float]]]]:
    return [(question, sums.hits.tolist()) for question, sums in outcome.heads.pooled(lambda question: question[2:])]


def test_observers_see_every_layer_of_every_batch_and_the_pieces_behind_its_words(model: Model, texts: Texts) -> None:
    watcher = Watcher()
    score(model, texts, watcher)
    assert len(watcher.observations) > 3
    assert sum(len(observation.documents) for observation in watcher.observations) == len(texts)
    for observation in watcher.observations:
        assert [layer for layer, *_ in observation.layers] == list(range(model.layers))
        assert observation.batch.words.tolist() == [len(document) for document in observation.documents]
        for _, maps, pattern in observation.layers:
            assert torch.equal(maps, merge(pattern, observation.batch))
            assert torch.allclose(pattern.sum(-1), torch.ones(()))


def test_observers_change_no_number(model: Model, texts: Texts) -> None:
    assert hits(score(model, texts)) == hits(score(model, texts, Watcher(), Watcher()))


def test_batches_are_added_in_their_order_by_one_thread(model: Model, texts: Texts) -> None:
    several, alone = Watcher(), Watcher()
    score(model, texts, several)
    score_corpus(model, texts, PROBES, {}, Settings(batch_pieces=60, workers=1), observers=[alone])
    ours, theirs = (
        [[text.words for text in observation.documents] for observation in one.observations] for one in (several, alone)
    )
    assert ours == theirs
    assert several.adding == {threading.get_ident()}
    for one, other in zip(several.observations, alone.observations, strict=True):
        assert all(torch.equal(a[1], b[1]) for a, b in zip(one.layers, other.layers, strict=True))


def test_batches_that_nothing_is_asked_about_are_shown_too(model: Model, texts: Texts) -> None:
    watcher = Watcher()
    outcome = score_corpus(model, texts, [get_probe("coreference")], {}, Settings(batch_pieces=1), observers=[watcher])
    asked = {int(sums.n.sum()) for _, sums in outcome.heads.pooled(lambda question: question[2:])}
    assert asked, "some sentences have questions"
    assert len(watcher.observations) == len(texts)
    assert all(len(observation.layers) == model.layers for observation in watcher.observations)


def test_observers_see_heads_as_they_were_changed(model: Model, texts: Texts) -> None:
    def even(documents: Sequence[Document], batch: Batch) -> list[Attend]:
        tokens = batch.to_words.sum(2)
        rows = tokens / tokens.sum(1, keepdim=True)
        return [Attend(1, {2: rows[:, None].expand(-1, tokens.shape[1], -1)})]

    watcher = Watcher()
    score(model, texts, watcher, changes=even)
    for observation in watcher.observations:
        pieces = observation.batch.to_words.sum((1, 2))
        np.testing.assert_allclose(observation.layers[1][2][:, 2].amax((1, 2)), 1 / pieces, rtol=1e-5)
        assert not np.allclose(observation.layers[0][2][:, 2].amax((1, 2)), 1 / pieces)


def test_observers_are_refused_where_words_stand_in_another_order(model: Model, texts: Texts) -> None:
    with pytest.raises(ValueError, match="observers read words in their order"):
        score(model, texts, Watcher(), places=lambda document: shuffled_places(document, 0))
