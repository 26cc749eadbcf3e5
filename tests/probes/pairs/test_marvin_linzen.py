from pathlib import Path

import pytest

from probes import CorpusError
from probes.pairs.agreement_corpus import read_marvin_linzen
from probes.records import Document
from probes.syntax.agreement import SubjectVerbAgreement

SENTENCES = {
    "simple_agrmt": ("the ship [sinks|sink]", "ship", "simple"),
    "sent_comp": ("the sailors said the ship [is|are] old", "ship", "in a sentential complement"),
    "prep_anim": ("the sailors near the taxi driver [sing|sings]", "sailors", "across a prepositional phrase"),
    "prep_inanim": ("the ship from the ports [is|are] old", "ship", "across a prepositional phrase"),
    "subj_rel": ("the ship that meets the boats [sinks|sink]", "ship", "across a subject relative"),
    "obj_rel_across_anim": ("the sailor that the cooks meet [sings|sing]", "sailor", "across an object relative"),
    "obj_rel_across_inanim": ("the ship that the cook likes [is|are] old", "ship", "across an object relative"),
    "obj_rel_no_comp_across_anim": (
        "the sailors the cook meets [sing|sings]",
        "sailors",
        "across a reduced object relative",
    ),
    "obj_rel_no_comp_across_inanim": (
        "the ships the cooks like [are|is] old",
        "ships",
        "across a reduced object relative",
    ),
    "obj_rel_within_anim": ("the sailor that the cooks [meet|meets] sings", "cooks", "in an object relative"),
    "obj_rel_within_inanim": ("the ship that the cook [likes|like] is old", "cook", "in an object relative"),
    "obj_rel_no_comp_within_anim": ("the sailors the cook [meets|meet] sing", "cook", "in a reduced object relative"),
    "obj_rel_no_comp_within_inanim": (
        "the ships the cook [likes|like] are old",
        "cook",
        "in a reduced object relative",
    ),
    "vp_coord": ("the sailors sing and [are|is] old", "sailors", "VP coordination"),
    "long_vp_coord": ("the sailor sings for ten years and [likes|like] red ships", "sailor", "long VP coordination"),
}
"File -> a sentence with the right and the wrong verb, its subject and its construction."

BETWEEN = (
    "prep_anim",
    "prep_inanim",
    "subj_rel",
    "obj_rel_across_anim",
    "obj_rel_no_comp_across_anim",
    "long_vp_coord",
)
BEFORE = ("sent_comp", "obj_rel_within_anim", "obj_rel_no_comp_within_anim", "obj_rel_no_comp_within_inanim")
"Files whose sentence here has an attractor between subject and verb, or before the subject."


def pair(sentence: str) -> str:
    before, _, rest = sentence.partition("[")
    verbs, _, after = rest.partition("]")
    right, wrong = verbs.split("|")
    return f"True\t{before}{right}{after}\nFalse\t{before}{wrong}{after}\n"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Return a folder with a sentence of every construction, and a file of reflexives."""
    for name, (sentence, _, _) in SENTENCES.items():
        (tmp_path / f"{name}.txt").write_text(pair(sentence) * 2, "utf-8")
    (tmp_path / "simple_reflexives.txt").write_text("nothing to be read", "utf-8")
    return tmp_path


@pytest.fixture
def documents(folder: Path) -> dict[str, Document]:
    """Return the first document of every file."""
    return {document.sentences[0].id.partition(":")[0]: document for document in read_marvin_linzen(folder, first=1)}


def labels(document: Document) -> set[str]:
    probe = SubjectVerbAgreement()
    (label,) = probe.targets(document)["verb->subject"].label
    return {*probe.pool(label)}


@pytest.mark.parametrize("name", SENTENCES)
def test_the_probe_asks_the_verb_of_every_construction_for_its_subject_alone(
    name: str, documents: dict[str, Document]
) -> None:
    sentence, subject, construction = SENTENCES[name]
    asked = SubjectVerbAgreement().targets(documents[name])["verb->subject"]
    words = documents[name].words
    assert [words[i] for i in asked.query] == [sentence.partition("[")[2].partition("|")[0]]
    gold = [words[i] for i in asked.gold[0]]
    assert gold == [subject]
    assert f"construction={construction}" in labels(documents[name])


def test_attractors_between_and_before_are_pooled_over_constructions(documents: dict[str, Document]) -> None:
    marked = {name: labels(document) for name, document in documents.items()}
    assert {name for name, parts in marked.items() if "attractor=before" in parts} == set(BEFORE)
    assert {name for name, parts in marked.items() if parts & {"attractors=1", "attractors>=2"}} == set(BETWEEN)
    assert {name for name, parts in marked.items() if "attractor=any" in parts} == {*BETWEEN, *BEFORE}


def test_sentences_of_one_construction_and_the_same_nouns_in_either_number_are_one_cluster(folder: Path) -> None:
    both = pair("the sailors near the cook [sing|sings]") + pair("the sailor near the cooks [is|are] old")
    (folder / "prep_anim.txt").write_text(both + pair("the cook near the sailors [is|are] old"), "utf-8")
    assert len(list(read_marvin_linzen(folder, first=1))) == len(SENTENCES)
    found = [one for one in read_marvin_linzen(folder) if one.sentences[0].id.startswith("prep_anim")]
    assert [one.id for one in found] == [
        *["Marvin-Linzen: across a prepositional phrase: sailor cook"] * 2,
        "Marvin-Linzen: across a prepositional phrase: cook sailor",
    ]
    assert [one.sentences[0].id for one in found] == ["prep_anim:1", "prep_anim:3", "prep_anim:5"]


@pytest.mark.parametrize(
    ("lines", "complaint"),
    [
        ("True\tthe ship sinks\nFalse\tthe ships sink\n", r"differ in the verb alone, got \[1, 2\]"),
        ("True\tthe ship sink\nFalse\tthe ship sinks\n", "in which subject and verb agree, got 'the ship sink'"),
        ("True\tone big ship sinks\nFalse\tone big ship sink\n", r"of the slots 'D S V \*', got 'one big ship sinks'"),
    ],
)
def test_a_pair_that_is_none_of_the_template_is_refused_with_its_line(lines: str, complaint: str, folder: Path) -> None:
    (folder / "simple_agrmt.txt").write_text(pair("the ship [sinks|sink]") + lines, "utf-8")
    with pytest.raises(CorpusError, match=rf"simple_agrmt.txt:3: expected .*{complaint}"):
        list(read_marvin_linzen(folder))
