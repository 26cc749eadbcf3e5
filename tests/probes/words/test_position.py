import numpy as np
import pytest

from mha.pieces import CLS, SEP
from probes.records import Document, Sentence
from probes.targets import OTHERS, TOKENS, WORDS, Targets
from probes.words.position import BROAD, BROAD_KEYS, Position


def text_of(words: int) -> Document:
    blank = ("",) * words
    return Document("d", (Sentence("s", ("w",) * words, np.full(words, -1), blank),))


def asked(targets: Targets, label: str) -> list[tuple[int, int]]:
    """Query and gold of every item with the label."""
    items = zip(targets.query.tolist(), targets.gold[0].tolist(), targets.label, strict=True)
    return [(query, gold) for query, gold, name in items if name == label]


def test_order_is_controlled_by_other_weights_alone() -> None:
    assert Position.controls == ("random weights", "shuffled weights")


def test_every_place_is_asked_of_the_words_that_have_one() -> None:
    found = Position().targets(text_of(3))
    others = found[OTHERS]
    assert asked(others, "previous") == [(1, 0), (2, 1)]
    assert asked(others, "next") == [(0, 1), (1, 2)]
    assert asked(others, "first") == [(1, 0), (2, 0)]
    assert asked(others, "last") == [(0, 2), (1, 2)]
    assert len(others) == 8
    assert asked(found[WORDS], "same") == [(0, 0), (1, 1), (2, 2)]
    assert asked(found[TOKENS], "[CLS]") == [(i, CLS) for i in range(3)]
    assert asked(found[TOKENS], "[SEP]") == [(i, SEP) for i in range(3)]


def test_each_label_is_asked_under_one_variant_among_its_candidates() -> None:
    found = Position().targets(text_of(20))
    labels = {variant: set(targets.label) for variant, targets in found.items()}
    assert labels == {
        OTHERS: {"previous", "next", "first", "last"},
        WORDS: {"same"},
        TOKENS: {"[CLS]", "[SEP]"},
        BROAD: {"broad"},
    }
    assert {variant: targets.candidates for variant, targets in found.items()} == {
        OTHERS: OTHERS,
        WORDS: WORDS,
        TOKENS: TOKENS,
        BROAD: TOKENS,
    }
    assert [targets.spread for targets in found.values()] == [False, False, False, True]
    assert not any(targets.by_column for targets in found.values())


@pytest.mark.parametrize("words", [0, 1, 2, 40])
def test_one_item_a_gold_key_and_as_many_as_there_are_neighbours(words: int) -> None:
    found = Position().targets(text_of(words))
    for targets in (found[OTHERS], found[WORDS], found[TOKENS]):
        assert targets.gold[1].tolist() == list(range(len(targets)))
    counts = {name: len(asked(found[OTHERS], name)) for name in ("previous", "next", "first", "last")}
    assert set(counts.values()) == {max(words - 1, 0)}
    assert (len(found[WORDS]), len(found[TOKENS])) == (words, 2 * words)


def test_broad_is_asked_only_where_a_tenth_is_more_than_a_fair_share() -> None:
    found = {words: Position().targets(text_of(words))[BROAD] for words in (BROAD_KEYS - 3, BROAD_KEYS - 2, 30)}
    assert [len(targets) for targets in found.values()] == [0, BROAD_KEYS - 2, 30]
    assert all(targets.spread and len(targets.gold[0]) == 0 for targets in found.values())


def test_positions_run_through_a_window_of_several_sentences() -> None:
    sentence = text_of(2).sentences[0]
    targets = Position().targets(Document("d", (sentence, sentence)))[OTHERS]
    assert asked(targets, "previous") == [(1, 0), (2, 1), (3, 2)]
