from pathlib import Path

import pytest

from probes import CorpusError
from probes.pairs.agreement_corpus import read_open_sesame_verbs
from probes.records import Document
from probes.syntax.agreement import SubjectVerbAgreement

LINES = {
    "agr.0": ("my ship could sink\t2\t0 1\t", "simple"),
    "agr.2": ("her boats that can sail will sink\t5\t0 1\t", "across a subject relative"),
    "agr.4": ("my ship near the ports could sink\t5\t0 1\t3 4 ", "across a prepositional phrase"),
    "agr.12": ("my ship who your cooks could see can sink\t7\t0 1\t3 4 ", "across an object relative"),
    "agr.14": ("my ships that did see the cook would sink\t7\t0 1\t5 6 ", "across a subject relative"),
}
"File -> a line, and its construction."


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    for name, (line, _) in LINES.items():
        (tmp_path / f"{name}.tsv").write_text(f"{line}\n", "utf-8")
    (tmp_path / "refl.0.tsv").write_text("my aunt will hurt herself\t4\t0 1\t\n", "utf-8")
    return tmp_path


@pytest.fixture
def documents(folder: Path) -> dict[str, Document]:
    return {document.sentences[0].id.rpartition(":")[0]: document for document in read_open_sesame_verbs(folder)}


def asked(document: Document) -> list[tuple[str, list[str], set[str]]]:
    """Return verb, subject and labels of every question."""
    probe = SubjectVerbAgreement()
    targets = probe.targets(document)["verb->subject"]
    gold = [
        [document.words[key] for key, item in zip(*targets.gold, strict=True) if item == i] for i in range(len(targets))
    ]
    return [
        (document.words[verb], keys, {*probe.pool(label)})
        for verb, keys, label in zip(targets.query.tolist(), gold, targets.label, strict=True)
    ]


def test_reflexives_are_not_read_and_every_verb_is_asked_for_its_subject(documents: dict[str, Document]) -> None:
    assert set(documents) == set(LINES)
    found = {name: [(verb, keys) for verb, keys, _ in asked(document)] for name, document in documents.items()}
    assert found == {
        "agr.0": [("does", ["ship"])],
        "agr.2": [("do", ["boats"])],
        "agr.4": [("does", ["ship"])],
        "agr.12": [("does", ["ship"])],
        "agr.14": [("do", ["ships"])],
    }


def test_constructions_and_attractors_are_labels(documents: dict[str, Document]) -> None:
    found = {name: asked(document)[0][2] for name, document in documents.items()}
    assert all(f"construction={LINES[name][1]}" in parts for name, parts in found.items())
    assert {name for name, parts in found.items() if "attractor=any" in parts} == {"agr.4", "agr.12", "agr.14"}
    assert "attractor=preposition" in found["agr.4"]
    assert "attractor=relative clause" in found["agr.12"] & found["agr.14"]


def test_nouns_and_construction_are_the_cluster_whatever_their_number(folder: Path) -> None:
    (folder / "agr.6.tsv").write_text("her ships near your port will burn\t5\t0 1\t3 4\n", "utf-8")
    ids = {one.sentences[0].id: one.id for one in read_open_sesame_verbs(folder)}
    assert ids["agr.4:1"] == ids["agr.6:1"] == "open-sesame: across a prepositional phrase: ship port"


def test_a_noun_without_a_number_is_left_out_and_first_counts_lines(folder: Path) -> None:
    more = "my fish could swim\t2\t0 1\t\nmy boat could sink\t2\t0 1\t\n"
    with (folder / "agr.0.tsv").open("a", encoding="utf-8") as file:
        file.write(more)

    def simple(first: int | None) -> list[str]:
        found = [one.sentences[0].id for one in read_open_sesame_verbs(folder, first)]
        return [name for name in found if name.startswith("agr.0")]

    assert simple(None) == ["agr.0:1", "agr.0:3"]
    assert simple(2) == ["agr.0:1"]


@pytest.mark.parametrize(
    "line", ["my ship under the ports could sink\t5\t0 1\t3 4 ", "my ship near the ports could sink\t5\t3 4\t0 1"]
)
def test_a_sentence_of_no_construction_or_with_another_subject_is_refused_with_its_line(
    line: str, folder: Path
) -> None:
    (folder / "agr.4.tsv").write_text(f"{line}\n", "utf-8")
    with pytest.raises(CorpusError, match=r"agr.4.tsv:1: a sentence of no known construction, 'my ship"):
        list(read_open_sesame_verbs(folder))
