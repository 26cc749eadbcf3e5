from collections.abc import Callable

import pytest

from probes.records import Document, Sentence
from probes.syntax.dependency import Dependency
from probes.targets import OTHERS, Targets

Item = tuple[int, list[int], str]
"Query, gold keys and label."


def asked(targets: Targets) -> list[Item]:
    gold = [targets.gold[0][targets.gold[1] == i].tolist() for i in range(len(targets))]
    return list(zip(targets.query.tolist(), gold, targets.label, strict=True))


@pytest.fixture
def document(tree: Callable[..., Sentence]) -> Document:
    """A sentence whose root has two punctuation marks and a subject with two adjectives."""
    sentence = tree("""
        Old    ADJ   3 amod  _
        red    ADJ   3 amod  _
        ships  NOUN  5 nsubj _
        ,      PUNCT 5 punct _
        sank   VERB  0 root  _
        .      PUNCT 5 punct _
    """)
    return Document("d", (sentence,))


ARCS = [(0, [2], "amod"), (1, [2], "amod"), (2, [4], "nsubj"), (3, [4], "punct"), (5, [4], "punct")]


def test_a_dependent_is_asked_for_its_head_and_the_root_is_not_asked(document: Document) -> None:
    targets = Dependency().targets(document)["dependent->head"]
    assert asked(targets) == ARCS
    assert (targets.candidates, targets.by_column) == (OTHERS, False)


def test_columns_ask_for_the_same_arcs(document: Document) -> None:
    targets = Dependency().targets(document)["head<-dependent"]
    assert asked(targets) == ARCS
    assert (targets.candidates, targets.by_column) == (OTHERS, True)


def test_a_head_is_asked_once_a_label_and_any_of_those_dependents_is_right(document: Document) -> None:
    targets = Dependency().targets(document)["head->dependent"]
    assert asked(targets) == [(2, [0, 1], "amod"), (4, [2], "nsubj"), (4, [3, 5], "punct")]
    assert (targets.candidates, targets.by_column) == (OTHERS, False)


def test_a_word_without_dependents_or_head_is_not_asked(tree: Callable[..., Sentence]) -> None:
    alone = Document("d", (tree("Ships NOUN 0 root _"),))
    assert all(len(targets) == 0 for targets in Dependency().targets(alone).values())


def test_a_corpus_without_trees_has_no_arcs(tree: Callable[..., Sentence]) -> None:
    flat = Document("d", (tree("Ships NOUN 0 _ _\nsank VERB 0 _ _"),))
    assert all(len(targets) == 0 for targets in Dependency().targets(flat).values())


def test_arcs_of_later_sentences_are_moved(tree: Callable[..., Sentence]) -> None:
    sentence = tree("Ships NOUN 2 nsubj _\nsank VERB 0 root _")
    targets = Dependency().targets(Document("d", (sentence, sentence)))["dependent->head"]
    assert asked(targets) == [(0, [1], "nsubj"), (2, [3], "nsubj")]


@pytest.mark.parametrize(
    ("label", "pool"),
    [("nsubj:pass", ["nsubj:pass", "nsubj:*", "all"]), ("obj", ["obj", "obj:*", "all"]), ("", ["all"])],
)
def test_a_relation_counts_as_itself_with_its_subtypes_and_among_all(label: str, pool: list[str]) -> None:
    assert list(Dependency().pool(label)) == pool
