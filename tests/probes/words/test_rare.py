from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from probes.corpora.conllu import CorpusError
from probes.records import Document, Sentence
from probes.words.rare import LIST, Rare, word_counts

Asked = Callable[..., list[tuple[int, list[int], str]]]
COUNTS = {"the": 900, "old": 70, "ship": 20, "sank": 3, "'t": 800}


def text(words: str) -> Document:
    forms = tuple(words.split())
    return Document("d", (Sentence("s", forms, np.full(len(forms), -1), ("",) * len(forms)),))


def found(asked: Asked, words: str, label: str) -> list[tuple[int, list[int]]]:
    return [(q, gold) for q, gold, name in asked(Rare(COUNTS).targets(text(words))["other words"]) if name == label]


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


def test_where_all_other_words_are_right_nothing_is_asked(asked: Asked) -> None:
    assert found(asked, "old ship sank", "two rarest") == []
    assert found(asked, "Zog Yb Xu", "rarest") == []
    assert found(asked, ". . .", "rarest") == []


@pytest.mark.parametrize("line", ["ship", "ship many", "ship 3.5", " 3"])
def test_a_line_that_is_no_count_is_refused_with_its_place(line: str, tmp_path: Path) -> None:
    path = tmp_path / LIST
    path.parent.mkdir()
    path.write_text(f"the 900\n{line}\n", encoding="utf-8")
    with pytest.raises(CorpusError, match=rf"^{path}:2: expected a word, a blank and its count, got '"):
        word_counts(path)
