from collections.abc import Callable

import pytest

from probes.records import Document, Sentence
from probes.syntax.negation import Negation
from probes.targets import OTHERS

Asked = Callable[..., list[tuple[int, list[int], str]]]


def sentence_of(tree: Callable[..., Sentence], text: str) -> Document:
    return Document("d", (tree(text),))


def test_a_negated_verb_its_negation_and_its_auxiliary_ask_for_each_other(
    tree: Callable[..., Sentence], asked: Asked
) -> None:
    text = """
        She    PRON 4 nsubj  _
        did    AUX  4 aux    _
        n't    PART 4 advmod Polarity=Neg
        cross  VERB 0 root   _
        yet    ADV  4 advmod _
    """
    found = Negation().targets(sentence_of(tree, text))
    assert {variant: asked(targets) for variant, targets in found.items()} == {
        "negated->negation": [(3, [2], "verb n't")],
        "negation->negated": [(2, [3], "verb n't")],
        "auxiliary->predicate": [(1, [3], "negated")],
        "predicate->auxiliary": [(3, [1], "negated")],
    }
    assert {targets.candidates for targets in found.values()} == {OTHERS}


def test_auxiliaries_of_a_plain_verb_are_plain_and_either_is_right(tree: Callable[..., Sentence], asked: Asked) -> None:
    text = "It PRON 4 nsubj:pass _\nhas AUX 4 aux _\nbeen AUX 4 aux:pass _\nsunk VERB 0 root _"
    found = Negation().targets(sentence_of(tree, text))
    assert asked(found["predicate->auxiliary"]) == [(3, [1, 2], "plain")]
    assert asked(found["auxiliary->predicate"]) == [(1, [3], "plain"), (2, [3], "plain")]
    assert asked(found["negated->negation"]) == []


@pytest.mark.parametrize(
    ("text", "item"),
    [
        ("Ships NOUN 4 nsubj _\nare AUX 4 cop _\nnot PART 4 advmod _\nold ADJ 0 root _", (3, [2], "predicate not")),
        ("No DET 2 det PronType=Neg\nships NOUN 3 nsubj _\nsank VERB 0 root _", (1, [0], "phrase no")),
        ("Ships NOUN 3 nsubj _\nnever ADV 3 advmod _\nsank VERB 0 root _", (2, [1], "verb never")),
        ("Kein DET 2 det PronType=Neg\nSchiff NOUN 3 nsubj _\nsank VERB 0 root _", (1, [0], "phrase another")),
    ],
)
def test_the_label_says_what_is_negated_and_by_which_word(
    text: str, item: tuple[int, list[int], str], tree: Callable[..., Sentence], asked: Asked
) -> None:
    assert asked(Negation().targets(sentence_of(tree, text))["negated->negation"]) == [item]


def test_a_negative_pronoun_and_an_answer_negate_no_word_of_their_own(tree: Callable[..., Sentence]) -> None:
    text = "No INTJ 3 discourse Polarity=Neg\nnothing PRON 3 nsubj PronType=Neg\nsank VERB 0 root _"
    assert len(Negation().targets(sentence_of(tree, text))["negated->negation"]) == 0


def test_a_word_that_is_negated_twice_has_two_right_answers(tree: Callable[..., Sentence], asked: Asked) -> None:
    text = "Never ADV 3 advmod _\nnever ADV 3 advmod _\nsink VERB 0 root _"
    assert asked(Negation().targets(sentence_of(tree, text))["negated->negation"]) == [(2, [0, 1], "verb never")]


def test_labels_count_by_their_parts() -> None:
    assert Negation().pool("verb n't") == ("verb", "n't", "all")
    assert Negation().pool("plain") == ("plain", "all")
