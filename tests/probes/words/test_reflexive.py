from collections.abc import Callable

import pytest

from probes.grammar import generate
from probes.records import Document, Sentence
from probes.targets import OTHERS
from probes.words.reflexive import Reflexive

Asked = Callable[..., list[tuple[int, list[int], str]]]
Tree = Callable[..., Sentence]
HERSELF = "herself PRON {} obj Gender=Fem|Number=Sing|Person=3|Reflex=Yes"


def test_a_reflexive_and_the_subject_of_its_clause_ask_for_each_other(tree: Tree, asked: Asked) -> None:
    """The girl near boys hurt herself: boys cannot be meant, for their number."""
    text = f"""
        Girls VERB 4 dep _
        girl  NOUN 4 nsubj Number=Sing
        boys  NOUN 2 nmod  Number=Plur
        hurt  VERB 0 root  _
        {HERSELF.format(4)}
    """
    found = Reflexive().targets(Document("d", (tree(text),)))
    assert asked(found["reflexive->subject"]) == [(4, [1], "differing")]
    assert asked(found["among nominals"]) == [(4, [1], "differing")]
    assert asked(found["subject->reflexive"]) == [(1, [4], "differing")]
    assert found["reflexive->subject"].candidates == OTHERS
    assert [part.tolist() for part in found["among nominals"].candidates] == [[1, 2], [0, 0]]


@pytest.mark.parametrize(
    ("other", "label"),
    [
        ("queen NOUN 2 obl Number=Sing", "agreeing"),
        ("queen NOUN 2 obl _", "agreeing"),
        ("queen NOUN 2 obl Gender=Fem|Number=Sing", "agreeing"),
        ("queens NOUN 2 obl Number=Plur", "differing"),
        ("king NOUN 2 obl Gender=Masc|Number=Sing", "differing"),
        ("me PRON 2 obl Number=Sing|Person=1", "differing"),
        ("old ADJ 2 xcomp _", "none"),
    ],
)
def test_the_label_says_whether_another_noun_may_agree(other: str, label: str, tree: Tree, asked: Asked) -> None:
    text = f"She PRON 2 nsubj Gender=Fem|Number=Sing|Person=3\nhurt VERB 0 root _\n{HERSELF.format(2)}\n{other}"
    found = Reflexive().targets(Document("d", (tree(text),)))
    assert asked(found["reflexive->subject"]) == [(2, [0], label)]
    assert len(found["among nominals"]) == (label != "none")


@pytest.mark.parametrize(
    "text",
    [
        f"He PRON 2 nsubj _\ntold VERB 0 root _\nher PRON 2 obj _\nhide VERB 2 xcomp _\n{HERSELF.format(4)}",
        f"He PRON 2 nsubj _\nleft VERB 0 root _\nhiding VERB 2 advcl _\n{HERSELF.format(3)}",
        "She PRON 3 nsubj _\nherself PRON 1 nmod PronType=Emp|Reflex=Yes\nleft VERB 0 root _",
        "Herself PRON 2 nsubj Reflex=Yes\nleft VERB 0 root _",
        f"He PRON 2 nsubj Gender=Masc\nleft VERB 0 root _\n{HERSELF.format(2)}",
        f"Hide VERB 0 root _\n{HERSELF.format(1)}",
    ],
)
def test_where_the_tree_does_not_say_who_is_meant_nothing_is_asked(text: str, tree: Tree) -> None:
    assert all(len(part) == 0 for part in Reflexive().targets(Document("d", (tree(text),))).values())


def test_beside_a_relative_pronoun_its_noun_is_right(tree: Tree, asked: Asked) -> None:
    """Girls like the queen who hurt herself: among nominals the relative pronoun is no candidate."""
    text = f"""
        Girls NOUN 0 root Number=Plur
        queen NOUN 1 nmod Number=Sing
        who   PRON 4 nsubj PronType=Rel
        hurt  VERB 2 acl:relcl _
        {HERSELF.format(4)}
    """
    found = Reflexive().targets(Document("d", (tree(text),)))
    assert asked(found["reflexive->subject"]) == [(4, [1, 2], "differing")]
    assert asked(found["among nominals"]) == [(4, [1], "differing")]
    assert found["among nominals"].candidates[0].tolist() == [0, 1]


def test_the_verb_of_an_infinitive_has_the_subject(tree: Tree, asked: Asked) -> None:
    text = f"She PRON 2 nsubj _\ntried VERB 0 root _\nto PART 4 mark _\nhide VERB 2 xcomp _\n{HERSELF.format(4)}"
    assert asked(Reflexive().targets(Document("d", (tree(text),)))["reflexive->subject"]) == [(4, [0], "none")]


def test_every_conjunct_of_a_subject_is_right(tree: Tree, asked: Asked) -> None:
    text = "Anna PROPN 3 nsubj Number=Sing\nTom PROPN 1 conj Number=Sing\nhid VERB 0 root _\nthemselves PRON 3 obj _"
    found = Reflexive().targets(Document("d", (tree(text),)))
    assert asked(found["reflexive->subject"]) == [(3, [0, 1], "none")]
    assert asked(found["subject->reflexive"]) == [(0, [3], "none"), (1, [3], "none")]


def test_in_the_grammar_a_reflexive_is_the_entity_of_its_subject() -> None:
    """Mentions, which the probe does not read, say whom a reflexive means."""
    right = 0
    for document in generate(100, seed=4, wide=True):
        for sentence in document.split_sentences():
            entities = [(set(mention.words), mention.entity) for mention in sentence.mentions]
            targets = Reflexive().targets(sentence)["reflexive->subject"]
            for item, query in enumerate(targets.query.tolist()):
                gold = set(targets.gold[0][targets.gold[1] == item].tolist())
                (entity,) = (one for words, one in entities if words == {query})
                assert any(one == entity and words & gold for words, one in entities), sentence.words
                right += 1
    assert right > 40
