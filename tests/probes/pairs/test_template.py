import pytest

from probes.grammar import lexicon
from probes.pairs.template import Filled, Template, singular


def filled(template: Template, sentence: str, verb: int) -> Filled:
    found = template.fill(sentence.split(), verb)
    assert found is not None
    return found


PREPOSITIONAL = Template("across a prepositional phrase", "D S P D N V *", "P case N, N nmod S")
RELATIVE = Template("across a subject relative", "D S R v D N V *", "R dep v, N obj v, v acl:relcl S")


@pytest.mark.parametrize(
    ("sentence", "verb"),
    [
        ("the ships near the port sink", 4),  # the port is no verb
        ("the ships that the port sink", 5),  # not by a preposition
        ("ships near the port sink", 4),
        ("the ships near the port", 4),
        ("the ships near the port of Bo sink", 7),
    ],
)
def test_a_sentence_of_another_template_fills_none(sentence: str, verb: int) -> None:
    assert PREPOSITIONAL.fill(sentence.split(), verb) is None


def test_a_document_has_the_arcs_tags_and_numbers_that_agreement_needs() -> None:
    whole = filled(RELATIVE, "the ships that like the wolf are good", 6)
    assert whole.agrees
    document = whole.document("Set", "a:1")
    (sentence,) = document.sentences
    assert (document.id, sentence.id, sentence.kind) == (
        "Set: across a subject relative: ship wolf",
        "a:1",
        RELATIVE.construction,
    )
    assert sentence.heads.tolist() == [-1, 6, 3, 1, -1, 3, -1, -1]
    assert sentence.deprels == ("", "nsubj", "dep", "acl:relcl", "", "obj", "", "")
    assert sentence.upos == ("DET", "NOUN", "PRON", "VERB", "DET", "NOUN", "AUX", "")
    finite = "Mood=Ind|Number=Plur|Person=3|Tense=Pres|VerbForm=Fin"
    assert sentence.feats == ("", "Number=Plur", "PronType=Rel", finite, "", "Number=Sing", finite, "")


def test_singular_and_plural_of_a_noun_have_one_base_form() -> None:
    nouns = (*lexicon.NOUNS, *lexicon.RELATIVES, *lexicon.GENERAL.values())
    assert all(singular(noun.plural) == singular(noun.singular) == noun.singular for noun in nouns)
    assert (singular("zebras"), singular("zebra"), singular("princess")) == ("zebra", "zebra", "princess")
