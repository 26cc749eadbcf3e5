from collections.abc import Callable, Sequence

import pytest

from probes.records import Document, Mention, Sentence
from probes.targets import OTHERS, Keys, Targets
from probes.words.coreference import (
    ALL_WORDS,
    MENTIONS,
    PRECEDING,
    Coreference,
    anaphors,
    mention_heads,
    mention_kind,
)

Tree = Callable[..., Sentence]

WORDS = """
    Ada    PROPN 2 nsubj _
    met    VERB  0 root  _
    Bo     PROPN 2 obj   _
    and    CCONJ 6 cc    _
    his    PRON  6 nmod:poss _
    aunt   NOUN  3 conj  _
    herself PRON 2 obl   _
"""


def text_of(tree: Tree, *mentions: Mention) -> Document:
    return Document("d", (tree(WORDS, mentions=mentions),))


def by_item(keys: Keys, items: int) -> list[list[int]]:
    return [keys[0][keys[1] == i].tolist() for i in range(items)]


def gold(targets: Targets) -> dict[int, list[int]]:
    return dict(zip(targets.query.tolist(), by_item(targets.gold, len(targets)), strict=True))


def candidates(targets: Targets) -> list[list[int]]:
    assert not isinstance(targets.candidates, str)
    return by_item(targets.candidates, len(targets))


ADA, BO = Mention((0,), 0, "ada"), Mention((2,), 2, "bo")
HIS = Mention((4,), 4, "bo")
HERSELF = Mention((6,), 6, "ada")
AUNT = Mention((4, 5), 5, "aunt")
"A mention in which another one is nested."


def test_every_mention_with_an_antecedent_is_asked_under_every_variant(tree: Tree) -> None:
    found = Coreference().targets(text_of(tree, ADA, BO, HIS, AUNT, HERSELF))
    assert [gold(targets) for targets in found.values()] == [{4: [2], 6: [0]}] * 3
    assert all(list(targets.label) == ["pronoun", "pronoun"] for targets in found.values())


def test_the_candidates_are_what_the_variant_says(tree: Tree) -> None:
    found = Coreference().targets(text_of(tree, ADA, BO, HIS, AUNT, HERSELF))
    assert candidates(found[PRECEDING]) == [[0, 2], [0, 2, 4, 5]]
    assert candidates(found[MENTIONS]) == [[0, 2, 5, 6], [0, 2, 4, 5]]
    assert found[ALL_WORDS].candidates == OTHERS


def test_all_earlier_mentions_of_the_entity_are_antecedents(tree: Tree) -> None:
    document = text_of(tree, ADA, Mention((2,), 2, "ada"), HERSELF)
    assert list(anaphors(document)) == [(2, [0]), (6, [0, 2])]


def test_a_mention_with_the_same_head_is_no_antecedent(tree: Tree) -> None:
    """Two spans of one entity around one head word are one place in the text."""
    document = text_of(tree, Mention((5,), 5, "aunt"), AUNT)
    assert list(anaphors(document)) == []
    assert mention_heads(document) == [5]
    assert all(len(targets) == 0 for targets in Coreference().targets(document).values())


def test_mentions_of_two_entities_with_one_head_are_two_items(tree: Tree) -> None:
    document = text_of(tree, ADA, BO, Mention((6,), 6, "ada"), Mention((5, 6), 6, "bo"))
    assert sorted(anaphors(document)) == [(6, [0]), (6, [2])]
    assert candidates(Coreference().targets(document)[PRECEDING]) == [[0, 2]] * 2


def test_an_antecedent_with_two_spans_around_one_head_counts_once(tree: Tree) -> None:
    document = text_of(tree, ADA, Mention((0, 1), 0, "ada"), HERSELF)
    assert list(anaphors(document)) == [(6, [0])]


def test_an_antecedent_is_nested_in_a_later_mention_or_holds_an_earlier_one(tree: Tree) -> None:
    """The whole of "Bo and his aunt" is headed by Bo, before the pronoun within."""
    document = text_of(tree, Mention((2, 3, 4, 5), 2, "pair"), HIS, Mention((6,), 6, "pair"))
    assert list(anaphors(document)) == [(6, [2])]
    assert candidates(Coreference().targets(document)[PRECEDING]) == [[2, 4]]


def test_in_cataphora_the_later_word_is_asked_for_the_earlier_pronoun(tree: Tree) -> None:
    sentence = tree(
        """
        She  PRON  2 nsubj _
        sank VERB  5 advcl _
        ,    PUNCT 5 punct _
        Ada  PROPN 5 nsubj _
        said VERB  0 root  _
    """,
        mentions=[Mention((0,), 0, "a"), Mention((3,), 3, "a")],
    )
    found = Coreference().targets(Document("d", (sentence,)))
    assert gold(found[PRECEDING]) == {3: [0]}
    assert list(found[PRECEDING].label) == ["proper"]


@pytest.mark.parametrize("mentions", [[], [ADA], [ADA, BO, AUNT]])
def test_a_text_without_antecedents_is_not_asked(mentions: Sequence[Mention], tree: Tree) -> None:
    found = Coreference().targets(text_of(tree, *mentions))
    assert set(found) == set(Coreference.variants)
    assert all(len(targets) == 0 for targets in found.values())


def test_antecedents_are_found_across_the_sentences_of_a_window(tree: Tree) -> None:
    sentence = tree("Ada PROPN 2 nsubj _\nsank VERB 0 root _", mentions=[Mention((0,), 0, "a")])
    found = Coreference().targets(Document("d", (sentence, sentence, sentence)))
    assert gold(found[PRECEDING]) == {2: [0], 4: [0, 2]}


def test_a_mention_of_words_apart_is_its_head(tree: Tree) -> None:
    document = text_of(tree, ADA, Mention((0, 2, 6), 6, "ada"))
    assert list(anaphors(document)) == [(6, [0])]


@pytest.mark.parametrize(
    ("upos", "kind"),
    [("PRON", "pronoun"), ("PROPN", "proper"), ("NOUN", "nominal"), ("VERB", "nominal"), ("", "nominal")],
)
def test_the_kind_of_a_mention_follows_its_head(upos: str, kind: str) -> None:
    assert mention_kind(upos) == kind
    assert list(Coreference().pool(kind)) == [kind, "all"]
