from collections.abc import Callable

from probes.words.rare import Rare
from tests.probes.text_pairs import text_pair

Asked = Callable[..., list[tuple[int, list[int], str]]]
COUNTS = {"the": 900, "old": 70, "ship": 20, "sank": 3, "'t": 800}


def found(asked: Asked, words: str, label: str) -> list[tuple[int, list[int]]]:
    targets = Rare(COUNTS).targets(text_pair(words.split(), []))["other words"]
    return [(query, gold) for query, gold, name in asked(targets) if name == label]


def test_the_rarest_other_word_and_the_two_rarest(asked: Asked) -> None:
    assert found(asked, "The old ship sank", "rarest") == [(0, [3]), (1, [3]), (2, [3]), (3, [2])]
    assert found(asked, "The old ship sank", "two rarest") == [(0, [2, 3]), (1, [2, 3]), (2, [1, 3]), (3, [1, 2])]


def test_words_that_are_not_listed_are_rarest_and_tie(asked: Asked) -> None:
    assert found(asked, "The Zog sank Yb", "rarest") == [(0, [1, 3]), (1, [3]), (2, [1, 3]), (3, [1])]
    assert found(asked, "The Zog sank Yb", "two rarest") == [(0, [1, 3]), (1, [2, 3]), (2, [1, 3]), (3, [1, 2])]


def test_marks_and_numbers_are_asked_but_never_rare(asked: Asked) -> None:
    assert found(asked, "ship . 99 sank", "rarest") == [(0, [3]), (1, [3]), (2, [3]), (3, [0])]
    assert found(asked, "ship . 99 sank", "two rarest") == [(0, [3]), (1, [0, 3]), (2, [0, 3]), (3, [0])]


def test_a_clitic_of_treebanks_is_found_on_the_list(asked: Asked) -> None:
    assert found(asked, "ship n't sank the", "rarest")[1:2] == [(1, [2])]
    assert found(asked, "old n't the", "rarest") == [(0, [1]), (1, [0]), (2, [0])]


def test_the_encoding_of_an_accent_makes_no_word_rare(asked: Asked) -> None:
    targets = Rare({"café": 900, "ship": 20}).targets(text_pair(["cafe\u0301", "ship", "Zog"], []))["other words"]
    assert (2, [1], "rarest") in asked(targets)


def test_where_all_other_words_are_right_nothing_is_asked(asked: Asked) -> None:
    assert found(asked, "old ship sank", "two rarest") == []
    assert found(asked, "Zog Yb Xu", "rarest") == []
    assert found(asked, ". . .", "rarest") == []
