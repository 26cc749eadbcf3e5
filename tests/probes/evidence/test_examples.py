"""Heads at work."""

from collections.abc import Callable

import numpy as np
import pandas as pd
import pytest

from mha import CLS, SEP, Model
from probes import get_probe
from probes.corpora.corpus import MemoryTexts
from probes.evidence.examples import Choice, _arcs, choose_heads, choose_texts, example_arcs, head_map
from probes.records import Document
from probes.scoring.score import Settings
from probes.targets import Targets, key_sets
from probes.words.across import WAYS, SameWordAcross
from tests.probes.text_pairs import text_pair

PROBES = [get_probe("position"), get_probe("dependency")]


def row(**changes: object) -> dict[str, object]:
    likely = {"probe": "dependency", "label": "obj", "variant": "dependent->head", "layer": 1, "head": 2, "n": 50}
    return likely | {"selected": True, "split": "report", "margin_low": 0.1} | changes


def test_chosen_are_the_selected_heads_with_the_largest_sure_margins() -> None:
    scores = pd.DataFrame(
        [
            row(label="det", margin_low=0.3),
            row(label="case", margin_low=0.2),
            row(label="case", margin_low=0.9, selected=False),
            row(label="cop", margin_low=0.9, split="select"),
            row(label="vocative", margin_low=0.9, n=3),
            row(label="mark", margin_low=np.nan),
            row(probe="position", variant="other words", label="next", layer=0, head=1, margin_low=0.8),
        ]
    )
    chosen = choose_heads(scores, 4)
    assert [(one.question[2], one.layer, one.head) for one in chosen] == [("next", 0, 1), ("det", 1, 2), ("case", 1, 2)]


@pytest.mark.parametrize(
    ("question", "column"),
    [
        (("dependency", "dependent->head", "all"), False),
        (("dependency", "head<-dependent", "all"), True),
        (("position", "all tokens", "[CLS]"), False),
    ],
)
def test_arcs_are_the_strongest_of_the_head_and_gold_is_marked(
    question: tuple[str, str, str], column: bool, model: Model, random_documents: Callable[..., list[Document]]
) -> None:
    texts = [text for document in random_documents(30, longest=9) for text in document.split_sentences()]
    chosen = choose_texts(MemoryTexts(texts), PROBES, [Choice(question, 1, 2)])
    arcs = example_arcs(model, chosen, Settings())
    assert set(arcs.example) == {0, 1}
    assert set(arcs.name) == {"2-3"}
    assert set(arcs.split) == {"report"}
    for _, shown in arcs.groupby("example"):
        text = next(one for one in texts if one.sentences[0].id == shown.source.iloc[0])
        weights = head_map(model, text, 1, 2, Settings())
        assert weights is not None
        for arc in shown.itertuples():
            assert arc.weight == pytest.approx(float(weights[arc.query, arc.key]), abs=1e-6)
            if question[0] == "dependency":
                dependent, head = (arc.key, arc.query) if column else (arc.query, arc.key)
                assert arc.gold == (dependent >= 0 and text.heads[dependent] == head)
            else:
                assert arc.gold == (arc.key == CLS)
        end = "key" if column else "query"
        for place, of_one in shown.groupby(end):
            seen = weights[:, place] if column else weights[place]
            assert of_one.weight.max() == pytest.approx(float(seen.max()), abs=1e-6)
            among = candidates_of(question[1], len(weights), place)
            answers = sorted((float(seen[key]) for key in among), reverse=True)[:3] if of_one.scored.any() else []
            assert of_one[of_one.scored].weight.tolist() == pytest.approx(answers, abs=1e-6)
            assert set(of_one[of_one.scored]["query" if column else "key"]) <= among
            assert (~of_one.scored).sum() == (not answers or float(seen.max()) > answers[0])
        assert shown.key.min() >= (0 if column else SEP)


def test_a_pair_is_short_where_its_texts_are_and_its_arcs_say_where_the_second_begins(model: Model) -> None:
    letters = "abcdefghij"
    texts = [text_pair(letters, letters, "p"), text_pair(letters * 2, letters * 2, "long"), text_pair(letters, "", "s")]
    asked = [Choice(("same-word-across", WAYS[0], "all"), 1, 2)]
    chosen = choose_texts(MemoryTexts(texts), [SameWordAcross()], asked)
    assert [one.text.id for one in chosen] == ["p"]
    assert {*example_arcs(model, chosen, Settings()).second} == {10}
    single = choose_texts(MemoryTexts(texts[2:]), PROBES, [Choice(("position", "all tokens", "[CLS]"), 1, 2)])
    assert "second" not in example_arcs(model, single, Settings())


def candidates_of(variant: str, words: int, word: int) -> set[int]:
    return {*range(words), CLS, SEP} if variant == "all tokens" else {*range(words)} - {word}


def test_keys_that_are_no_candidates_are_shown_but_are_no_answers() -> None:
    """Of "she saw ships" the head of "ships" is asked for: neither [SEP] nor the word itself is a wrong answer."""
    weights = np.array([[0.1, 0.7, 0.1, 0.1, 0], [0, 0, 0, 1, 0], [0.04, 0.06, 0.2, 0.5, 0.2]], np.float32)
    asked = Targets.pairs(np.array([2]), np.array([1]), ["obj"])
    told = [(arc["query"], arc["key"], arc["gold"], arc["scored"]) for arc in _arcs(weights, asked, [0])]
    others = [(0, 1, False, False), (1, SEP, False, False)]
    assert told == [*others, (2, SEP, False, False), (2, 1, True, True), (2, 0, False, True)]
    listed = Targets.sets([2], [[0]], ["pronoun"], key_sets([[0, 1]]))
    told = [(arc["query"], arc["key"], arc["gold"], arc["scored"]) for arc in _arcs(weights, listed, [0])]
    assert told == [*others, (2, SEP, False, False), (2, 1, False, True), (2, 0, True, True)]


def test_a_text_that_the_model_cannot_read_whole_has_no_map(
    model: Model, random_documents: Callable[..., list[Document]]
) -> None:
    long = random_documents(1, sentences=12, longest=9)[0]
    assert len(long) > model.max_pieces
    assert head_map(model, long, 0, 0, Settings()) is None
