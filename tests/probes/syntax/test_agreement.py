from collections.abc import Callable

import pytest

from probes.records import Document, Sentence
from probes.syntax.agreement import SubjectVerbAgreement, agreements, morphology, shows_number

Tree = Callable[..., Sentence]

SING, PLUR = "Number=Sing", "Number=Plur"
PRESENT = "Mood=Ind|Tense=Pres|VerbForm=Fin"


def found(sentence: Sentence) -> list[tuple[int, int, int]]:
    """Verb, subject and attractors of every agreement."""
    return [(one.verb, one.subject, one.attractors) for one in agreements(Document("d", (sentence,)))]


@pytest.mark.parametrize(
    ("nouns", "attractors"),
    [((SING, SING), 2), ((SING, PLUR), 1), ((PLUR, PLUR), 0), (("_", "_"), 0), ((SING, "_"), 1)],
)
def test_attractors_are_nouns_of_the_other_number_between_verb_and_subject(
    nouns: tuple[str, str], attractors: int, tree: Tree
) -> None:
    sentence = tree(f"""
        keys   NOUN 6 nsubj {PLUR}
        to     ADP  3 case  _
        box    NOUN 1 nmod  {nouns[0]}
        of     ADP  5 case  _
        Ada    PROPN 3 nmod {nouns[1]}
        hang   VERB 0 root  {PRESENT}
        walls  NOUN 6 obj   {SING}
    """)
    assert found(sentence) == [(5, 0, attractors)]


def test_only_nouns_attract(tree: Tree) -> None:
    sentence = tree(f"""
        keys  NOUN 4 nsubj {PLUR}
        he    PRON 3 nsubj {SING}
        saw   VERB 1 acl:relcl Tense=Past|VerbForm=Fin
        hang  VERB 0 root  {PRESENT}
    """)
    assert found(sentence) == [(3, 0, 0)]


def test_the_distractor_is_looked_for_on_either_side_of_an_inverted_verb(tree: Tree) -> None:
    sentence = tree(f"""
        Here   ADV  2 advmod _
        hang   VERB 0 root  {PRESENT}
        Ada    PROPN 4 nmod:poss {SING}
        keys   NOUN 2 nsubj {PLUR}
    """)
    assert found(sentence) == [(1, 3, 1)]


@pytest.mark.parametrize(("number", "attractors"), [("|Number=Sing", 1), ("|Number=Plur", 0), ("", 0)])
def test_the_verb_shows_the_number_of_a_subject_that_shows_none(number: str, attractors: int, tree: Tree) -> None:
    """Of "who of the ships sinks" the ships are attractors; where neither shows a number nothing is."""
    sentence = tree(f"""
        who    PRON 3 nsubj _
        ships  NOUN 1 nmod  {PLUR}
        sinks  VERB 0 root  {PRESENT}{number}
    """)
    assert found(sentence) == [(2, 0, attractors)]


def test_the_number_of_the_subject_goes_before_that_of_the_verb(tree: Tree) -> None:
    """As in "a lot of ships sink", where the two differ."""
    sentence = tree(f"""
        lot    NOUN 3 nsubj {SING}
        ships  NOUN 1 nmod  {PLUR}
        sink   VERB 0 root  {PRESENT}|{PLUR}
    """)
    assert found(sentence) == [(2, 0, 1)]


@pytest.mark.parametrize(("first", "second"), [("nsubj:outer", "nsubj"), ("nsubj", "nsubj:outer")])
def test_of_two_subjects_a_verb_has_the_nearest_before_it(first: str, second: str, tree: Tree) -> None:
    """The thing is she is old: each copula has its own subject, though both depend on "old"."""
    sentence = tree(f"""
        thing  NOUN 5 {first} {SING}
        is     AUX  5 cop {PRESENT}
        she    PRON 5 {second} {SING}
        is     AUX  5 cop {PRESENT}
        old    ADJ  0 root  _
    """)
    assert found(sentence) == [(1, 0, 0), (3, 2, 0)]


def test_of_two_subjects_after_a_verb_it_has_the_nearest(tree: Tree) -> None:
    sentence = tree(f"""
        are    AUX  4 cop {PRESENT}
        ships  NOUN 4 nsubj {PLUR}
        they   PRON 4 nsubj {PLUR}
        old    ADJ  0 root  _
    """)
    assert found(sentence) == [(0, 1, 0)]


def test_an_auxiliary_agrees_with_the_subject_of_its_head(tree: Tree) -> None:
    """It carries the number, and the participle does not."""
    sentence = tree(f"""
        ships  NOUN 3 nsubj:pass {PLUR}
        are    AUX  3 aux:pass {PRESENT}
        sunk   VERB 0 root  Tense=Past|VerbForm=Part
    """)
    assert found(sentence) == [(1, 0, 0)]


def test_a_copula_agrees_with_the_subject_of_its_predicate(tree: Tree) -> None:
    sentence = tree(f"""
        Ships  NOUN 3 nsubj {PLUR}
        are    AUX  3 cop {PRESENT}
        things NOUN 0 root {PLUR}
    """)
    assert found(sentence) == [(1, 0, 0)]


def test_an_expletive_is_no_subject(tree: Tree) -> None:
    """There is a ship: the verb agrees with its subject after it."""
    sentence = tree(f"""
        There  PRON 2 expl _
        is     VERB 0 root {PRESENT}
        a      DET  4 det  _
        ship   NOUN 2 nsubj {SING}
    """)
    assert found(sentence) == [(1, 3, 0)]
    without = tree(f"It PRON 2 expl _\nrains VERB 0 root {PRESENT}")
    assert found(without) == []


def test_clausal_subjects_show_no_number(tree: Tree) -> None:
    assert found(tree(f"Sinking VERB 2 csubj VerbForm=Ger\nhurts VERB 0 root {PRESENT}")) == []


def test_the_subject_of_another_clause_is_not_taken(tree: Tree) -> None:
    """She says ships sink: both verbs have a subject of their own."""
    sentence = tree(f"""
        She    PRON 2 nsubj {SING}
        says   VERB 0 root {PRESENT}
        ships  NOUN 4 nsubj {PLUR}
        sink   VERB 2 ccomp {PRESENT}
    """)
    assert found(sentence) == [(1, 0, 0), (3, 2, 0)]


def test_a_conjoined_verb_without_a_subject_of_its_own_is_not_asked(tree: Tree) -> None:
    sentence = tree(f"""
        She    PRON 2 nsubj {SING}
        sings  VERB 0 root {PRESENT}
        and    CCONJ 4 cc _
        sinks  VERB 2 conj {PRESENT}
    """)
    assert found(sentence) == [(1, 0, 0)]


@pytest.mark.parametrize(
    ("word", "upos", "feats", "shown"),
    [
        ("sinks", "VERB", PRESENT, True),
        ("are", "AUX", PRESENT, True),
        ("was", "AUX", "Tense=Past|VerbForm=Fin", True),
        ("Were", "AUX", "Mood=Ind|Tense=Past|VerbForm=Fin", True),
        ("had", "AUX", "Tense=Past|VerbForm=Fin", False),
        ("sank", "VERB", "Tense=Past|VerbForm=Fin", False),
        ("can", "AUX", "VerbForm=Fin", False),
        ("Sink", "VERB", "Mood=Imp|Tense=Pres|VerbForm=Fin", False),
        ("sink", "VERB", "VerbForm=Inf", False),
        ("sinking", "VERB", "Tense=Pres|VerbForm=Part", False),
        ("been", "AUX", "Tense=Past|VerbForm=Part", False),
        ("ships", "NOUN", PLUR, False),
        ("sinks", "VERB", "", False),
    ],
)
def test_finite_present_and_was_and_were_show_number(word: str, upos: str, feats: str, shown: bool) -> None:
    assert shows_number(word, upos, feats) == shown


def test_modals_are_not_asked(tree: Tree) -> None:
    sentence = tree(f"""
        Ships  NOUN 3 nsubj {PLUR}
        can    AUX  3 aux VerbForm=Fin
        sink   VERB 0 root VerbForm=Inf
    """)
    assert found(sentence) == []


def test_both_directions_ask_the_same_pairs(tree: Tree) -> None:
    sentence = tree(f"""
        keys   NOUN 4 nsubj {PLUR}
        to     ADP  3 case  _
        box    NOUN 1 nmod  {SING}
        hang   VERB 0 root  {PRESENT}
    """)
    asked = SubjectVerbAgreement().targets(Document("d", (sentence, sentence)))
    verb, subject = asked["verb->subject"], asked["subject->verb"]
    assert verb.query.tolist() == subject.gold[0].tolist() == [3, 7]
    assert verb.gold[0].tolist() == subject.query.tolist() == [0, 4]
    assert list(verb.label) == list(subject.label) == ["attractors=1 distance=2-3"] * 2


@pytest.mark.parametrize(
    ("between", "attractors", "pool"),
    [
        (0, 0, ["attractors=0", "distance=1"]),
        (1, 1, ["attractors=1", "distance=2-3"]),
        (2, 2, ["attractors>=2", "distance=2-3"]),
        (3, 0, ["attractors=0", "distance=4-6"]),
        (5, 3, ["attractors>=2", "distance=4-6"]),
        (6, 1, ["attractors=1", "distance>=7"]),
        (11, 11, ["attractors>=2", "distance>=7"]),
    ],
)
def test_an_item_counts_among_all_by_attractors_and_by_distance(
    between: int, attractors: int, pool: list[str], tree: Tree
) -> None:
    numbers = [SING if i < attractors else PLUR for i in range(between)]
    nouns = "".join(f"box NOUN 1 nmod {number}\n" for number in numbers)
    sentence = tree(f"keys NOUN {between + 2} nsubj {PLUR}\n{nouns}hang VERB 0 root {PRESENT}")
    probe = SubjectVerbAgreement()
    (name,) = probe.targets(Document("d", (sentence,)))["verb->subject"].label
    assert list(probe.pool(name)) == ["all", *pool]


def test_morphology_is_read_and_what_is_no_feature_is_left_out() -> None:
    assert morphology("Number=Sing|Person=3") == {"Number": "Sing", "Person": "3"}
    assert morphology("") == {}
    assert morphology("odd|Abbr=Yes") == {"Abbr": "Yes"}
