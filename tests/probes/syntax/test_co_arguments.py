from collections.abc import Callable

from probes.records import Document, Sentence
from probes.syntax.co_arguments import CoArguments

Asked = Callable[..., list[tuple[int, list[int], str]]]


def test_an_object_and_an_oblique_ask_for_each_other_but_times_are_no_arguments(
    tree: Callable[..., Sentence], asked: Asked
) -> None:
    """Borrow loans from banks on Monday."""
    text = """
        Borrow VERB 0 root _
        loans  NOUN 1 obj  _
        from   ADP  4 case _
        banks  NOUN 1 obl  _
        on     ADP  6 case _
        Monday PROPN 1 obl _
    """
    found = CoArguments().targets(Document("d", (tree(text),)))
    assert asked(found["object->second argument"]) == [(1, [3], "oblique")]
    assert asked(found["second argument->object"]) == [(3, [1], "oblique")]


def test_an_indirect_object_is_a_second_argument(tree: Callable[..., Sentence], asked: Asked) -> None:
    text = "Give VERB 0 root _\nher PRON 1 iobj _\ncoins NOUN 1 obj _\nto ADP 5 case _\nkings NOUN 1 obl _"
    found = CoArguments().targets(Document("d", (tree(text),)))
    assert asked(found["object->second argument"]) == [(2, [1], "indirect"), (2, [4], "oblique")]


def test_an_oblique_without_preposition_or_without_object_is_not_asked(tree: Callable[..., Sentence]) -> None:
    for text in (
        "Run VERB 0 root _\nmiles NOUN 1 obl:unmarked _\nraces NOUN 1 obj _",
        "Run VERB 0 root _\nto ADP 3 case _\nbanks NOUN 1 obl _",
        "Run VERB 0 root _\nraces NOUN 1 obj _\nfor ADP 4 case _\nbanks NOUN 2 nmod _",
    ):
        assert all(len(part) == 0 for part in CoArguments().targets(Document("d", (tree(text),))).values())


def test_an_item_counts_by_its_kind_and_among_all() -> None:
    assert CoArguments().pool("oblique") == ("oblique", "all")


def test_the_object_of_a_preposition_that_is_a_head_is_a_second_argument(
    tree: Callable[..., Sentence], asked: Asked
) -> None:
    text = """
        gave VERB 0 root _
        coins NOUN 1 obj _
        to ADP 1 dative _
        Ann PROPN 3 pobj _
        in ADP 1 prep _
        2004 NUM 5 pobj _
    """
    found = CoArguments().targets(Document("d", (tree(text),)))
    assert asked(found["object->second argument"]) == [(1, [3], "oblique")]
