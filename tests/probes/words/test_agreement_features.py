"""Person, number and gender of words and mentions: from forms, morphology, titles and coordination."""

import numpy as np
import pytest

from probes import Document, Sentence
from probes.words.agreement_features import Features, features, of_mention, of_referent

SING, PLUR = "Number=Sing", "Number=Plur"


def text(*rows: tuple[str, str, str, int, str]) -> Document:
    """A sentence of (form, part of speech, morphology, head, relation)."""
    forms, upos, feats, heads, deprels = zip(*rows, strict=True)
    return Document("d", (Sentence("s", forms, np.array(heads), deprels, upos, feats),))


def test_features_are_those_of_forms_morphology_and_titles() -> None:
    assert features("Her", "PRON", "") == Features("3", "Sing", "Fem")
    assert features("you", "PRON", "") == Features("2", "", "")
    assert features("queens", "NOUN", PLUR) == Features("3", "Plur", "Fem")
    assert features("who", "PRON", "PronType=Rel") == Features("", "", "")
    couple = text(
        ("Mrs.", "PROPN", SING, 1, "compound"), ("Bo", "PROPN", SING, -1, "root"), ("Ed", "PROPN", SING, 1, "conj")
    )
    assert of_mention(couple, 1, (0, 1)) == Features("3", "Sing", "Fem")
    assert of_mention(couple, 1, (0, 1, 2)).number == "Plur"
    assert not Features("1", "Sing", "").fits(Features("3", "Sing", ""))
    assert Features("", "Sing", "Fem").fits(Features("3", "", "Fem"))


def possessed(*words: str, last: str = "NOUN") -> tuple[Document, tuple[int, ...]]:
    """A possessor, perhaps with 's, of the last word."""
    head = len(words) - 1
    rows = [(word, "PART" if word.endswith("s") and "'" in word else "NOUN", SING, head, "nmod:poss") for word in words]
    return text(*rows[:-1], (words[-1], last, SING, -1, "root")), tuple(range(len(words)))


@pytest.mark.parametrize(
    ("words", "gender"),
    [
        (("her", "dog"), ""),
        (("mother", "'s", "friend"), ""),
        (("Mr.", "Smith"), "Masc"),
        (("her", "brother"), "Masc"),
        (("king", "'s", "daughter"), "Fem"),
        (("Mr.", "Mrs.", "Smith"), ""),
    ],
)
def test_a_mention_has_no_gender_from_who_possesses_it(words: tuple[str, ...], gender: str) -> None:
    document, mention = possessed(*words)
    assert of_mention(document, mention[-1], mention).gender == gender


def test_demonstratives_are_of_the_third_person_and_relative_pronouns_of_none() -> None:
    assert of_referent("This", "PRON", "PronType=Dem") == features("it", "PRON", "") == Features("3", "Sing", "Neut")
    assert of_referent("those", "PRON", "PronType=Dem") == Features("3", "Plur", "")
    assert of_referent("that", "PRON", "PronType=Rel") == Features("", "", "")
    assert of_referent("that", "DET", "") == Features("3", "", "")
