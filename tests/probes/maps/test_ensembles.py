"""Ensembles of heads: two that each know half know all together."""

from collections.abc import Callable, Sequence

import numpy as np
import pytest
import torch

from mha import Model
from mha.models.maps import MAPS
from probes import get_probe
from probes.corpora.corpus import Corpus, Texts
from probes.evidence.results import pooled_sums
from probes.maps.ensembles import Answers, choose_ensemble, ensemble_hits, gather_answers
from probes.records import Document
from probes.registry import Probe
from probes.scoring.score import Settings, score_corpus
from probes.scoring.tally import Question

PROBES: list[Probe] = [get_probe(name) for name in ("position", "dependency", "coreference")]


def answers(values: Sequence[Sequence[Sequence[float]]], gold: Sequence[int], cluster: Sequence[int] = ()) -> Answers:
    """Return answers from values [item][candidate][head] and the right candidate of every item."""
    candidates = np.array([len(one) for one in values])
    right = np.concatenate([np.arange(len(one)) == key for one, key in zip(values, gold, strict=True)])
    flat = torch.tensor([head for one in values for head in one], dtype=torch.float32)
    return Answers(flat, candidates, torch.from_numpy(right), np.array(cluster or range(len(values))))


HALVES = answers(
    [
        [[0.9, 0.3, 0.5], [0.1, 0.4, 0.0]],
        [[0.9, 0.3, 0.5], [0.1, 0.4, 0.0]],
        [[0.3, 0.9, 0.0], [0.4, 0.1, 0.5]],
        [[0.3, 0.9, 0.0], [0.4, 0.1, 0.5]],
        [[0.2, 0.4, 0.2], [0.8, 0.2, 0.8]],
    ],
    [0, 0, 0, 0, 1],
    [5, 5, 2, 2, 2],
)
"Head 0 knows three of five, head 1 two others, their mean all; head 2 knows what head 0 knows."


def test_two_heads_that_each_know_half_beat_every_single_head() -> None:
    assert HALVES.hits(HALVES.values).mean(0).tolist() == pytest.approx([0.6, 0.4, 0.6])
    chosen, accuracy = choose_ensemble(HALVES, 0, 2)
    assert chosen == [0, 1]
    assert accuracy == pytest.approx([0.6, 1.0])


def test_hits_are_summed_by_cluster_for_every_size() -> None:
    clusters, n, hits = ensemble_hits(HALVES)
    assert clusters == (2, 5)
    assert n.tolist() == [3, 2]
    np.testing.assert_allclose(hits[:, 0], [1, 2])
    np.testing.assert_allclose(hits[:, 1], [3, 2])


def test_items_with_different_numbers_of_candidates_have_the_same_hits_in_any_order() -> None:
    mixed = answers([[[0.1], [0.7], [0.2]], [[0.6], [0.4]], [[0.2], [0.3], [0.5]], [[0.5], [0.5]]], [1, 1, 0, 0])
    assert mixed.hits(mixed.values)[:, 0].tolist() == [1, 0, 0, 0.5]
    ordered = mixed.in_runs()
    assert ordered.candidates.tolist() == [2, 2, 3, 3]
    assert ordered.cluster.tolist() == [1, 3, 0, 2]
    assert ordered.hits(ordered.values)[:, 0].tolist() == [0, 0.5, 1, 0]


@pytest.fixture(scope="module")
def texts(random_documents: Callable[..., list[Document]]) -> Texts:
    return Corpus.of(random_documents(8, sentences=3, longest=9)).windows(100)


@pytest.mark.parametrize("maps", MAPS)
def test_single_heads_have_the_hits_that_the_scorer_gives_them_in_all_kinds_of_questions(
    model: Model, texts: Texts, maps: str
) -> None:
    outcome = score_corpus(model, texts, PROBES, {}, Settings(maps=maps))
    scored, _ = pooled_sums(outcome, PROBES)
    asked = [question for question in scored if question[2] != "broad"]
    assert {question[1] for question in asked} > {"dependent->head", "head<-dependent", "all words", "all tokens"}
    found = gather_answers(model, texts, PROBES, dict.fromkeys(asked), Settings(batch_pieces=64, maps=maps))
    for question in asked:
        for head in range(6):
            clusters, n, hits = ensemble_hits(alone(found[question], head))
            assert clusters == scored[question].clusters
            assert n.tolist() == scored[question].n.tolist()
            np.testing.assert_allclose(hits[:, 0], scored[question].hits[:, head], atol=1e-6)


def alone(found: Answers, head: int) -> Answers:
    return Answers(found.values[:, [head]], found.candidates, found.gold, found.cluster)


def test_only_the_heads_that_are_named_are_kept_in_their_order(model: Model, texts: Texts) -> None:
    question: Question = ("dependency", "dependent->head", "det")
    every, some = (
        gather_answers(model, texts, PROBES, {question: heads}, Settings())[question] for heads in (None, [4, 0])
    )
    assert torch.equal(some.values, every.values[:, [4, 0]])
    assert gather_answers(model, texts, PROBES, {("dependency", "dependent->head", "no such"): None}, Settings()) == {}
    assert gather_answers(model, texts, PROBES, {}, Settings()) == {}
