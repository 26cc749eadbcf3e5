"""Every head on a few texts: what is kept is what the maps and the trees say."""

from collections.abc import Callable

import numpy as np
import pytest

from mha import SEP, Model
from probes import get_probe
from probes.evidence.examples import whole_pieces, word_level
from probes.maps import page_maps as every_head
from probes.maps.page_maps import KEYS, STEPS, EveryHead, gold_arcs
from probes.records import Document
from probes.scoring.score import Settings

PROBES = [get_probe("position"), get_probe("dependency")]


@pytest.fixture
def texts(random_documents: Callable[..., list[Document]]) -> list[Document]:
    sentences = [text for document in random_documents(8, longest=9) for text in document.split_sentences()]
    return list({text.words: text for text in sentences if len(text) >= 5}.values())


def test_the_strongest_keys_of_every_word_are_kept_for_every_head(model: Model, texts: list[Document]) -> None:
    every = EveryHead(model, Settings(maps="norms"), most=30)
    every.observe(texts[0], PROBES)
    rows = every.tables()["attention"]
    assert list(rows.name) == [f"{a + 1}-{b + 1}" for a in range(model.layers) for b in range(model.heads)]
    pieces = whole_pieces(model, texts[0])
    assert pieces is not None
    maps = word_level(model, pieces, Settings(maps="norms"))
    for row in rows.itertuples():
        keys, weights = (np.reshape(part, (len(texts[0]), KEYS)) for part in (row.keys, row.weights))
        seen = maps[row.layer, row.head]
        assert keys.min() >= SEP
        for word in range(len(texts[0])):
            np.testing.assert_allclose(weights[word] / STEPS, seen[word, keys[word]], atol=0.5 / STEPS + 1e-6)
            assert seen[word, keys[word]].tolist() == sorted(seen[word].tolist(), reverse=True)[:KEYS]


def test_gold_arcs_are_those_of_the_tree_from_the_attending_word(texts: list[Document]) -> None:
    arcs = list(gold_arcs(texts[0], PROBES))
    tree = {(word, head) for word, head in enumerate(texts[0].heads.tolist()) if head >= 0}
    said = {
        variant: {(arc["query"], arc["key"]) for arc in arcs if (arc["label"], arc["variant"]) == ("all", variant)}
        for variant in ("dependent->head", "head->dependent", "head<-dependent")
    }
    assert said["dependent->head"] == tree
    assert said["head->dependent"] == said["head<-dependent"] == {(head, word) for word, head in tree}
    previous = [(arc["query"], arc["key"]) for arc in arcs if arc["label"] == "previous"]
    assert previous == [(word, word - 1) for word in range(1, len(texts[0]))]
    assert len({tuple(arc.values()) for arc in arcs}) == len(arcs)


def test_a_text_is_kept_once_and_what_is_too_much_is_counted(
    model: Model, texts: list[Document], monkeypatch: pytest.MonkeyPatch
) -> None:
    every = EveryHead(model, Settings(), most=2)
    for text in (texts[0], texts[0], texts[1], texts[2], texts[1]):
        every.observe(text, PROBES)
    tables = every.tables()
    assert list(tables["sentences"].sentence) == [0, 1]
    assert set(tables["gold"].sentence) == set(tables["attention"].sentence) == {0, 1}
    assert every.left_out == 1
    monkeypatch.setattr(every_head, "WORDS_BY_HEADS", len(texts[0]) * model.layers * model.heads)
    small = EveryHead(model, Settings(), most=2)
    for text in texts[:2]:
        small.observe(text, PROBES)
    assert (len(small.sentences), small.left_out) == (1, 1)
