import json
import re
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
import torch

from mha.planted.heads import word_model
from probes import registry
from probes.corpora.corpus import Corpus, MemoryTexts
from probes.corpora.line_reader import CorpusError
from probes.evidence.planted import Knows, planted_changes
from probes.evidence.results import pooled_sums
from probes.plain.raw_text import RawText
from probes.records import Document, Sentence
from probes.registry import get_probe
from probes.scoring.baselines import BASELINES
from probes.scoring.score import Settings, learn_baselines, score_corpus
from probes.words.own import AnswerError, OwnProbe, own_probe

ROWS = [
    ("The keys are here .", 2, 1, "number"),
    ("The keys are here .", 2, 3, "number"),
    ("The keys are here .", 0, [1, 1], None),
    ("It's here", 2, 0, "number"),
    (("So", "is", "it"), 1, [2], "number"),
]
"Text, query, gold and label: the first two are one question with two right words."

KEYS = ["The", "keys", "are", "here", "."]
ASKED = {
    tuple(KEYS): [(0, [1], "all"), (2, [1, 3], "number")],
    ("It", "'s", "here"): [(2, [0], "number")],
    ("So", "is", "it"): [(1, [2], "number")],
    ("So", "isit"): [],
}
"Words of a sentence -> what the rows ask about it."

define = partial(own_probe, module=__name__)

Asked = Callable[..., list[tuple[int, list[int], str]]]


@pytest.fixture(autouse=True)
def _forgotten(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(registry, "_registry", dict(registry._registry))


def bare(words: Any, name: str = "s") -> Sentence:
    """Return a sentence without annotation."""
    return Sentence(name, tuple(words), np.full(len(words), -1), ("",) * len(words))


def text(words: Any) -> Document:
    """Return a text of one such sentence."""
    return Document("d", (bare(words),))


def test_a_function_asks_what_it_returns_and_counts_among_all(asked: Asked) -> None:
    probe = define("mine", lambda sentence: {np.int64(2): 0, 1: [len(sentence.words) - 1, 0, 0]})
    assert get_probe("mine") is probe
    assert asked(*probe.targets(text("abcd")).values()) == [(1, [0, 3], "all"), (2, [0], "all")]
    assert (probe.pool("all"), probe.pool("number")) == (("all",), ("number", "all"))
    assert {*BASELINES} - {*probe.baselines} == {"nearest mention", "same head word", "nearest candidate"}


def test_a_frame_and_files_give_their_answers_to_the_texts_that_they_name(tmp_path: Path, asked: Asked) -> None:
    frame = pd.DataFrame(ROWS, columns=["text", "query", "gold", "label"])
    lines, table = tmp_path / "rows.jsonl", tmp_path / "rows.csv"
    lines.write_text("\n".join(map(json.dumps, frame.to_dict("records"))), encoding="utf-8")
    frame[:4].to_csv(table, index=False)
    for source, known in ((frame, 4), (lines, 4), (str(table), 2)):
        probe = define("mine", source)
        found = {words: asked(*probe.targets(text(words)).values()) for words in ASKED}
        assert [*found.items()][:known] == [*ASKED.items()][:known]
        assert found["So", "isit"] == []


def test_texts_of_a_table_that_the_corpora_lack_or_have_twice_are_counted() -> None:
    probe = define("mine", pd.DataFrame(ROWS, columns=["text", "query", "gold", "label"]))
    assert isinstance(probe, OwnProbe)
    assert [*probe.notes(map(text, [KEYS, KEYS, ["So", "is", "it"]]))][:2] == [
        "mine: 1 of the 3 texts of its table stand in no sentence of the corpora (first: row 4)",
        "mine: 1 of the 3 texts of its table stand in several sentences, all asked (first: row 1)",
    ]
    dog = define("dog", pd.DataFrame([("The dog's tail.", 1, 0)], columns=["text", "query", "gold"]))
    assert isinstance(dog, OwnProbe)
    assert [note.partition(" are ")[0] for note in dog.notes([text(["The", "dog", "'s", "tail", "."])] * 2)] == [
        "dog: 1 texts of its table",
        "dog: 1 of the 1 texts of its table stand in several sentences, all asked (first: row 1)",
    ]
    note, *_ = probe.notes(map(text, [*ASKED]))
    assert "(first: row 4)" in note, "it is cut otherwise"


def test_a_table_of_answers_is_a_corpus_of_each_of_its_texts_once(tmp_path: Path) -> None:
    (tmp_path / "rows.csv").write_text(
        "text,query,gold\nThe keys,[0],1\nSo is it,0,1\nThe keys,1,0\n", encoding="utf-8"
    )
    (tmp_path / "texts.csv").write_text("text,query,gold\nThe keys,why,a\nThe keys,who,b\n", encoding="utf-8")
    found = [[text for _, text, _ in RawText(tmp_path / name).texts()] for name in ("rows.csv", "texts.csv")]
    assert found == [["The keys", "So is it"], ["The keys", "The keys"]]


@pytest.mark.parametrize(
    ("answers", "said"),
    [
        ({9: 1}, r"query 9, gold 1: there is no word 9; the words are 0 to 4"),
        ({2: [1, 5]}, r"query 2, gold \[1, 5\]: there is no word 5"),
        ({2: -1}, "query 2, gold -1: there is no word -1"),
        ({2: [1, 2]}, r"query 2, gold \[1, 2\]: 'are' cannot be its own gold; leave it out"),
        ({2: []}, r"query 2, gold \[\]: 'are' has no right word; leave it out"),
        ({2: 1.0}, "query 2, gold 1.0: expected the index of a word, and the indices of its right words"),
        ({2: [False, True]}, r"query 2, gold \[False, True\]: expected the index of a word"),  # a mask
        ({2: torch.tensor([False, True])}, r"query 2, gold tensor\(\[False,  True\]\): expected the index of a word"),
        ({2: [0, 1, 0, 0, 0]}, r"query 2, .*: expected the indices of right words, not a 0 or 1 for each word"),
        ({"2": "[1"}, "query '2', gold '\\[1': expected the index of a word"),
        (None, r"expected \{query: \[right words\]\}, got None"),
    ],
)
def test_an_answer_that_cannot_be_is_an_error_with_probe_text_and_word(answers: Any, said: str) -> None:
    with pytest.raises(AnswerError, match=rf"^probe 'mine', s \('The keys are here \.'\)[:,] {said}"):
        define("mine", lambda sentence: answers).targets(text(KEYS))


def test_a_function_is_asked_of_no_text_without_words_of_which_controls_need_the_variants() -> None:
    (targets,) = define("mine", lambda sentence: {1: 0}).targets(Document("", ())).values()
    assert not len(targets.query)


def test_an_error_names_the_row_of_a_table_and_what_a_function_raised() -> None:
    frame = pd.DataFrame([("The keys are here .", 2, 7)], columns=["text", "query", "gold"])
    with pytest.raises(
        AnswerError, match=r"^probe 'mine', row 1 \('The keys are here \.'\), query 2, gold 7: there is"
    ):
        define("mine", frame).targets(text(KEYS))
    with pytest.raises(AnswerError, match=r"^probe 'mine', s \('a b'\): IndexError: tuple index out of range"):
        define("mine", lambda sentence: {0: sentence.words[2]}).targets(text("ab"))


@pytest.mark.parametrize(
    ("name", "answers", "said"),
    [
        ("", ROWS, 'a probe needs a name: hs.probe("name", answers)'),
        ("mine", ROWS, "probe 'mine': expected a function of a sentence, a DataFrame, or a .jsonl, .csv or .tsv file"),
        ("mine", OwnProbe, "probe 'mine': expected a function of a sentence"),
        (
            "mine",
            pd.DataFrame({"text": ["a b"], "query": [0]}),
            "row 1: expected text (a string or a list of words), qu",
        ),
        ("mine", pd.DataFrame([([["a"], ["b"]], 0, 1)], columns=["text", "query", "gold"]), "row 1: expected text (a"),
        (
            "mine",
            pd.DataFrame([("a b", 0, 1, ["x"])], columns=["text", "query", "gold", "label"]),
            "row 1: expected one label; got ['x']",
        ),
        ("dependency", lambda sentence: {}, "two probes are called 'dependency'; one is of probes.syntax.dependency"),
    ],
)
def test_what_is_no_probe_is_refused(name: str, answers: Any, said: str) -> None:
    with pytest.raises(ValueError, match=re.escape(said)):
        define(name, answers)


def test_rows_that_ask_the_same_are_counted_and_their_other_answers_told() -> None:
    rows = [(2, 1), (2, 1), (2, 3), (3, 1), (3, 1)]
    probe = define(
        "mine", pd.DataFrame([("The keys are here .", *row) for row in rows], columns=["text", "query", "gold"])
    )
    assert [*probe.notes([text(KEYS)])] == [
        "mine: 2 × rows of its table that say what another says count once (first: row 2)",
        "mine: 1 × queries with rows of other gold: any of these words is right, not the one of most rows "
        "(first: row 3)",
    ]
    (targets,) = probe.targets(text(KEYS)).values()
    assert len(targets.query) == 2


@pytest.mark.parametrize("blank", ["", None, float("nan")])
def test_a_row_whose_second_text_is_empty_asks_about_a_single_text(blank: Any) -> None:
    frame = pd.DataFrame([("The keys are here .", blank, 2, 1)], columns=["text", "text_pair", "query", "gold"])
    (targets,) = define("mine", frame).targets(text(KEYS)).values()
    assert targets.query.tolist() == [2]


def test_a_file_with_a_column_twice_is_refused(tmp_path: Path) -> None:
    (tmp_path / "rows.csv").write_text("text,query,gold,gold\na b,0,1,0\n", encoding="utf-8")
    with pytest.raises(CorpusError, match=r"rows\.csv:1: 2 columns called 'gold', expected one$"):
        define("mine", tmp_path / "rows.csv")
    twice = pd.DataFrame([("a b", 0, 1, 0)], columns=["text", "query", "gold", "gold"])
    with pytest.raises(CorpusError, match=r"the data frame: 2 columns called 'gold', expected one$"):
        define("mine", twice)
    (tmp_path / "near.csv").write_text("text,query,gold,Label\na b,0,1,x\n", encoding="utf-8")
    with pytest.raises(CorpusError, match=r"near\.csv:2: a column called 'Label': call it 'label', or something else"):
        define("mine", tmp_path / "near.csv")


@pytest.mark.parametrize("line", ["[1]", "{", '{"text": "a b", "query": null, "gold": 1}'])
def test_a_broken_row_of_a_file_is_named(line: str, tmp_path: Path) -> None:
    (tmp_path / "rows.jsonl").write_text(f'{{"text": "a b", "query": 0, "gold": 1}}\n{line}', encoding="utf-8")
    with pytest.raises(CorpusError, match=r"rows\.jsonl:2: "):
        define("mine", tmp_path / "rows.jsonl")


def test_it_has_the_scores_of_a_probe_that_asks_the_same_and_the_head_that_follows_it_is_right() -> None:
    texts = Corpus.generated(20, 3).sentences()
    assert isinstance(texts, MemoryTexts)
    words = {word for document in texts.take(range(len(texts))) for word in document.words}
    model = word_model(words, layers=2, heads=2, head_dim=8, positions=40, seed=0)
    own = define("mine", lambda sentence: dict(sentence.arcs("nsubj")))
    probes = [own, get_probe("dependency")]
    variants = (own.variants[0], "dependent->head")
    planted = {(1, 0): Knows(("mine", variants[0], "all"), 1.0)}
    outcome = score_corpus(
        model,
        texts,
        probes,
        learn_baselines(texts, probes, own.baselines),
        Settings(),
        changes=lambda documents, batch: planted_changes(planted, documents, batch),
    )
    heads, baselines = pooled_sums(outcome, probes)
    keys = ("mine", variants[0], "all"), ("dependency", variants[1], "nsubj:*")
    for sums in (heads, baselines["offset"], baselines["likeliest distance"], baselines["uniform"]):
        mine, same = (sums[key] for key in keys)
        np.testing.assert_array_equal(mine.hits, same.hits)
        np.testing.assert_array_equal(mine.n, same.n)
    accuracy = heads[keys[0]].hits.sum(0) / heads[keys[0]].n.sum()
    assert accuracy[2] == 1
    assert max(*accuracy[:2], accuracy[3]) < 0.6
