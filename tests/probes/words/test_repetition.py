from collections.abc import Callable

import pytest

from probes.records import Document, Sentence
from probes.words.repetition import Repetition
from tests.probes.text_pairs import text_pair

Asked = Callable[..., list[tuple[int, list[int], str]]]


def test_all_other_occurrences_are_right_and_what_followed_the_nearest_before(
    tree: Callable[..., Sentence], asked: Asked
) -> None:
    text = """
        The  DET  2 det   _
        dog  NOUN 3 nsubj _
        saw  VERB 0 root  _
        the  DET  5 det   _
        cat  NOUN 3 obj   _
        the  DET  7 det   _
        dog  NOUN 5 appos _
    """
    found = Repetition().targets(Document("d", (tree(text),)))
    assert sorted(asked(found["same word"])) == [
        (0, [3, 5], "function"),
        (1, [6], "content"),
        (3, [0, 5], "function"),
        (5, [0, 3], "function"),
        (6, [1], "content"),
    ]
    assert sorted(asked(found["word after"])) == [(3, [1], "function"), (5, [4], "function"), (6, [2], "content")]


def test_a_word_said_twice_in_a_row_followed_itself_and_is_not_asked(asked: Asked) -> None:
    found = Repetition().targets(text_pair(["very", "very", "old"], []))
    assert asked(found["same word"]) == [(0, [1], "untagged"), (1, [0], "untagged")]
    assert asked(found["word after"]) == []


def test_a_word_is_the_same_however_its_accents_are_encoded(asked: Asked) -> None:
    found = Repetition().targets(text_pair(["Caf\u00e9", "ca\u00adfe\u0301"], []))
    assert asked(found["same word"]) == [(0, [1], "untagged"), (1, [0], "untagged")]


@pytest.mark.parametrize("mark", [".", "--", "'"])
def test_punctuation_is_not_asked(mark: str, tree: Callable[..., Sentence]) -> None:
    sentence = tree(f"Sink VERB 0 root _\n{mark} PUNCT 1 punct _\n{mark} PUNCT 1 punct _")
    assert all(len(part) == 0 for part in Repetition().targets(Document("d", (sentence,))).values())


def test_occurrences_in_other_sentences_of_a_window_count(tree: Callable[..., Sentence], asked: Asked) -> None:
    sentence = tree("Ships NOUN 2 nsubj _\nsank VERB 0 root _")
    found = Repetition().targets(Document("d", (sentence, sentence)))
    assert asked(found["word after"]) == [(2, [1], "content"), (3, [2], "content")]
