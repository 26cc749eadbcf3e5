import pytest

from mha.pieces import CLS, SEP
from probes.records import Document
from probes.targets import OTHERS, TOKENS, WORDS, Targets
from probes.words.position import AREAS, BROAD, BROAD_KEYS, Position
from tests.probes.text_pairs import text_pair


def text_of(words: int) -> Document:
    return text_pair("w" * words, [])


def asked(targets: Targets, label: str) -> list[tuple[int, int]]:
    """Query and gold of every item with the label, once for each gold key."""
    items = zip(*(keys.tolist() for keys in targets.gold), strict=True)
    return [(int(targets.query[item]), key) for key, item in items if targets.label[item] == label]


def test_every_place_is_asked_of_the_words_that_have_one() -> None:
    found = Position().targets(text_of(3))
    others = found[OTHERS]
    assert asked(others, "previous") == [(1, 0), (2, 1)]
    assert asked(others, "next") == [(0, 1), (1, 2)]
    assert asked(others, "first") == [(1, 0), (2, 0)]
    assert asked(others, "last") == [(0, 2), (1, 2)]
    assert asked(others, "offset=+2") == [(0, 2)]
    assert asked(others, "offset=-2") == [(2, 0)]
    assert asked(found[WORDS], "same") == [(0, 0), (1, 1), (2, 2)]
    assert asked(found[TOKENS], "[CLS]") == [(i, CLS) for i in range(3)]
    assert asked(found[TOKENS], "[SEP]") == [(i, SEP) for i in range(3)]


def test_broad_is_asked_only_where_a_tenth_is_more_than_a_fair_share() -> None:
    found = {words: Position().targets(text_of(words))[BROAD] for words in (BROAD_KEYS - 3, BROAD_KEYS - 2, 30)}
    assert [len(targets) for targets in found.values()] == [0, BROAD_KEYS - 2, 30]
    assert all(targets.spread and len(targets.gold[0]) == 0 for targets in found.values())


@pytest.mark.parametrize("words", [2, 5, 9, 18, 30])
@pytest.mark.parametrize("reach", [2, 4, 8])
def test_a_window_has_the_words_near_by_and_is_asked_where_some_word_is_farther(words: int, reach: int) -> None:
    expected = []
    for word in range(words):
        near = [key for key in range(words) if 0 < abs(key - word) <= reach]
        if 0 < len(near) < words - 1:
            expected += [(word, key) for key in near]
    assert asked(Position().targets(text_of(words))[AREAS], f"within={reach}") == expected


def test_positions_run_through_a_window_of_several_sentences() -> None:
    sentence = text_of(2).sentences[0]
    targets = Position().targets(Document("d", (sentence, sentence)))[OTHERS]
    assert asked(targets, "previous") == [(1, 0), (2, 1), (3, 2)]


@pytest.mark.parametrize(
    ("words", "first", "second"),
    [
        (2, [], []),  # no word has both another word within and one outside
        (3, [(1, 0), (2, 0)], [(0, 2), (1, 2)]),
        (4, [(0, 1), (1, 0), (2, 0), (2, 1), (3, 0), (3, 1)], [(0, 2), (0, 3), (1, 2), (1, 3), (2, 3), (3, 2)]),
    ],
)
def test_the_halves_of_a_sentence_leave_out_the_middle_word(
    words: int, first: list[tuple[int, int]], second: list[tuple[int, int]]
) -> None:
    found = Position().targets(text_of(words))[AREAS]
    assert asked(found, "first half") == first
    assert asked(found, "second half") == second
