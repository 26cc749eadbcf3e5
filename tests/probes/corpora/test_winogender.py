from collections.abc import Callable
from pathlib import Path

import pytest

from probes.corpora.winogender import FILLED, TEMPLATES, read_winogender
from probes.records import Document, Mention

Read = Callable[..., list[Document]]
SENTENCE = "The pilot told the sailor that she was lost."
TEMPLATE = "pilot\tsailor\t0\tThe $OCCUPATION told the $PARTICIPANT that $NOM_PRONOUN was lost."


@pytest.fixture
def read(write: Callable[..., Path]) -> Read:
    def read(*rows: str, header: tuple[str, ...] = FILLED, first: int | None = None) -> list[Document]:
        return list(read_winogender(write("w.tsv", "\t".join(header), *rows), first=first))

    return read


def test_pronoun_occupation_and_participant_are_mentions(read: Read) -> None:
    (document,) = read(f"pilot.sailor.0.female.txt\t{SENTENCE}")
    assert document.id == "pilot"
    assert document.sentences[0].kind == "occupation is meant"
    pilot, sailor, she = (
        *(Mention((0, 1), 1, "occupation"), Mention((3, 4), 4, "participant"), Mention((6,), 6, "occupation")),
    )
    assert document.mentions == (pilot, sailor, she)
    assert [document.upos[mention.head] for mention in document.mentions] == ["NOUN", "NOUN", "PRON"]


def test_someone_is_a_participant_without_an_article_and_the_answer_says_who_is_meant(read: Read) -> None:
    (document,) = read("pilot.someone.1.neutral.txt\tSomeone told the pilot that they were lost.")
    assert [mention.words for mention in document.mentions] == [(0,), (2, 3), (5,)]
    assert [mention.entity for mention in document.mentions] == ["participant", "occupation", "participant"]
    assert document.sentences[0].kind == "participant is meant"


def test_a_template_gives_its_six_sentences(read: Read) -> None:
    documents = read(TEMPLATE, header=TEMPLATES)
    assert [" ".join(document.words) for document in documents] == [
        "The pilot told the sailor that he was lost .",
        "The pilot told the sailor that she was lost .",
        "The pilot told the sailor that they were lost .",
        "The pilot told someone that he was lost .",
        "The pilot told someone that she was lost .",
        "The pilot told someone that they were lost .",
    ]
    assert documents[4].sentences[0].id == "pilot.someone.0.female.txt"
    assert len(read(TEMPLATE, header=TEMPLATES, first=4)) == 4


def test_the_templates_filled_are_the_sentences_that_were_published(data_folder: Path) -> None:
    filled, published = (
        {document.sentences[0].id: (document.words, document.mentions) for document in read_winogender(path)}
        for path in (data_folder / "winogender/templates.tsv", data_folder / "winogender/all_sentences.tsv")
    )
    assert len(published) == 720
    assert filled == published
