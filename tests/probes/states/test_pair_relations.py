"""The attention probe: which pairs are drawn, and what a model whose heads are planted tells of them."""

from collections.abc import Callable

import numpy as np
import pandas as pd
import pytest

from mha import Model
from probes.corpora.corpus import Corpus
from probes.grammar import generate
from probes.records import Document
from probes.scoring.aligned import Aligned
from probes.scoring.score import Settings
from probes.states import pair_relations
from probes.states.pair_relations import IS_THERE, WHICH, WordPairs, probe_pairs
from probes.states.word_states import whole_texts


@pytest.fixture(scope="module")
def documents() -> list[Document]:
    return [one for document in generate(40, 3) for one in document.split_sentences()]


def test_half_of_the_pairs_have_an_arc_in_either_order_and_the_others_have_none(documents: list[Document]) -> None:
    pairs = WordPairs.of(documents, np.arange(len(documents)), 150, 0)
    assert len(pairs.labels) == 300
    forward = 0
    for (one, other), label in zip(pairs.cells.tolist(), pairs.labels, strict=True):
        document = documents[one[0]]
        assert one[0] == other[0]
        arc = document.heads[one[1]] == other[1] or document.heads[other[1]] == one[1]
        assert arc == bool(label)
        forward += bool(label) and document.heads[one[1]] == other[1]
        if label:
            dependent = one[1] if document.heads[one[1]] == other[1] else other[1]
            assert document.deprels[dependent].split(":")[0] == label
    assert 50 < forward < 100
    assert pairs.offsets.sum(1).tolist() == [1] * 300


def planted_table(
    model: Model, monkeypatch: pytest.MonkeyPatch, attention: Callable[[WordPairs], np.ndarray]
) -> pd.DataFrame:
    """Return the table where the attention between two words is what `attention` gives, with noise."""
    splits: list[Aligned] = []
    for seed in (1, 2):
        texts = Corpus.of([d for one in generate(60, seed) for d in one.split_sentences()]).sentences()
        splits.append(whole_texts(model, texts, 200))
    random, drawn = np.random.default_rng(0), []

    def between(_: Model, aligned: Aligned, cells: np.ndarray, __: Settings) -> np.ndarray:
        clusters = np.arange(len(aligned.pieces))
        pairs = WordPairs.of(aligned.texts.take(aligned.kept), clusters, 300, 0)
        drawn.append(pairs)
        return attention(pairs) + random.normal(size=(len(cells), 4, 2)) / 10

    monkeypatch.setattr(pair_relations, "attention_between", between)
    groups = [np.arange(len(one.pieces)) for one in splits]
    return probe_pairs(model, (splits[0], splits[1]), (groups[0], groups[1]), Settings(), most=300, seed=0).set_index(
        "task"
    )


def test_planted_attention_on_arcs_is_found(model: Model, monkeypatch: pytest.MonkeyPatch) -> None:
    def attention(pairs: WordPairs) -> np.ndarray:
        related = np.array([bool(label) for label in pairs.labels], float)
        return np.broadcast_to(related[:, None, None], (len(related), 4, 2))

    table = planted_table(model, monkeypatch, attention)
    assert table.value[IS_THERE] > 0.95
    assert table.majority[IS_THERE] == pytest.approx(0.5, abs=0.05)
    assert table.value[WHICH] < 0.6, "the same attention on all relations says nothing of which it is"
    assert table.distance[IS_THERE] > 0.5
    assert table.labels[IS_THERE] == 2
