from collections.abc import Callable

import pytest

from probes.records import Document, Sentence
from probes.syntax.temporal import Temporal

Asked = Callable[..., list[tuple[int, list[int], str]]]


@pytest.mark.parametrize(
    ("time", "label"),
    [
        ("yesterday NOUN 2 obl:unmarked _", "bare"),
        ("Monday PROPN 2 obl:tmod _", "bare"),
        ("Michaelmas PROPN 2 obl:tmod _", "bare"),
        ("harvest NOUN 2 nmod:tmod _", "bare"),
        ("often ADV 2 advmod _", "adverb"),
        ("Soon ADV 2 advmod _", "adverb"),
        ("1999 NUM 2 obl _", "bare"),
    ],
)
def test_a_time_word_and_its_verb_ask_for_each_other(
    time: str, label: str, tree: Callable[..., Sentence], asked: Asked
) -> None:
    found = Temporal().targets(Document("d", (tree(f"Ships NOUN 2 nsubj _\nsank VERB 0 root _\n{time}"),)))
    assert asked(found["predicate->time"]) == [(1, [2], label)]
    assert asked(found["time->predicate"]) == [(2, [1], label)]


def test_a_time_may_follow_a_preposition(tree: Callable[..., Sentence], asked: Asked) -> None:
    text = "Ships NOUN 2 nsubj _\nsank VERB 0 root _\nin ADP 4 case _\nJune PROPN 2 obl _\nagain ADV 2 advmod _"
    found = Temporal().targets(Document("d", (tree(text),)))
    assert asked(found["predicate->time"]) == [(1, [3], "prepositional"), (1, [4], "adverb")]


@pytest.mark.parametrize(
    "other",
    [
        "port NOUN 2 obl _",
        "slowly ADV 2 advmod _",
        "years NOUN 2 obj _",
        "days NOUN 1 nmod _",
        "2100 NUM 2 obl _",
        "1499 NUM 2 obl _",
    ],
)
def test_other_words_and_times_that_modify_no_predicate_are_not_asked(
    other: str, tree: Callable[..., Sentence]
) -> None:
    text = f"Ships NOUN 2 nsubj _\nsank VERB 0 root _\n{other}"
    assert all(len(part) == 0 for part in Temporal().targets(Document("d", (tree(text),))).values())


def test_an_item_counts_by_how_the_time_is_put_and_among_all() -> None:
    assert Temporal().pool("bare") == ("bare", "all")


def test_a_time_word_is_the_object_of_a_preposition_that_is_a_head(tree: Callable[..., Sentence], asked: Asked) -> None:
    text = """
        news NOUN 4 nsubj _
        of ADP 1 prep _
        today NOUN 2 pobj _
        came VERB 0 root _
        in ADP 4 prep _
        2004 NUM 5 pobj _
        yesterday NOUN 4 npadvmod _
    """
    found = Temporal().targets(Document("d", (tree(text),)))
    assert asked(found["predicate->time"]) == [(3, [6], "bare"), (3, [5], "prepositional")]
