from collections.abc import Callable

import pytest

from probes.records import Document, Sentence
from probes.syntax.clause import Clause

Asked = Callable[..., list[tuple[int, list[int], str]]]


@pytest.mark.parametrize("feats", ["PronType=Rel", "_"])
@pytest.mark.parametrize(("deprel", "label"), [("nsubj:pass", "subject"), ("obj", "object"), ("obl", "other")])
def test_a_relative_pronoun_and_its_noun_ask_for_each_other(
    deprel: str, label: str, feats: str, tree: Callable[..., Sentence], asked: Asked
) -> None:
    text = f"Ships NOUN 4 nsubj _\nthat PRON 3 {deprel} {feats}\nsank VERB 1 acl:relcl _\nburned VERB 0 root _"
    found = Clause().targets(Document("d", (tree(text),)))
    assert asked(found["relative pronoun->noun"]) == [(1, [0], label)]
    assert asked(found["noun->relative pronoun"]) == [(0, [1], label)]


def test_a_pronoun_of_a_clause_inside_stands_for_the_noun_of_the_relative_clause(
    tree: Callable[..., Sentence], asked: Asked
) -> None:
    """Ships that I think sank."""
    text = """
        Ships NOUN 0 root      _
        that  PRON 5 nsubj     PronType=Rel
        I     PRON 4 nsubj     PronType=Prs
        think VERB 1 acl:relcl _
        sank  VERB 4 ccomp     _
    """
    found = Clause().targets(Document("d", (tree(text),)))
    assert asked(found["relative pronoun->noun"]) == [(1, [0], "subject")]
    assert asked(found["matrix->embedded"]) == [(3, [4], "bare")]
    assert asked(found["embedded->matrix"]) == [(4, [3], "bare")]


@pytest.mark.parametrize(
    "text",
    [
        "What PRON 4 nsubj PronType=Rel\nshe PRON 3 nsubj _\nsaw VERB 1 acl:relcl _\nsank VERB 0 root _",
        "Ships NOUN 2 nsubj _\nsank VERB 0 root _\nwhich PRON 4 nsubj PronType=Rel\nhurt VERB 2 advcl:relcl _",
        "Ships NOUN 4 nsubj _\nthat SCONJ 3 mark _\nsank VERB 1 acl _\nburned VERB 0 root _",
        "That PRON 2 nsubj PronType=Dem\nsank VERB 0 root _",
    ],
)
def test_free_relatives_whole_clauses_and_other_pronouns_have_no_noun(text: str, tree: Callable[..., Sentence]) -> None:
    assert len(Clause().targets(Document("d", (tree(text),)))["relative pronoun->noun"]) == 0


def test_a_marker_and_the_verb_above_ask_for_each_other(tree: Callable[..., Sentence], asked: Asked) -> None:
    """She said that ships sank because it rained."""
    text = """
        She     PRON  2 nsubj _
        said    VERB  0 root  _
        that    SCONJ 5 mark  _
        ships   NOUN  5 nsubj _
        sank    VERB  2 ccomp _
        because SCONJ 8 mark  _
        it      PRON  8 nsubj _
        rained  VERB  5 advcl _
    """
    found = Clause().targets(Document("d", (tree(text),)))
    assert asked(found["marker->matrix"]) == [(2, [1], "ccomp"), (5, [4], "advcl")]
    assert asked(found["matrix->marker"]) == [(1, [2], "ccomp"), (4, [5], "advcl")]
    assert asked(found["matrix->embedded"]) == [(1, [4], "marked"), (4, [7], "marked")]
    assert asked(found["embedded->matrix"]) == [(4, [1], "marked"), (7, [4], "marked")]


def test_an_item_counts_by_its_label_and_among_all() -> None:
    assert Clause().pool("marked") == ("marked", "all")
