from collections.abc import Callable
from pathlib import Path

import pytest

from probes.corpora.winobias import read_winobias
from probes.records import Document, Mention

Read = Callable[..., list[Document]]
ONE = "1 [The sea captain] thanked the baker because [she] was safe."
OTHER = "2 The sea captain thanked [the baker] because [she] was brave."


@pytest.fixture
def read(write: Callable[..., Path]) -> Read:
    def read(*lines: str, first: int | None = None) -> list[Document]:
        return list(read_winobias(write("pro_type1.txt.dev", *lines), first=first))

    return read


def test_bracketed_spans_corefer_and_a_span_bracketed_elsewhere_is_the_other_one(read: Read) -> None:
    one, other = read(ONE, OTHER)
    assert one.words == ("The", "sea", "captain", "thanked", "the", "baker", "because", "she", "was", "safe", ".")
    assert one.mentions == (Mention((0, 1, 2), 2, "meant"), Mention((4, 5), 5, "the baker"), Mention((7,), 7, "meant"))
    assert other.mentions == (
        *(Mention((0, 1, 2), 2, "the sea captain"), Mention((4, 5), 5, "meant"), Mention((7,), 7, "meant")),
    )
    assert one.upos[2] == one.upos[5] == "NOUN"
    assert one.upos[7] == "PRON"
    assert one.space_after == (*[True] * 9, False, True), "brackets are no part of the text"


def test_a_sentence_and_its_counterpart_are_one_cluster_of_the_kind_of_their_file(read: Read) -> None:
    one, other, alone = read(ONE, OTHER, "3 [The nurse] said that [he] sings.")
    assert one.id == other.id == "baker captain"
    assert alone.id == "nurse"
    assert [document.sentences[0].id for document in (one, other)] == ["pro_type1:1", "pro_type1:2"]
    assert one.sentences[0].kind == "pro_type1"
    assert len(read(ONE, OTHER, first=1)) == 1
    assert len(read(ONE, "", OTHER)[0].mentions) == 3, "first and blank lines do not hide what the file brackets"


def test_the_longest_phrase_is_found_where_one_holds_another(read: Read) -> None:
    lines = ("1 [The cook] ran because [he] was late.", "2 [The ship cook] sang since [he] won.")
    lines = (*lines, "3 [The boy] thanked the ship cook as [he] left.")
    assert {mention.entity for mention in read(*lines)[2].mentions} == {"meant", "the ship cook"}
