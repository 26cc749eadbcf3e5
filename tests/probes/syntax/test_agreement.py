"""Agreement on trees annotated by hand, and the items of two dev files as they were counted."""

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
SINKS, SINK = f"{PRESENT}|{SING}", f"{PRESENT}|{PLUR}"
KEYS = "keys NOUN 6 nsubj {0}; to ADP 3 case _; box NOUN 1 nmod {1}; of ADP 5 case _; Ada PROPN 3 nmod {2}"
RELATIVE = (
    f"keys NOUN 7 nsubj {PLUR}; that PRON 4 nsubj PronType=Rel; often ADV 4 advmod _; open VERB 1 acl:relcl {SINK}; "
    f"boxes NOUN 4 obj {PLUR}; rarely ADV 7 advmod _; break VERB 0 root {SINK}"
)
IN_THE_BOX = (
    f"keys NOUN 6 nsubj {PLUR}; that PRON 3 nsubj PronType=Rel; lie VERB 1 {{}} {SINK}; in ADP 5 case _; "
    f"box NOUN 3 obl {SING}; break VERB 0 root {SINK}"
)
BEFORE = (
    f"ports NOUN 2 nsubj {{}}; say VERB 0 root Tense=Past|VerbForm=Fin; ship NOUN 4 nsubj {SING}; "
    f"sinks VERB 2 ccomp {PRESENT}; boats NOUN 4 obj {PLUR}"
)


def sentence(tree: Tree, text: str, kind: str = "") -> Sentence:
    return replace(tree(text.replace("; ", "\n")), kind=kind)


def labels(*sentences: Sentence) -> dict[int, set[str]]:
    """Return the parts of every verb's label."""
    targets = SubjectVerbAgreement().targets(Document("d", sentences))["verb->subject"]
    return {verb: set(label.split(", ")) for verb, label in zip(targets.query.tolist(), targets.label, strict=True)}


FOUND = [
    *(
        (f"{KEYS.format(PLUR, *nouns)}; hang VERB 0 root {PRESENT}; walls NOUN 6 obj {SING}", [(5, 0, attractors)])
        for nouns, attractors in (((SING, PLUR), 1), ((PLUR, PLUR), 0), (("_", "_"), 0), ((SING, SING), 2))
    ),
    # on either side of an inverted verb
    (
        f"Here ADV 2 advmod _; hang VERB 0 root {PRESENT}; Ada PROPN 4 nmod:poss {SING}; keys NOUN 2 nsubj {PLUR}",
        [(1, 3, 1)],
    ),
    # the verb shows the number of a subject that shows none; else nothing attracts; the subject's own goes first
    (f"who PRON 3 nsubj _; ships NOUN 1 nmod {PLUR}; sinks VERB 0 root {SINKS}", [(2, 0, 1)]),
    (f"who PRON 3 nsubj _; ships NOUN 1 nmod {PLUR}; sinks VERB 0 root {PRESENT}", [(2, 0, 0)]),
    (f"lot NOUN 3 nsubj {SING}; ships NOUN 1 nmod {PLUR}; sink VERB 0 root {SINK}", [(2, 0, 1)]),
    # the thing is she is old: each copula has its own subject, though both depend on "old"
    *(
        (
            f"thing NOUN 5 {first} {SING}; is AUX 5 cop {PRESENT}; she PRON 5 {second} {SING}; is AUX 5 cop {PRESENT}; "
            "old ADJ 0 root _",
            [(1, 0, 0), (3, 2, 0)],
        )
        for first, second in (("nsubj:outer", "nsubj"), ("nsubj", "nsubj:outer"))
    ),
    # an auxiliary has the subject of its head; an expletive is none
    (f"ships NOUN 3 nsubj:pass {PLUR}; are AUX 3 aux:pass {PRESENT}; sunk VERB 0 root VerbForm=Part", [(1, 0, 0)]),
    (f"There PRON 2 expl _; is VERB 0 root {PRESENT}; a DET 4 det _; ship NOUN 2 nsubj {SING}", [(1, 3, 0)]),
    # a conjoined verb without a subject of its own, a clausal subject and a modal are not asked
    (
        f"She PRON 2 nsubj {SING}; sings VERB 0 root {PRESENT}; and CCONJ 4 cc _; sinks VERB 2 conj {PRESENT}",
        [(1, 0, 0)],
    ),
    (f"Sinking VERB 2 csubj VerbForm=Ger; hurts VERB 0 root {PRESENT}", []),
    (f"Ships NOUN 3 nsubj {PLUR}; can AUX 3 aux VerbForm=Fin; sink VERB 0 root VerbForm=Inf", []),
]


@pytest.mark.parametrize(("text", "expected"), FOUND)
def test_verbs_have_their_subjects_and_attractors(text: str, expected: list[tuple[int, int, int]], tree: Tree) -> None:
    found = agreements(Document("d", (sentence(tree, text),)))
    assert [(one.verb, one.subject, one.attractors) for one in found] == expected


@pytest.mark.parametrize(
    ("word", "upos", "feats", "shown"),
    [
        *(("sinks", "VERB", PRESENT, True), ("was", "AUX", "Tense=Past|VerbForm=Fin", True)),
        *(
            ("Were", "AUX", "Mood=Ind|Tense=Past|VerbForm=Fin", True),
            ("sank", "VERB", "Tense=Past|VerbForm=Fin", False),
        ),
        *(("can", "AUX", "VerbForm=Fin", False), ("Sink", "VERB", "Mood=Imp|Tense=Pres|VerbForm=Fin", False)),
        *(("sink", "VERB", "VerbForm=Inf", False), ("ships", "NOUN", PLUR, False), ("sinks", "VERB", "", False)),
    ],
)
def test_finite_present_and_was_and_were_show_number(word: str, upos: str, feats: str, shown: bool) -> None:
    assert shows_number(word, upos, feats) == shown


@pytest.mark.parametrize(
    ("text", "verbs", "why"),
    [
        (f"Gestern NOUN 2 obl Case=Acc; lachten VERB 0 root Mood=Ind|{PLUR}|Tense=Past; wir PRON 2 nsubj _", [1], []),
        (f"La DET 2 det Gender=Fem; nave NOUN 3 nsubj {SING}; partió VERB 0 root {PAST}", [2], []),
        (f"Laiva NOUN 2 nsubj Case=Nom|{SING}; lähtenyt VERB 0 root {SING}|VerbForm=Part", [], ["not finite"]),
        (f"The DET 2 det _; ship NOUN 3 nsubj Gender=Fem|{SING}; left VERB 0 root {PAST}", [], ["one form for both"]),
        ("船 NOUN 2 nsubj _; 走 VERB 0 root _; 她 PRON 4 nsubj _; 人 NOUN 2 conj _", [], ["no Number", "no verb"]),
    ],
)
def test_verbs_of_inflected_languages_show_the_number_of_feats_and_others_are_counted(
    text: str, verbs: list[int], why: list[str], tree: Tree
) -> None:
    document = Document("d", (sentence(tree, text),))
    assert [one.verb for one in agreements(document)] == verbs
    left_out = [*SubjectVerbAgreement().left_out(document)]
    assert [part for part, reason in zip(why, left_out, strict=True) if part not in reason] == []


@pytest.mark.parametrize(
    ("text", "language", "verbs"),
    [
        (f"Partirono VERB 0 root {PAST.replace('Sing', 'Plur')}; loro PRON 1 nsubj _", "it", [0]),  # nothing inflected
        (f"Zij PRON 2 nsubj _; liepen VERB 0 root {PLUR}|Tense=Past|VerbForm=Fin", "nl", [1]),
        (f"hi PRON 2 nsubj _; halkh VERB 0 root {SING}|Person=3|Tense=Past", "he", [1]),  # no VerbForm, no Mood
        (f"on PRON 2 nsubj _; pisal VERB 0 root {SING}|Tense=Past|VerbForm=Part", "cs", []),
        (f"They PRON 2 nsubj _; left VERB 0 root {PAST}", "en", []),
        (f"They PRON 2 nsubj _; left VERB 0 root {PAST}; Ada PROPN 2 obj Case=Acc", "en", []),
    ],
)
def test_where_the_corpus_says_its_language_every_sentence_of_it_is_asked_alike(
    text: str, language: str, verbs: list[int], tree: Tree
) -> None:
    document = Document("d", (replace(sentence(tree, text), language=language),))
    assert [one.verb for one in agreements(document)] == verbs


EMBEDDED = (
    "keys NOUN 0 root _; that PRON 6 nsubj PronType=Rel; I PRON 4 nsubj Number=Sing|Person=1; "
    f"think VERB 1 acl:relcl {SINKS}; are AUX 6 cop {SINK}; old ADJ 4 ccomp _"
)
SAD = (
    "She PRON 2 nsubj _; sank VERB 0 root _; which PRON 5 nsubj PronType=Rel; "
    f"is AUX 5 cop {SINKS}; sad ADJ 2 advcl:relcl _"
)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (RELATIVE, [(3, [0, 1]), (6, [0])]),
        (EMBEDDED, [(3, [2]), (4, [0, 1])]),  # the keys that I think are old
        (SAD, [(3, [2])]),  # she sank, which is sad: the pronoun stands for a clause
    ],
)
def test_a_relative_pronoun_and_its_noun_are_right(text: str, expected: list[object], tree: Tree, asked: Asked) -> None:
    found = SubjectVerbAgreement().targets(Document("d", (sentence(tree, text),)))["verb->subject"]
    assert [(query, gold) for query, gold, _ in asked(found)] == expected


def test_the_pronoun_alone_is_asked_and_among_nouns_only_nouns_and_pronouns_are_candidates(
    tree: Tree, asked: Asked
) -> None:
    found = SubjectVerbAgreement().targets(Document("d", (sentence(tree, RELATIVE),)))
    assert [(query, gold) for query, gold, _ in asked(found["subject->verb"])] == [(1, [3]), (0, [6])]
    among = found[AMONG_NOUNS].candidates
    assert not isinstance(among, str)
    assert [among[0][among[1] == i].tolist() for i in range(2)] == [[0, 1, 4], [0, 1, 4]]
    alone = sentence(tree, f"two NUM 2 nsubj _; sink VERB 0 root {PRESENT}")
    assert len(SubjectVerbAgreement().targets(Document("d", (alone,)))[AMONG_NOUNS]) == 0, "no other noun"


@pytest.mark.parametrize(
    ("text", "verb", "expected"),
    [
        (RELATIVE, 3, "subject=relative, person=3, distance=2-3"),
        (RELATIVE, 6, "subject=noun, person=3, attractors=0, distance=4-6"),
        (
            f"I PRON 2 nsubj Number=Sing|Person=1; sink VERB 0 root {PRESENT}",
            1,
            "subject=pronoun, person=1, distance=1",
        ),
        (f"these PRON 2 nsubj {PLUR}; sink VERB 0 root {PRESENT}", 1, "subject=pronoun, person=3"),
        (f"some DET 2 nsubj _; sink VERB 0 root {PRESENT}", 1, "subject=pronoun, person=3"),
        (f"two NUM 2 nsubj _; sink VERB 0 root {PRESENT}", 1, "subject=noun, person=3"),
        (f"you PRON 0 root Person=2; who PRON 3 nsubj PronType=Rel; sing VERB 1 acl:relcl {PRESENT}", 2, "person=2"),
    ],
)
def test_subjects_are_told_apart_by_kind_person_and_distance(text: str, verb: int, expected: str, tree: Tree) -> None:
    assert labels(sentence(tree, text))[verb] >= set(expected.split(", "))


HANGS = f"key NOUN 4 nsubj {SING}; {{}}; box NOUN {{}} {{}} {PLUR}; hangs VERB 0 root {PRESENT}"
LIDS = (
    f"key NOUN 6 nsubj {SING}; boxes NOUN 3 nsubj {PLUR}; hold VERB 1 acl:relcl {SINK}; with ADP 5 case _; "
    f"lids NOUN 1 nmod {PLUR}; breaks VERB 0 root {SINKS}"
)


@pytest.mark.parametrize(
    ("text", "verb", "expected"),
    [
        (HANGS.format("to ADP 3 case _", 1, "nmod"), 3, {"attractor=preposition", "attractor=Plur"}),
        (HANGS.format("to ADP 3 case _", 1, "obl"), 3, {"attractor=preposition", "attractor=Plur"}),
        (HANGS.format("to ADP 1 prep _", 2, "pobj"), 3, {"attractor=preposition", "attractor=Plur"}),
        (HANGS.format("'s PART 3 case _", 1, "nmod:poss"), 3, {"attractor=other", "attractor=Plur"}),
        (HANGS.format("to ADP 3 case _", 1, "conj"), 3, {"attractor=other", "attractor=Plur"}),
        (HANGS.format(", PUNCT 3 punct _", 1, "appos").replace(PLUR, "Number=Ptan"), 3, {"attractor=other"}),
        (IN_THE_BOX.format("acl:relcl"), 5, {"attractor=relative clause", "attractor=Sing"}),
        (IN_THE_BOX.format("acl"), 5, {"attractor=relative clause", "attractor=Sing"}),
        (IN_THE_BOX.format("acl"), 2, set()),
        (LIDS, 5, {"attractor=preposition", "attractor=Plur"}),  # the nearest to the verb counts
    ],
)
def test_an_attractor_hangs_in_a_clause_by_a_preposition_or_otherwise(
    text: str, verb: int, expected: set[str], tree: Tree
) -> None:
    assert {part for part in labels(sentence(tree, text))[verb] if part.startswith("attractor=")} == expected


def test_where_the_corpus_says_the_construction_nouns_before_the_subject_attract_too(tree: Tree) -> None:
    marked = {"construction=in a clause", "attractor=before", "attractor=any"}
    assert marked | {"attractors=0"} <= labels(sentence(tree, BEFORE.format(PLUR), "in a clause"))[3]
    assert labels(sentence(tree, BEFORE.format(PLUR)))[3].isdisjoint(marked)
    alike = labels(sentence(tree, BEFORE.format(SING), "in a clause"))[3]
    assert alike & marked == {"construction=in a clause"}, "neither one of the same number nor one after the verb"
    second = sentence(tree, f"ship NOUN 2 nsubj {SING}; sinks VERB 0 root {PRESENT}", "simple")
    assert labels(sentence(tree, BEFORE.format(PLUR)), second)[6] & {"construction=simple", *marked} == {
        "construction=simple"
    }, "nor one of another sentence"


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


@pytest.mark.parametrize(("name", "among"), [(EWT, 1362), (GUM, 1534)])
def test_the_items_of_dev_files_are_those_counted(name: str, among: int, data_folder: Path) -> None:
    probe, found = SubjectVerbAgreement(), {variant: Counter[str]() for variant in SubjectVerbAgreement.variants}
    for document in read_conllu(data_folder / name):
        for text in document.split_sentences():
            for variant, targets in probe.targets(text).items():
                found[variant].update(part for label in targets.label for part in probe.pool(label))
    assert found["verb->subject"] == found["subject->verb"] == COUNTS[name]
    assert found[AMONG_NOUNS]["all"] == among
