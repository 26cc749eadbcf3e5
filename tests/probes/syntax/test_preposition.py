from collections.abc import Callable

from probes.records import Document, Sentence
from probes.syntax.preposition import Preposition

Asked = Callable[..., list[tuple[int, list[int], str]]]


def test_a_verb_its_preposition_and_the_object(tree: Callable[..., Sentence], asked: Asked) -> None:
    text = "She PRON 2 nsubj _\nwalked VERB 0 root _\non ADP 4 case _\nstreets NOUN 2 obl _"
    found = Preposition().targets(Document("d", (tree(text),)))
    assert {variant: asked(targets) for variant, targets in found.items()} == {
        "preposition->object": [(2, [3], "verb")],
        "object->preposition": [(3, [2], "verb")],
        "governor->preposition": [(1, [2], "verb")],
        "preposition->governor": [(2, [1], "verb")],
    }


def test_the_label_says_what_governs_and_a_governor_has_several_prepositions(
    tree: Callable[..., Sentence], asked: Asked
) -> None:
    text = """
        Ships  NOUN 6 nsubj _
        of     ADP  3 case  _
        kings  NOUN 1 nmod  _
        from   ADP  5 case  _
        Rome   PROPN 1 nmod _
        afraid ADJ  0 root  _
        of     ADP  8 case  _
        rain   NOUN 6 obl   _
    """
    found = Preposition().targets(Document("d", (tree(text),)))
    assert asked(found["governor->preposition"]) == [(0, [1, 3], "noun"), (5, [6], "other")]
    assert asked(found["preposition->governor"]) == [(1, [0], "noun"), (3, [0], "noun"), (6, [5], "other")]
    assert asked(found["preposition->object"]) == [(1, [2], "noun"), (3, [4], "noun"), (6, [7], "other")]


def test_a_possessive_s_and_the_preposition_of_a_predicate_are_none(tree: Callable[..., Sentence]) -> None:
    text = """
        Mary   PROPN 3 nmod:poss _
        's     PART  1 case _
        ship   NOUN  5 nsubj _
        in     ADP   5 case _
        port   NOUN  0 root _
    """
    assert all(len(part) == 0 for part in Preposition().targets(Document("d", (tree(text),))).values())


def test_an_item_counts_by_what_governs_and_among_all() -> None:
    assert Preposition().pool("noun") == ("noun", "all")


def test_a_preposition_that_is_a_head_has_the_same_object_and_governor(
    tree: Callable[..., Sentence], asked: Asked
) -> None:
    text = """
        She PRON 2 nsubj _
        walked VERB 0 root _
        on ADP 2 prep _
        streets NOUN 3 pobj _
        of ADP 4 prep _
        X PROPN 5 pobj _
    """
    found = Preposition().targets(Document("d", (tree(text),)))
    assert asked(found["preposition->object"]) == [(2, [3], "verb"), (4, [5], "noun")]
    assert asked(found["preposition->governor"]) == [(2, [1], "verb"), (4, [3], "noun")]
