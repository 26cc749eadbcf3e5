from collections.abc import Callable

import pytest

from probes.records import Document, Sentence
from probes.syntax.coordination import Coordination

Asked = Callable[..., list[tuple[int, list[int], str]]]


def test_the_nearest_conjunct_is_right_not_the_first(tree: Callable[..., Sentence], asked: Asked) -> None:
    """Ships, boats and trains sank: the tree attaches trains to ships."""
    text = """
        Ships  NOUN  6 nsubj _
        ,      PUNCT 3 punct _
        boats  NOUN  1 conj  _
        and    CCONJ 5 cc    _
        trains NOUN  1 conj  _
        sank   VERB  0 root  _
    """
    found = Coordination().targets(Document("d", (tree(text),)))
    assert asked(found["conjunct->conjunct before"]) == [(2, [0], "noun"), (4, [2], "noun later")]
    assert asked(found["conjunct->conjunct after"]) == [(0, [2], "noun"), (2, [4], "noun later")]
    assert len(found["verb->shared subject"]) == 0


def test_conjoined_verbs_share_the_subject_of_the_first(tree: Callable[..., Sentence], asked: Asked) -> None:
    text = "Ships NOUN 2 nsubj _\nturned VERB 0 root _\nburned VERB 2 conj _\nsank VERB 2 conj _"
    found = Coordination().targets(Document("d", (tree(text),)))
    assert asked(found["verb->shared subject"]) == [(2, [0], "all"), (3, [0], "all")]
    assert asked(found["subject->conjoined verb"]) == [(0, [2, 3], "all")]


@pytest.mark.parametrize("own", ["it PRON 4 nsubj _", "there PRON 4 expl _", "this PRON 4 csubj _"])
def test_a_verb_with_a_subject_of_its_own_shares_none(own: str, tree: Callable[..., Sentence]) -> None:
    text = f"Ships NOUN 2 nsubj _\nturned VERB 0 root _\n{own}\nsank VERB 2 conj _"
    found = Coordination().targets(Document("d", (tree(text),)))
    assert len(found["verb->shared subject"]) == 0
    assert len(found["conjunct->conjunct before"]) == 1


def test_adjectives_share_no_subject_and_are_other(tree: Callable[..., Sentence], asked: Asked) -> None:
    text = "Ships NOUN 3 nsubj _\nare AUX 3 cop _\nold ADJ 0 root _\nsmall ADJ 3 conj _"
    found = Coordination().targets(Document("d", (tree(text),)))
    assert asked(found["conjunct->conjunct before"]) == [(3, [2], "other")]
    assert len(found["verb->shared subject"]) == 0


@pytest.mark.parametrize(
    ("label", "pool"),
    [("noun", ("noun", "all")), ("verb later", ("verb", "later", "all")), ("all", ("all",))],
)
def test_labels_count_by_their_parts(label: str, pool: tuple[str, ...]) -> None:
    assert Coordination().pool(label) == pool
