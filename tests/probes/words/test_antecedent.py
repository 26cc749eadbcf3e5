from collections.abc import Sequence

import numpy as np
import pytest

from probes.records import Document, Mention, Sentence
from probes.scoring.baseline_texts import Shown
from probes.scoring.baselines import BASELINES
from probes.targets import Targets, gather
from probes.words.antecedent import Antecedent, choices

PROBE = Antecedent()


def text_of(words: str, mentions: Sequence[Mention], *, kind: str = "") -> Document:
    forms = tuple(words.split())
    sentence = Sentence("s", forms, np.full(len(forms), -1), ("",) * len(forms), mentions=tuple(mentions), kind=kind)
    return Document("d", (sentence,))


def one(word: int, entity: str) -> Mention:
    return Mention((word,), word, entity)


def asked(document: Document) -> list[tuple[int, int, int]]:
    return [(choice.pronoun, choice.right, choice.other) for choice in choices(document)]


def test_the_candidates_are_the_nearest_of_the_entity_and_the_nearest_other_before_the_pronoun() -> None:
    mentions = [one(0, "a"), one(2, "b"), one(4, "a"), one(6, "c"), one(8, "a"), one(10, "b")]
    text = text_of("Ada met Bo and Ada near Cleo until she saw Bo", mentions)
    assert asked(text) == [(8, 4, 6)]


def test_what_stands_after_the_pronoun_is_a_candidate_where_nothing_stands_before() -> None:
    text = text_of("when she sank Ada called Bo", [one(1, "a"), one(3, "a"), one(5, "b")])
    assert asked(text) == [(1, 3, 5)]
    text = text_of("Bo fell when she called Ada and Cleo", [one(0, "b"), one(3, "a"), one(5, "a"), one(7, "c")])
    assert asked(text) == [(3, 5, 0)]


@pytest.mark.parametrize(
    ("words", "mentions"),
    [
        ("Ada met Bo and she left", [one(0, "a"), one(2, "b"), one(4, "neither")]),
        ("Ada left when she could", [one(0, "a"), one(3, "a")]),
        ("I met Bo and you left", [one(0, "a"), one(2, "b"), one(4, "a")]),
        ("they saw them when she left", [one(0, "a"), one(2, "b"), one(4, "a")]),
        ("his aunt sank", [one(0, "a"), Mention((0, 1), 1, "b")]),
        ("Ada met herself", [one(0, "a"), Mention((1, 2), 2, "a")]),
    ],
)
def test_nothing_is_asked_without_a_pronoun_its_antecedent_and_another_noun_phrase(
    words: str, mentions: list[Mention]
) -> None:
    assert asked(text_of(words, mentions)) == []


def test_labels_tell_gender_order_and_kind_and_pool_gender_with_kind() -> None:
    mentions = [one(0, "a"), one(2, "b"), one(4, "b"), one(6, "a")]
    text = text_of("Ada met Bo until he told her", mentions, kind="storm")
    targets = PROBE.targets(text)
    labels = ["masculine, nearer is right, storm", "feminine, farther is right, storm"]
    assert [list(part.label) for part in targets.values()] == [labels] * 2
    assert PROBE.pool(labels[0]) == ("all", "masculine", "nearer is right", "storm", "masculine, storm")
    assert PROBE.pool("they, farther is right") == ("all", "they", "farther is right")


@pytest.mark.parametrize(("name", "keys"), [("nearest candidate", [2, 8]), ("first candidate", [2, 4])])
def test_baselines_attend_to_the_nearest_or_the_first_candidate(name: str, keys: list[int]) -> None:
    """Of words 2 and 4, equally near to 3, the one before; of 4 and 8, for word 7, the nearer or the first."""
    listed = (np.array([4, 2, 8, 4]), np.array([0, 0, 1, 1]))
    items = gather("p", "v", [Targets.sets([3, 7], [[2], [4]], ["x", "x"], listed)])
    rows = BASELINES[name]().rows(items, Shown([text_of("w w w w w w w w w", [])]))
    assert rows.argmax(1).tolist() == keys
    assert rows.sum(1).tolist() == [1, 1]


def test_both_directions_ask_about_the_same_words() -> None:
    text = text_of("Ada met Bo until she left", [one(0, "a"), one(2, "b"), one(4, "a")])
    rows, columns = PROBE.targets(text).values()
    assert (rows.by_column, columns.by_column) == (False, True)
    for part in (rows, columns):
        assert not isinstance(part.candidates, str)
        assert (part.query.tolist(), part.gold[0].tolist(), part.candidates[0].tolist()) == ([4], [0], [0, 2])
