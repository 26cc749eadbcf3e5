"""What is right across the texts of a pair, worked out by hand; alignments given as gold."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from probes import registry
from probes.plain.raw_text import RawText
from probes.plain.spacy_pipeline import open_plain
from probes.words.across import WAYS, SamePositionAcross, SameWordAcross
from probes.words.own import AnswerError, own_probe
from tests.probes.text_pairs import text_pair

Asked = Callable[..., list[tuple[int, list[int], str]]]
PAIR = text_pair(["The", "dog", "sleeps", "."], ["A", "dog", "or", "Dog", "."])
SINGLE = text_pair(["The", "dog", "the"], [])


@pytest.fixture(autouse=True)
def _registry(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(registry, "_registry", dict(registry._registry))


def test_every_occurrence_of_the_word_in_the_other_text_is_right_and_its_words_are_candidates(asked: Asked) -> None:
    found = SameWordAcross().targets(PAIR)
    assert {way: asked(found[way]) for way in WAYS} == {
        "first text->second text": [(1, [5, 7], "all")],
        "second text->first text": [(5, [1], "all"), (7, [1], "all")],
    }
    assert found["first text->second text"].candidates[0].tolist() == [4, 5, 6, 7, 8]
    assert found["second text->first text"].candidates[0].tolist() == [0, 1, 2, 3] * 2


def test_places_are_counted_from_the_beginning_of_each_text(asked: Asked) -> None:
    found = SamePositionAcross().targets(PAIR)
    assert asked(found["first text->second text"]) == [(place, [place + 4], "all") for place in range(4)]
    assert asked(found["second text->first text"]) == [(place + 4, [place], "all") for place in range(4)]


@pytest.mark.parametrize("probe", [SameWordAcross(), SamePositionAcross()])
def test_a_single_text_is_asked_nothing(probe: Any) -> None:
    assert [len(one) for one in probe.targets(SINGLE).values()] == [0, 0]


@pytest.mark.parametrize("alignment", [[[1, 3], [0, 0], [1, 1]], "[[1, 3], [0, 0], [1, 1]]", "1-3 0-0 1-1"])
def test_an_alignment_is_asked_both_ways_among_the_words_of_the_other_text(asked: Asked, alignment: Any) -> None:
    first, second = map(list, PAIR.texts)
    table = pd.DataFrame({"text": [first, "x"], "text_pair": [second, "y"], "alignment": [alignment, "0-0"]})
    probe = own_probe("aligned", table, "here")
    found = probe.targets(PAIR)
    assert asked(found["word of the first text->answer of aligned"]) == [(0, [4], "all"), (1, [5, 7], "all")]
    assert asked(found["word of the second text->answer of aligned"]) == [
        (4, [0], "all"),
        (5, [1], "all"),
        (7, [1], "all"),
    ]
    assert found["word of the second text->answer of aligned"].candidates[0].tolist() == [0, 1, 2, 3] * 3
    assert [len(one) for one in probe.targets(text_pair(first, second[:-1])).values()] == [0, 0]
    assert [*probe.notes([PAIR])] == [  # type: ignore[attr-defined]
        "aligned: 1 of the 2 texts of its table stand in no sentence of the corpora (first: row 2)"
    ]


def test_a_query_of_a_pair_counts_its_words_on_from_the_first_text(asked: Asked) -> None:
    table = pd.DataFrame({"text": ["The dog sleeps."], "text_pair": ["A dog or Dog."], "query": [7], "gold": [1]})
    (found,) = own_probe("mine", table, "here").targets(PAIR).values()
    assert (asked(found), found.candidates) == ([(7, [1], "all")], "other words")
    joined = text_pair([*PAIR.words], [])
    assert [len(one) for one in own_probe("mine", table, "here").targets(joined).values()] == [0]


@pytest.mark.parametrize(
    ("row", "said"),
    [
        ({"alignment": "4-0"}, r"row 1 \(.*\): no words 4 and 0; those of the texts are 0 to 3 and 0 to 4"),
        ({"alignment": [[0, 1, 2]]}, "row 1: expected an alignment"),
        ({"alignment": None}, "row 1: expected text .* or text, text_pair and alignment"),
    ],
)
def test_what_is_no_alignment_is_refused_with_its_row(row: dict[str, Any], said: str) -> None:
    pair = {"text": "The dog sleeps.", "text_pair": "A dog or Dog."}
    with pytest.raises(ValueError, match=said):
        own_probe("mine", pd.DataFrame([pair | row]), "here").targets(PAIR)


def test_alignments_and_queries_make_two_probes() -> None:
    rows = [{"text": "a b", "text_pair": "c", "alignment": "0-0"}, {"text": "a b", "query": 0, "gold": 1}]
    with pytest.raises(AnswerError, match="some rows have an alignment and others a query"):
        own_probe("mine", pd.DataFrame(rows).astype(object).where(lambda one: one.notna(), None), "here")


def test_a_table_of_alignments_is_a_corpus_of_its_pairs(tmp_path: Path, asked: Asked) -> None:
    path = tmp_path / "mine.jsonl"
    path.write_text('{"text": ["U.S.", "x"], "text_pair": ["y", "z"], "alignment": [[0, 1]]}\n', encoding="utf-8")
    (text,) = open_plain(RawText(path)).sentences().take([0])
    assert text.texts == (("U.S.", "x"), ("y", "z"))
    assert asked(own_probe("mine", path, "here").targets(text)["word of the first text->answer of mine"]) == [
        (0, [3], "all")
    ]
