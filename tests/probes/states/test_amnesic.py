"""Amnesic probing on planted states: a property goes with its direction, and with it what rests on it."""

from collections.abc import Callable

import numpy as np
import pytest

from probes.records import Document, Sentence, frozen_ints
from probes.states import amnesic as module
from probes.states.amnesic import Sides, amnesic, phrase_starts, remove
from probes.states.word_states import WordStates

TAGS = ("NOUN", "VERB", "ADJ")


def planted(seed: int, *, tag: float, word: float, texts: int = 60) -> WordStates:
    """Return texts of six words; states hold the tag in dimensions 0 to 2, the word in 3 to 8, and noise in 30."""
    random = np.random.default_rng(seed)
    documents, rows = [], []
    for text in range(texts):
        numbers = random.permutation(6)
        upos = tuple(TAGS[number // 2] for number in numbers)
        words = tuple(f"w{number}" for number in numbers)
        heads = frozen_ints([-1, 0, 0, 0, 0, 0])
        deprels = ("root", *random.choice(["obj", "nsubj"], 5))
        documents.append(Document(f"d{text}", (Sentence(f"d{text}", words, heads, tuple(map(str, deprels)), upos),)))
        hot = np.concatenate([tag * np.eye(3)[numbers // 2], word * np.eye(6)[numbers], random.normal(size=(6, 30))], 1)
        rows.append(hot)
    vectors = np.concatenate(rows)[None].astype(np.float32)
    return WordStates(documents, vectors, np.arange(0, 6 * texts + 1, 6))


def table_of(tag: float, word: float) -> dict[str, dict[str, float]]:
    found = amnesic(planted(0, tag=tag, word=word), planted(1, tag=tag, word=word), 0)
    return found.set_index("property").to_dict("index")


def test_words_that_are_told_by_their_tag_alone_are_lost_with_it() -> None:
    found = table_of(6, 0)["part of speech"]
    assert found["accuracy"] > 0.95
    assert found["left"] < 0.5
    assert found["intact"] == pytest.approx(0.5, abs=0.1), "two words have one tag"
    assert found["amnesic"] < 0.3
    assert found["random"] > found["amnesic"] + 0.1
    assert found["effect_low"] > 0
    assert found["effect"] == pytest.approx(found["random"] - found["amnesic"])
    assert found["lost"] == pytest.approx(found["intact"] - found["amnesic"])


def test_a_property_that_nothing_rests_on_costs_nothing_beyond_random() -> None:
    """Labels are drawn at random here: no state holds them."""
    found = table_of(6, 6)["dependency label"]
    assert found["effect_low"] < 0.05
    assert found["accuracy"] < 0.7


def test_removed_directions_are_orthonormal_and_leave_nothing_to_a_new_classifier() -> None:
    select, report = planted(0, tag=6, word=0), planted(1, tag=6, word=0)
    sides = Sides.of(select, report)
    gold = [np.array([TAGS.index(tag) for one in part.documents for tag in one.upos]) for part in (select, report)]
    removed = remove(sides, gold[0], gold[1], select.held_out[select.text], 0)
    count = len(removed.directions)
    np.testing.assert_allclose(removed.directions @ removed.directions.T, np.eye(count), atol=1e-9)
    rest = sides.without(removed.directions)
    np.testing.assert_allclose(rest.report @ removed.directions.T, 0, atol=1e-9)
    again = remove(rest, gold[0], gold[1], select.held_out[select.text], 0)
    assert again.accuracy.mean() <= removed.majority + module.CLOSE


def test_the_report_split_does_not_say_when_to_stop() -> None:
    """With labels of the report split that mean nothing, a classifier is at the majority there from the start."""
    select, report = planted(0, tag=6, word=0), planted(1, tag=6, word=0)
    gold = [np.array([TAGS.index(tag) for one in part.documents for tag in one.upos]) for part in (select, report)]
    drawn = np.random.default_rng(0).permutation(gold[1])
    held_out = select.held_out[select.text]
    removed = [remove(Sides.of(select, report), gold[0], labels, held_out, 0) for labels in (gold[1], drawn)]
    assert len(removed[0].directions) == len(removed[1].directions) > 1
    np.testing.assert_array_equal(removed[0].directions, removed[1].directions)


def test_phrases_start_with_the_first_word_below_their_noun(tree: Callable[..., Sentence]) -> None:
    sentence = tree(
        """
the   DET   3 det   _
old   ADJ   3 amod  _
ship  NOUN  4 nsubj _
saw   VERB  0 root  _
her   PRON  4 obj   _
today ADV   4 advmod _
"""
    )
    found = phrase_starts(Document("d", (sentence,)))
    assert found == ["start", "other", "other", "other", "start", "other"]
