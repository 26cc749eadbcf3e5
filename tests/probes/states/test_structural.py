"""The structural probe on states in which trees are planted, and on noise."""

from collections.abc import Callable

import numpy as np
import pytest
import torch

from probes.grammar import generate
from probes.records import Document
from probes.states import structural
from probes.states.structural import ATTACHED, CORRELATION, DEPTHS, DISTANCES, ROOT, probe_trees, squared_distances
from probes.states.word_states import WordStates


def planted(documents: list[Document], noise: float, seed: int) -> WordStates:
    """Return a layer of noise, and one whose words are sums of one direction an arc above them, among noise.

    Squared distances of such sums are distances in the tree, and squared lengths depths (Reif et al. 2019, theorem 1).
    """
    random = np.random.default_rng(seed)
    rows = []
    for document in documents:
        arcs = np.eye(60)[: len(document)]
        vectors = np.zeros((len(document), 60))
        for word in range(len(document)):
            above = word
            while above >= 0:
                vectors[word] += arcs[above] * (document.heads[above] >= 0)
                above = int(document.heads[above])
        rows.append(vectors)
    told = np.concatenate(rows)
    signal = np.concatenate([told, noise * random.normal(size=(len(told), 10))], 1)
    layers = np.stack([random.normal(size=signal.shape), signal]).astype(np.float32)
    return WordStates(documents, layers, np.cumsum([0, *map(len, documents)]))


@pytest.fixture(scope="module")
def sentences() -> Callable[[int], list[Document]]:
    def made(seed: int) -> list[Document]:
        every = [Document(f"{i}", (one,)) for i, d in enumerate(generate(60, seed)) for one in d.sentences[:1]]
        return [one for one in every if 4 < len(one) < 40]

    return made


def test_planted_trees_are_found_and_noise_has_none(
    sentences: Callable[[int], list[Document]], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(structural, "EPOCHS", 150)
    monkeypatch.setattr(structural, "RATE", 0.02)
    table = probe_trees(planted(sentences(1), 3, 0), planted(sentences(2), 3, 1), 0)
    value = table.set_index(["task", "measure", "layer"]).value
    for task, measure in ((DISTANCES, ATTACHED), (DISTANCES, CORRELATION), (DEPTHS, CORRELATION), (DEPTHS, ROOT)):
        assert value[task, measure, 1] > 0.75 > 0.5 > value[task, measure, 0], (task, measure)
    held_out = table.set_index(["task", "measure", "layer"]).held_out
    assert held_out[DISTANCES, ATTACHED, 1] > 0.75
    assert set(table.layer) == {0, 1}
    assert table.baseline[table.task == DISTANCES].notna().all()


def test_squared_distances_are_those_of_projected_differences() -> None:
    states, projection = torch.randn(1, 1, 4, 6), torch.randn(1, 6, 3)
    found = squared_distances(states, projection)[0, 0]
    for i in range(4):
        for j in range(4):
            apart = (states[0, 0, i] - states[0, 0, j]) @ projection[0]
            torch.testing.assert_close(found[i, j], apart.square().sum(), atol=1e-4, rtol=1e-4)
