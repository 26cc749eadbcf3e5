from collections.abc import Callable
from pathlib import Path

import pytest

from probes.corpora.gap import HEADER, read_gap
from probes.corpora.line_reader import CorpusError
from probes.records import Document, Mention

Read = Callable[..., list[Document]]
TEXT = "Ada Byron met Lucy-Ann's aunt, but she didn't wave."


def row(**changes: str) -> str:
    values = {
        "ID": "dev-1",
        "Text": TEXT,
        "Pronoun": "she",
        "Pronoun-offset": str(TEXT.index("she")),
        "A": "Ada Byron",
        "A-offset": "0",
        "A-coref": "TRUE",
        "B": "Lucy",
        "B-offset": str(TEXT.index("Lucy")),
        "B-coref": "FALSE",
        "URL": "http://sea.example/wiki/Storms",
    }
    return "\t".join((values | changes)[name] for name in HEADER)


@pytest.fixture
def read(write: Callable[..., Path]) -> Read:
    def read(*rows: str, first: int | None = None) -> list[Document]:
        return list(read_gap(write("gap.tsv", "\t".join(HEADER), *rows), first=first))

    return read


def test_names_and_pronoun_are_mentions_at_their_offsets(read: Read) -> None:
    (document,) = read(row())
    assert document.id == "Storms"
    assert document.sentences[0].id == "dev-1"
    assert document.words[:10] == ("Ada", "Byron", "met", "Lucy", "-Ann", "'s", "aunt", ",", "but", "she")
    assert document.mentions == (Mention((0, 1), 1, "A"), Mention((3,), 3, "B"), Mention((9,), 9, "A"))
    assert [document.upos[word] for word in (1, 3, 9)] == ["PROPN", "PROPN", "PRON"]
    tight = [word for word, blank in zip(document.words, document.space_after, strict=True) if not blank]
    assert tight == ["Lucy", "-Ann", "aunt", "did", "wave"]


@pytest.mark.parametrize(("a", "b", "entity"), [("FALSE", "TRUE", "B"), ("FALSE", "FALSE", "neither")])
def test_the_pronoun_has_the_entity_that_is_marked(a: str, b: str, entity: str, read: Read) -> None:
    (document,) = read(row(**{"A-coref": a, "B-coref": b}))
    assert [mention.entity for mention in document.mentions] == ["A", "B", entity]


def test_a_passage_without_a_page_is_a_document_of_its_own_and_first_counts_passages(read: Read) -> None:
    rows = (row(), row(ID="dev-2", URL=""), row(ID="dev-3"))
    assert [document.id for document in read(*rows)] == ["Storms", "dev-2", "Storms"]
    assert len(read(*rows, first=2)) == 2


@pytest.mark.parametrize(("said", "begin"), [("he", TEXT.index("she") + 1), ("By", TEXT.index("By"))])
def test_a_name_inside_a_word_is_refused(said: str, begin: int, read: Read) -> None:
    with pytest.raises(CorpusError, match=f"gap.tsv:2: B '{said}' begins or ends inside a word, at {begin} in"):
        read(row(**{"B": said, "B-offset": str(begin), "A": "met", "A-offset": str(TEXT.index("met"))}))
