from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from probes.corpora.conllu import read_conllu
from probes.records import Document, Sentence
from probes.syntax.agreement import AMONG_NOUNS, SubjectVerbAgreement, agreements, shows_number
from probes.targets import Targets

Tree = Callable[..., Sentence]
Asked = Callable[[Targets], list[tuple[int, list[int], str]]]

SING, PLUR = "Number=Sing", "Number=Plur"
PAST = "Mood=Ind|Number=Sing|Person=3|Tense=Past|VerbForm=Fin"
PRESENT = "Mood=Ind|Tense=Pres|VerbForm=Fin"


def found(sentence: Sentence) -> list[tuple[int, int, int]]:
    """Verb, subject and attractors of every agreement."""
    return [(one.verb, one.subject, one.attractors) for one in agreements(Document("d", (sentence,)))]


def parts(sentence: Sentence) -> dict[int, set[str]]:
    """The labels of every verb."""
    targets = SubjectVerbAgreement().targets(Document("d", (sentence,)))["verb->subject"]
    return {verb: set(label.split(", ")) for verb, label in zip(targets.query.tolist(), targets.label, strict=True)}


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


def test_an_auxiliary_agrees_with_the_subject_of_its_head(tree: Tree) -> None:
    """It carries the number, and the participle does not."""
    sentence = tree(f"""
        ships  NOUN 3 nsubj:pass {PLUR}
        are    AUX  3 aux:pass {PRESENT}
        sunk   VERB 0 root  Tense=Past|VerbForm=Part
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


@pytest.mark.parametrize(
    ("word", "upos", "feats", "shown"),
    [
        ("sinks", "VERB", PRESENT, True),
        ("are", "AUX", PRESENT, True),
        ("was", "AUX", "Tense=Past|VerbForm=Fin", True),
        ("Were", "AUX", "Mood=Ind|Tense=Past|VerbForm=Fin", True),
        ("sank", "VERB", "Tense=Past|VerbForm=Fin", False),
        ("can", "AUX", "VerbForm=Fin", False),
        ("Sink", "VERB", "Mood=Imp|Tense=Pres|VerbForm=Fin", False),
        ("sink", "VERB", "VerbForm=Inf", False),
        ("ships", "NOUN", PLUR, False),
        ("sinks", "VERB", "", False),
    ],
)
def test_finite_present_and_was_and_were_show_number(word: str, upos: str, feats: str, shown: bool) -> None:
    assert shows_number(word, upos, feats) == shown


@pytest.mark.parametrize(
    ("rows", "verbs", "why"),
    [
        (
            f"Gestern NOUN 2 obl Case=Acc\nlachten VERB 0 root Mood=Ind|{PLUR}|Tense=Past\nwir PRON 2 nsubj {PLUR}",
            [1],
            [],
        ),
        (f"La DET 2 det Gender=Fem\nnave NOUN 3 nsubj {SING}\npartió VERB 0 root {PAST}", [2], []),
        (f"Laiva NOUN 2 nsubj Case=Nom|{SING}\nlähti VERB 0 root {PAST}", [1], []),
        (f"Laiva NOUN 2 nsubj Case=Nom|{SING}\nlähtenyt VERB 0 root {SING}|VerbForm=Part", [], ["not finite"]),
        (f"The DET 2 det _\nship NOUN 3 nsubj {SING}|Gender=Fem\nleft VERB 0 root {PAST}", [], ["one form for both"]),
        ("船 NOUN 2 nsubj _\n走 VERB 0 root _\n她 PRON 4 nsubj _\n人 NOUN 2 conj _", [], ["no Number", "no verb"]),
    ],
)
def test_verbs_of_inflected_languages_show_the_number_of_feats_and_others_are_counted(
    rows: str, verbs: list[int], why: list[str], tree: Tree
) -> None:
    sentence = tree(rows)
    assert [verb for verb, _, _ in found(sentence)] == verbs
    left_out = [*SubjectVerbAgreement().left_out(Document("d", (sentence,)))]
    assert len(left_out) == len(why)
    assert all(part in reason for part, reason in zip(why, left_out, strict=True))


RELATIVE = f"""
    keys   NOUN 7 nsubj {PLUR}
    that   PRON 4 nsubj PronType=Rel
    often  ADV  4 advmod _
    open   VERB 1 acl:relcl {PRESENT}|{PLUR}
    boxes  NOUN 4 obj   {PLUR}
    rarely ADV  7 advmod _
    break  VERB 0 root  {PRESENT}|{PLUR}
"""


def test_a_relative_pronoun_and_its_noun_are_right_and_the_pronoun_alone_is_asked(tree: Tree, asked: Asked) -> None:
    found = SubjectVerbAgreement().targets(Document("d", (tree(RELATIVE),)))
    assert [(query, gold) for query, gold, _ in asked(found["verb->subject"])] == [(3, [0, 1]), (6, [0])]
    assert [(query, gold) for query, gold, _ in asked(found["subject->verb"])] == [(1, [3]), (0, [6])]
    labels = parts(tree(RELATIVE))
    assert {"subject=relative", "person=3", "distance=2-3"} <= labels[3]
    assert {"subject=noun", "person=3", "attractors=0"} <= labels[6]


def test_the_relative_pronoun_of_an_embedded_clause_has_its_noun(tree: Tree, asked: Asked) -> None:
    """The keys that I think are old: the pronoun hangs two clauses below the noun."""
    sentence = tree(f"""
        keys   NOUN 0 root _
        that   PRON 6 nsubj PronType=Rel
        I      PRON 4 nsubj Number=Sing|Person=1|PronType=Prs
        think  VERB 1 acl:relcl {PRESENT}|{SING}
        are    AUX  6 cop {PRESENT}|{PLUR}
        old    ADJ  4 ccomp _
    """)
    found = SubjectVerbAgreement().targets(Document("d", (sentence,)))["verb->subject"]
    assert [(query, gold) for query, gold, _ in asked(found)] == [(3, [2]), (4, [0, 1])]
    assert {"subject=pronoun", "person=1"} <= parts(sentence)[3]


@pytest.mark.parametrize(
    ("subject", "labels"),
    [
        ("I PRON 2 nsubj Number=Sing|Person=1|PronType=Prs", {"subject=pronoun", "person=1"}),
        ("you PRON 2 nsubj Person=2|PronType=Prs", {"subject=pronoun", "person=2"}),
        ("these PRON 2 nsubj Number=Plur|PronType=Dem", {"subject=pronoun", "person=3"}),
        ("some DET 2 nsubj _", {"subject=pronoun", "person=3"}),
        ("two NUM 2 nsubj _", {"subject=noun", "person=3"}),
    ],
)
def test_subjects_are_told_apart_by_kind_and_person(subject: str, labels: set[str], tree: Tree) -> None:
    assert parts(tree(f"{subject}\nsink VERB 0 root {PRESENT}"))[1] >= labels


def attractor(sentence: Sentence, verb: int) -> set[str]:
    return {part for part in parts(sentence)[verb] if part.startswith("attractor=")}


@pytest.mark.parametrize(
    ("case", "relation", "expected"),
    [
        ("to ADP 3 case _", "nmod", "preposition"),
        ("to ADP 3 case _", "obl", "preposition"),
        ("'s PART 3 case _", "nmod:poss", "other"),
        (", PUNCT 3 punct _", "nmod", "other"),
        ("to ADP 3 case _", "conj", "other"),
        ("to ADP 1 prep _", "pobj", "preposition"),
    ],
)
@pytest.mark.parametrize("number", [SING, PLUR])
def test_an_attractor_hangs_by_a_preposition_or_otherwise(
    case: str, relation: str, expected: str, number: str, tree: Tree
) -> None:
    other = PLUR if number == SING else SING
    sentence = tree(f"""
        key    NOUN 4 nsubj {other}
        {case}
        box    NOUN 1 {relation} {number}
        hang   VERB 0 root {PRESENT}
    """)
    assert attractor(sentence, 3) == {f"attractor={expected}", f"attractor={number[len('Number=') :]}"}


def test_an_attractor_in_a_clause_of_the_subject_is_of_that_kind_even_behind_a_preposition(tree: Tree) -> None:
    """The keys that lie in the box break, and keys lying in the box break."""
    for clause in ("acl:relcl", "acl"):
        sentence = tree(f"""
            keys   NOUN 6 nsubj {PLUR}
            that   PRON 3 nsubj PronType=Rel
            lie    VERB 1 {clause} {PRESENT}|{PLUR}
            in     ADP  5 case  _
            box    NOUN 3 obl   {SING}
            break  VERB 0 root  {PRESENT}|{PLUR}
        """)
        assert attractor(sentence, 5) == {"attractor=relative clause", "attractor=Sing"}
        assert attractor(sentence, 2) == set()


def test_of_several_attractors_the_nearest_to_the_verb_counts(tree: Tree) -> None:
    """The key that boxes hold with the lids breaks: boxes stand in the clause, the lids hang on the key."""
    sentence = tree(f"""
        key    NOUN 6 nsubj {SING}
        boxes  NOUN 3 nsubj {PLUR}
        hold   VERB 1 acl:relcl {PRESENT}|{PLUR}
        with   ADP  5 case  _
        lids   NOUN 1 nmod  {PLUR}
        breaks VERB 0 root  {PRESENT}|{SING}
    """)
    assert attractor(sentence, 5) == {"attractor=preposition", "attractor=Plur"}
    assert "attractors>=2" in parts(sentence)[5]


def test_among_nouns_only_nouns_and_pronouns_are_candidates(tree: Tree) -> None:
    found = SubjectVerbAgreement().targets(Document("d", (tree(RELATIVE),)))[AMONG_NOUNS]
    assert not isinstance(found.candidates, str)
    assert [found.candidates[0][found.candidates[1] == i].tolist() for i in range(2)] == [[0, 1, 4], [0, 1, 4]]
    assert found.query.tolist() == [3, 6]


def test_among_nouns_a_verb_with_no_other_noun_is_not_asked(tree: Tree) -> None:
    """The subject is a candidate whatever its part of speech."""
    alone = tree(f"two NUM 2 nsubj _\nsink VERB 0 root {PRESENT}")
    assert len(SubjectVerbAgreement().targets(Document("d", (alone,)))[AMONG_NOUNS]) == 0
    both = tree(f"two NUM 2 nsubj _\nsink VERB 0 root {PRESENT}\nships NOUN 2 obj {PLUR}")
    found = SubjectVerbAgreement().targets(Document("d", (both,)))[AMONG_NOUNS]
    assert not isinstance(found.candidates, str)
    assert found.candidates[0].tolist() == [0, 2]


BEFORE = f"""
    ports NOUN 2 nsubj {PLUR}
    say   VERB 0 root  Tense=Past|VerbForm=Fin
    ship  NOUN 4 nsubj {SING}
    sinks VERB 2 ccomp {PRESENT}
    boats NOUN 4 obj   {PLUR}
"""


def test_where_the_corpus_says_the_construction_nouns_before_the_subject_attract_too(tree: Tree) -> None:
    sentence = replace(tree(BEFORE), kind="in a clause")
    marked = {"construction=in a clause", "attractor=before", "attractor=any"}
    assert marked | {"attractors=0"} <= parts(sentence)[3]
    assert parts(replace(sentence, kind=""))[3].isdisjoint(marked)


def test_nouns_of_the_same_number_after_the_verb_and_of_other_sentences_do_not_attract_from_before(tree: Tree) -> None:
    alike = replace(tree(BEFORE.replace("Plur", "Sing", 1)), kind="in a clause")
    assert not {part for part in parts(alike)[3] if part.startswith("attractor=")}
    second = replace(tree(f"ship NOUN 2 nsubj {SING}\nsinks VERB 0 root {PRESENT}"), kind="simple")
    label = SubjectVerbAgreement().targets(Document("d", (alike, second)))["verb->subject"].label[-1]
    assert "construction=simple" in label
    assert "attractor=" not in label
    together = SubjectVerbAgreement().targets(Document("d", (replace(alike, kind=""), second)))["verb->subject"].label
    assert ["construction" in label for label in together] == [False, True]


EWT, GUM = "ud_english_ewt/en_ewt-ud-dev.conllu", "ud_english_gum/en_gum-ud-dev.conllu"
COUNTS = {
    EWT: {
        **{"all": 1440, "attractors=0": 1401, "attractors=1": 29, "attractors>=2": 10},
        **{"distance=1": 1172, "distance=2-3": 169, "distance=4-6": 66, "distance>=7": 33},
        **{"subject=noun": 565, "subject=pronoun": 812, "subject=relative": 63},
        **{"person=1": 333, "person=2": 155, "person=3": 952},
        **{"attractor=preposition": 20, "attractor=relative clause": 5, "attractor=other": 14},
        **{"attractor=Sing": 15, "attractor=Plur": 24},
    },
    GUM: {
        **{"all": 1594, "attractors=0": 1525, "attractors=1": 48, "attractors>=2": 21},
        **{"distance=1": 1277, "distance=2-3": 153, "distance=4-6": 92, "distance>=7": 72},
        **{"subject=noun": 573, "subject=pronoun": 908, "subject=relative": 113},
        **{"person=1": 346, "person=2": 117, "person=3": 1131},
        **{"attractor=preposition": 40, "attractor=relative clause": 8, "attractor=other": 21},
        **{"attractor=Sing": 37, "attractor=Plur": 32},
    },
}
"Items of dev files by label."


@pytest.fixture(scope="module", params=[EWT, GUM])
def sentences(request: pytest.FixtureRequest, data_folder: Path) -> tuple[str, list[Document]]:
    """Return the name of a dev file, and its sentences."""
    return request.param, [
        text for document in read_conllu(data_folder / request.param) for text in document.split_sentences()
    ]


def counted(sentences: list[Document], variant: str) -> Counter[str]:
    probe = SubjectVerbAgreement()
    labels = (label for text in sentences for label in probe.targets(text)[variant].label)
    return Counter(part for label in labels for part in probe.pool(label))


def test_the_items_of_dev_files_are_those_counted(sentences: tuple[str, list[Document]]) -> None:
    name, texts = sentences
    assert counted(texts, "verb->subject") == counted(texts, "subject->verb") == COUNTS[name]
    assert counted(texts, AMONG_NOUNS)["all"] == {EWT: 1362, GUM: 1534}[name]
