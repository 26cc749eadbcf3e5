from collections import Counter
from collections.abc import Callable
from itertools import islice

import pytest

from probes.grammar import generate
from probes.minimal_pairs import MinimalPair
from probes.pairs.grammar_pairs import grammar_pairs, other_number, verb_questions
from probes.records import Document, Sentence
from probes.syntax.agreement import agreements


@pytest.fixture(scope="module")
def pairs() -> list[MinimalPair]:
    return list(islice(grammar_pairs(3), 800))


def test_every_pair_differs_in_its_verb_alone(pairs: list[MinimalPair]) -> None:
    for pair in pairs:
        changed = [(one, other) for one, other in zip(pair.good, pair.bad, strict=True) if one != other]
        assert len(changed) == 1
        (right, wrong), number = changed[0], pair.kind.number
        assert wrong == other_number(right, plural=number == "plural")
        assert other_number(wrong, plural=number == "singular") == right
        assert (right.lower().endswith("s"), wrong.lower().endswith("s")) == (
            (True, False) if number == "singular" else (False, True)
        )


def test_right_sentences_are_those_of_the_grammar_once_for_each_verb_that_shows_number(
    pairs: list[MinimalPair],
) -> None:
    expected = Counter()
    for document in generate(60, 3):
        for sentence in document.split_sentences():
            for found in agreements(sentence):
                expected[document.id, sentence.words, found.verb] += 1
    seen = Counter()
    for pair in pairs:
        verb = next(i for i, (one, other) in enumerate(zip(pair.good, pair.bad, strict=True)) if one != other)
        seen[pair.source, pair.good, verb] += 1
    assert len(expected) > 300
    assert expected.items() <= seen.items()


def test_attractors_and_conditions_are_told(pairs: list[MinimalPair]) -> None:
    attractors = Counter(pair.kind.attractors for pair in pairs)
    assert min(attractors[0], attractors[1], attractors[2], attractors[None]) > 10
    conditions = Counter(pair.kind.condition for pair in pairs)
    assert set(conditions) == {
        *("main clause", "relative clause", "adverbial clause", "complement clause"),
        *("question", "coordinated subject"),
    }
    for pair in pairs:
        assert (pair.kind.attractors is None) == (pair.kind.condition == "coordinated subject")
        if pair.kind.condition == "question":
            assert pair.good[-1] == "?"


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
