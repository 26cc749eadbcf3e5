from collections.abc import Callable

import pytest

from probes.pairs.verb_number import verb_questions
from probes.records import Document, Sentence

Tree = Callable[..., Sentence]


@pytest.fixture
def ask(tree: Tree) -> Callable[[str], list[tuple[str, ...]]]:
    return lambda text: list(verb_questions(Document("d", (tree(text),))))


MAIN = """
the      DET  2 det     _
key      NOUN 7 nsubj   Number=Sing
that     PRON 5 obj     _
sailors  NOUN 5 nsubj   Number=Plur
find     VERB 2 acl     Number=Plur|Tense=Pres|VerbForm=Fin
often    ADV  7 advmod  _
opens    VERB 0 root    Number=Sing|Tense=Pres|VerbForm=Fin
"""


def test_each_verb_that_shows_number_is_asked_about_with_all_words_before_it(ask: Callable[[str], object]) -> None:
    assert ask(MAIN) == [
        ("plural", "the", "key", "that", "sailors"),
        ("singular", "the", "key", "that", "sailors", "find", "often"),
    ]


def test_a_verb_before_its_subject_and_one_without_number_are_not_asked_about(ask: Callable[[str], object]) -> None:
    question = "are AUX 3 cop Number=Plur|Tense=Pres|VerbForm=Fin\nthey PRON 3 nsubj Number=Plur\nold ADJ 0 root _"
    assert ask(question) == []
    past = "they PRON 2 nsubj Number=Plur\nsank VERB 0 root Tense=Past|VerbForm=Fin"
    assert ask(past) == []
    silent = "they PRON 2 nsubj Number=Plur\nsink VERB 0 root Tense=Pres|VerbForm=Fin"
    assert ask(silent) == []
