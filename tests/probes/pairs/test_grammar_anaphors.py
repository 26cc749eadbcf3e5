from collections.abc import Callable
from itertools import islice

import pytest

from probes.grammar.phrases import PRONOUNS
from probes.minimal_pairs import Kind, MinimalPair
from probes.pairs.grammar_anaphors import pronoun_corpus, pronoun_pairs, readings, reflexive_corpus, reflexive_pairs
from probes.records import Document, Mention, Sentence

Tree = Callable[..., Sentence]

MAN, WOMAN = "Animacy=Hum|Gender=Masc|Number=Sing", "Animacy=Hum|Gender=Fem|Number=Sing"
SOMEBODY, PEOPLE, THING = "Animacy=Hum|Number=Sing", "Animacy=Hum|Number=Plur", "Animacy=Inan|Number=Sing"
SHE, HER = "Case=Nom|Gender=Fem|Number=Sing|PronType=Prs", "Case=Acc|Gender=Fem|Number=Sing|PronType=Prs"
SEES = "Mood=Ind|Number=Sing|Person=3|Tense=Pres|VerbForm=Fin"


def forms(pairs: list[MinimalPair]) -> dict[tuple[str, str], tuple[str, int | None, str]]:
    """Return (right form, wrong form) -> condition, attractors and number of each pair."""
    found = {}
    for pair in pairs:
        ((right, wrong),) = [(one, other) for one, other in zip(pair.good, pair.bad, strict=True) if one != other]
        found[right, wrong] = (pair.kind.condition, pair.kind.attractors, pair.kind.number)
    assert len(found) == len(pairs)
    return found


def reflexive(tree: Tree, subject: str, feats: str, other: str) -> Document:
    """Return "The SUBJECT near the rower sees FORM ." where the rower is as `other` says."""
    form = "themselves" if feats == PEOPLE else "herself"
    own = "Number=Plur" if feats == PEOPLE else "Gender=Fem|Number=Sing"
    text = f"""The DET 2 det _
{subject} NOUN 6 nsubj {feats}
near ADP 5 case _
the DET 5 det _
rower NOUN 2 nmod {other}
sees VERB 0 root {SEES}
{form} PRON 6 obj Case=Acc|{own}|PronType=Prs|Reflex=Yes"""
    mentions = (Mention((0, 1, 2, 3, 4), 1, "e1"), Mention((3, 4), 4, "e2"), Mention((6,), 6, "e1"))
    return Document("d", (tree(text, mentions=mentions),))


def test_a_reflexive_is_wrong_where_the_subject_cannot_be_called_so_whatever_stands_between(tree: Tree) -> None:
    pairs = list(reflexive_pairs(reflexive(tree, "nun", WOMAN, MAN)))
    assert forms(pairs) == {
        ("herself", "himself"): ("gender", 1, "singular"),
        ("herself", "itself"): ("animacy", 0, "singular"),
        ("herself", "themselves"): ("number", 0, "singular"),
    }
    assert {pair.source for pair in pairs} == {"d"}
    assert pairs[0].kind == Kind("reflexive", "gender", 1, "singular", "reflexives")


def test_an_entity_between_that_may_be_he_or_she_attracts_to_both(tree: Tree) -> None:
    found = forms(list(reflexive_pairs(reflexive(tree, "poets", PEOPLE, SOMEBODY))))
    assert {wrong: attractors for (_, wrong), (_, attractors, _) in found.items()} == {
        "himself": 1,
        "herself": 1,
        "itself": 0,
    }
    assert {number for _, _, number in found.values()} == {"plural"}


def seen(tree: Tree, *, cast: dict[str, tuple[str, str]], again: str = "", verb: str = "VerbForm=Fin") -> Document:
    """Return a document "WORD waited ." for each of the cast, then "She waited ." (and `again`) about the entity e1."""
    sentences = []
    for entity, (word, feats) in cast.items():
        text = f"{word} NOUN 2 nsubj {feats}\nwaited VERB 0 root VerbForm=Fin\n. PUNCT 2 punct _"
        sentences.append(tree(text, mentions=(Mention((0,), 0, entity),)))
    text = f"She PRON 2 nsubj {SHE}\nwaited VERB 0 root {verb}\n"
    mentions = [Mention((0,), 0, "e1")]
    if again:
        mentions.append(Mention((2,), 2, again))
    last = tree(text + f"{'for' if not again else 'her'} PRON 2 obj {HER}", mentions=mentions)
    return Document("d", (*sentences, last))


def test_a_pronoun_is_wrong_where_no_entity_of_the_text_can_be_meant(tree: Tree) -> None:
    pairs = list(pronoun_pairs(seen(tree, cast={"e1": ("nun", WOMAN)})))
    assert forms(pairs) == {
        ("She", "He"): ("gender, antecedent in the sentence before", None, "singular"),
        ("She", "It"): ("animacy, antecedent in the sentence before", None, "singular"),
        ("She", "They"): ("number, antecedent in the sentence before", None, "singular"),
    }
    assert pairs[0].kind.phenomenon == "pronoun choice"


@pytest.mark.parametrize(
    ("other", "wrong"),
    [(MAN, {"It"}), (SOMEBODY, {"It"}), (PEOPLE, {"He", "It"}), (THING, {"He"}), ("Animacy=Anim|Number=Sing", set())],
)
def test_whatever_may_mean_another_entity_and_them_for_two_is_not_wrong(
    tree: Tree, other: str, wrong: set[str]
) -> None:
    cast = {"e1": ("nun", WOMAN), "e2": ("rower", other)}
    found = forms(list(pronoun_pairs(seen(tree, cast=cast))))
    assert {form for _, form in found} == wrong
    assert all(condition.endswith("farther back") for condition, _, _ in found.values())


def test_only_the_last_mention_of_an_entity_is_asked(tree: Tree) -> None:
    pairs = list(pronoun_pairs(seen(tree, cast={"e1": ("nun", WOMAN)}, again="e1")))
    assert {right for right, _ in forms(pairs)} == {"her"}
    assert {wrong for _, wrong in forms(pairs)} == {"him", "it", "them"}, "in the case of the right one"


def test_people_named_together_are_they_and_a_later_word_may_tell_the_gender(tree: Tree) -> None:
    text = f"""Ada PROPN 4 nsubj {WOMAN}
and CCONJ 3 cc _
poets NOUN 1 conj {PEOPLE}
met VERB 0 root VerbForm=Fin
poet NOUN 4 obj {SOMEBODY}
she PRON 4 dep {SHE}"""
    phrases = Mention((0,), 0, "e1"), Mention((2,), 2, "e2"), Mention((0, 1, 2), 0, "e3"), Mention((4,), 4, "e4")
    document = Document("d", (tree(text, mentions=(*phrases, Mention((5,), 5, "e4"))),))
    they, she = frozenset(("they",)), frozenset(("she",))
    assert readings(document) == {"e1": she, "e2": they, "e3": they, "e4": she}
    assert readings(document, document.mentions[-1])["e4"] == frozenset(("he", "she", "they"))


CASES = {
    form: {kind for kind, forms in PRONOUNS.items() if form in forms} for forms in PRONOUNS.values() for form in forms
}


@pytest.mark.parametrize("corpus", [reflexive_corpus, pronoun_corpus])
def test_pairs_of_the_grammar_differ_in_one_word_and_the_seed_decides_all(corpus: Callable[..., object]) -> None:
    one, same, other = (list(islice(corpus(seed), 12)) for seed in (5, 5, 6))
    assert one == same != other
    for pair in one:
        ((right, wrong),) = forms([pair])
        assert CASES[right.lower()].isdisjoint(CASES[wrong.lower()])
        assert right[0].isupper() == wrong[0].isupper()


def test_a_verb_that_shows_number_leaves_number_unasked(tree: Tree) -> None:
    found = forms(list(pronoun_pairs(seen(tree, cast={"e1": ("nun", WOMAN)}, verb=SEES))))
    assert {wrong for _, wrong in found} == {"He", "It"}


def test_its_is_no_wrong_form(tree: Tree) -> None:
    own = "Case=Gen|Gender=Fem|Number=Sing|Poss=Yes|PronType=Prs"
    text = f"""nun NOUN 2 nsubj {WOMAN}
held VERB 0 root VerbForm=Fin
her PRON 4 nmod:poss {own}
hats NOUN 2 obj Number=Plur"""
    document = Document("d", (tree(text, mentions=(Mention((0,), 0, "e1"), Mention((2,), 2, "e1"))),))
    assert forms(list(pronoun_pairs(document))) == {
        ("her", "his"): ("gender, antecedent in the sentence", None, "singular"),
        ("her", "their"): ("number, antecedent in the sentence", None, "singular"),
    }
