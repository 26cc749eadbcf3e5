"""Verbs and their constructions: those of the grammar, and the sets that come one after the other."""

from collections import Counter
from collections.abc import Callable
from pathlib import Path

import pytest

from probes.grammar import generate
from probes.pairs.agreement_corpus import agreement_sentences, construction, grammar_verbs
from probes.records import Document, Sentence
from probes.syntax.agreement import SubjectVerbAgreement, agreements

Tree = Callable[..., Sentence]
SING, PLUR, PRESENT = "Number=Sing", "Number=Plur", "Tense=Pres|VerbForm=Fin"


def constructions(sentence: Sentence) -> dict[str, str]:
    """Verb -> its construction."""
    text = Document("d", (sentence,))
    return {text.words[found.verb]: construction(text, found) for found in agreements(text)}


@pytest.mark.parametrize(
    ("relative", "across", "inside"),
    [
        ("that PRON 4 nsubj PronType=Rel", "across a subject relative", "in a subject relative"),
        ("that PRON 4 obj PronType=Rel", "across an object relative", "in an object relative"),
        ("where ADV 4 advmod PronType=Rel", "across a relative clause of place", "in a relative clause of place"),
        ("today ADV 4 advmod _", "across a reduced object relative", "in a reduced object relative"),
    ],
)
def test_a_relative_clause_goes_by_its_pronoun_both_across_and_inside(
    relative: str, across: str, inside: str, tree: Tree
) -> None:
    cook = "nsubj" if "nsubj" not in relative else "obj"
    sentence = tree(f"""
        ships  NOUN 5 nsubj {PLUR}
        {relative}
        cook   NOUN 4 {cook} {SING}
        likes  VERB 1 acl:relcl {PRESENT}
        sink   VERB 0 root {PRESENT}
    """)
    assert constructions(sentence) == {"likes": inside, "sink": across}


@pytest.mark.parametrize(
    ("relation", "named"),
    [
        ("nmod", "across a prepositional phrase"),
        ("appos", "across an apposition"),
        ("amod", "simple"),
        ("conj", ""),
    ],
)
def test_what_hangs_between_subject_and_verb_names_the_construction(relation: str, named: str, tree: Tree) -> None:
    sentence = tree(f"""
        ship  NOUN 3 nsubj {SING}
        ports NOUN 1 {relation} {PLUR}
        sinks VERB 0 root {PRESENT}
    """)
    assert constructions(sentence) == {"sinks": named}


@pytest.mark.parametrize(
    ("relation", "named"),
    [("ccomp", "in a sentential complement"), ("advcl", "in an adverbial clause"), ("conj", "simple")],
)
def test_with_nothing_between_the_clause_of_a_verb_names_it_also_that_of_a_copula(
    relation: str, named: str, tree: Tree
) -> None:
    sentence = tree(f"""
        cooks  NOUN 2 nsubj {PLUR}
        said   VERB 0 root Tense=Past|VerbForm=Fin
        ship   NOUN 5 nsubj {SING}
        is     AUX  5 cop {PRESENT}
        old    ADJ  2 {relation} _
    """)
    assert constructions(sentence) == {"is": named}


def test_a_verb_before_its_subject_asks_and_personal_pronouns_have_no_construction(tree: Tree) -> None:
    sentence = tree(f"""
        Is    AUX  3 aux {PRESENT}
        ship  NOUN 3 nsubj {SING}
        old   ADJ  0 root _
        she   PRON 5 nsubj {SING}
        asks  VERB 3 parataxis {PRESENT}
    """)
    assert constructions(sentence) == {"Is": "question", "asks": ""}


@pytest.fixture(scope="module")
def documents() -> list[Document]:
    return list(grammar_verbs(60, 3))


def test_every_verb_of_a_noun_comes_once_alone_with_its_construction_and_its_noun(documents: list[Document]) -> None:
    probe, left = SubjectVerbAgreement(), Counter[bool]()
    for document in documents:
        (label,) = probe.targets(document)["verb->subject"].label
        assert f"construction={document.sentences[0].kind}" in probe.pool(label)
    for text in (text for one in generate(60, 3, wide=True) for text in one.split_sentences()):
        left.update(bool(construction(text, found)) for found in agreements(text))
    assert len(documents) == left[True]
    assert left[False] > 0
    assert len({document.sentences[0].id for document in documents}) == len(documents)


def test_sets_come_in_the_order_in_which_they_are_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HEADSCOPE_DATA", str(tmp_path))
    (tmp_path / "opensesame").mkdir()
    lines = "the ship can sink\t2\t0 1\t\nthe boat can sink\t2\t0 1\t\n"
    (tmp_path / "opensesame" / "agr.0.tsv").write_text(lines, "utf-8")
    found = [one.id for one in agreement_sentences(["opensesame", "grammar"], first=1, documents=1, seed=3)]
    assert found[0] == "open-sesame: simple: ship"
    assert all(name.startswith("grammar: ") for name in found[1:])
    assert found[1:] == [one.id for one in agreement_sentences(["grammar"], documents=1, seed=3)] != []


@pytest.mark.usefixtures("data_folder")
def test_the_real_sets_have_a_thousand_items_with_attractors_of_at_least_five_constructions() -> None:
    probe, found = SubjectVerbAgreement(), Counter[str]()
    for document in agreement_sentences(["marvin-linzen", "opensesame"], first=150):
        (label,) = probe.targets(document)["verb->subject"].label
        if "attractor=any" in probe.pool(label):
            found[document.sentences[0].kind] += 1
    assert found.total() >= 1000
    assert len([kind for kind, count in found.items() if count >= 100]) >= 5
