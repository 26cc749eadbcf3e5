from collections.abc import Callable
from pathlib import Path

import pytest

from probes.corpora.annotation.entity_brackets import TWICE
from probes.corpora.conll import EMPTY, read_conll
from probes.records import Document, Mention

Read = Callable[..., list[Document]]


def word(number: int, form: str, bracket: str = "_", tag: str = "_", name: str = "sea") -> str:
    return "\t".join((name, "0", str(number), form, tag, *"_______", bracket))


BEGIN, END = "#begin document (sea); part 0", "#end document"
STORM = (word(0, "Ada", "(1)"), word(1, "met", ""), word(2, "the", "(2"), word(3, "captain", "2)"))
LATER = (word(0, "He", "(2)"), word(1, "thanked"), word(2, "Ada", "(1)"), word(3, "'s", "-"))


def in_part(number: int, lines: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(line.replace("\t0\t", f"\t{number}\t", 1) for line in lines)


@pytest.fixture
def read(write: Callable[..., Path]) -> Read:
    def read(*lines: str, first: int | None = None) -> list[Document]:
        return list(read_conll(write("sea.conll", *lines), first=first))

    return read


def test_sentences_words_and_mentions_are_read_and_there_is_no_tree(read: Read) -> None:
    (document,) = read(BEGIN, *STORM, "", *LATER, "", END)
    assert document.id == "sea"
    assert [sentence.id for sentence in document.sentences] == ["sea-0-1", "sea-0-2"]
    assert document.words == ("Ada", "met", "the", "captain", "He", "thanked", "Ada", "'s")
    assert document.heads.tolist() == [-1] * 8
    assert set(document.deprels) == {""}
    assert document.mentions == (
        *(Mention((0,), 0, "1"), Mention((2, 3), 3, "2"), Mention((4,), 4, "2"), Mention((6,), 6, "1")),
    )


def test_heads_of_mentions_have_a_kind_a_name_being_one_where_the_start_of_a_sentence_does_not_explain_it(
    read: Read,
) -> None:
    (document,) = read(BEGIN, *STORM, "", *LATER, "", word(0, "Boats", "(3)"), word(1, "sank"), "", END)
    assert document.upos == ("PROPN", "", "", "NOUN", "PRON", "", "PROPN", "", "NOUN", "")


def test_parts_of_speech_of_the_file_go_before_forms(read: Read) -> None:
    lines = (word(0, "Her", "(1)", "PRP$"), word(1, "Hope", "(2)", "NN"), word(2, "ebbs"), word(3, "sea", "(3)", "NNP"))
    (document,) = read(BEGIN, *lines, END)
    assert document.upos == ("PRON", "NOUN", "", "PROPN")


def test_parts_of_a_document_are_read_apart_and_first_takes_that_many_sentences(read: Read) -> None:
    part = (*STORM, "", *LATER, "")
    lines = (BEGIN, *part, END, BEGIN.replace("part 0", "part 1"), *in_part(1, part), END)
    one, other = read(*lines, first=3)
    assert (one.id, other.id, len(one.sentences)) == ("sea", "sea", 2)
    assert [sentence.id for sentence in other.sentences] == ["sea-1-1"]
    assert len(read(*lines, first=2)) == 1


def test_escapes_are_read_as_what_they_stand_for_and_mentions_once(read: Read) -> None:
    words = [word(number, form) for number, form in enumerate(("-LRB-", "Ada", "and\\/or", "-rrb-", "''"))]
    (document,) = read(BEGIN, words[0], word(1, "Ada", "(1)|(1)"), *words[2:], END)
    (sentence,) = document.sentences
    assert sentence.words == ("(", "Ada", "and/or", ")", '"')
    assert [mention.words for mention in sentence.mentions] == [(1,)]
    escaped = [remark.partition(": ")[2] for remark in sentence.remarks if remark.startswith("escaped")]
    assert (escaped, sentence.remarks[-1]) == (["-LRB-", "and\\/or", "-rrb-", "''"], TWICE)


def test_an_empty_column_of_coreference_is_remarked_where_it_is_that_of_a_whole_document(read: Read) -> None:
    lines = f"{word(0, 'Ada')}\t", word(1, "sank")
    assert [read(BEGIN, *some, END)[0].sentences[0].remarks for some in (lines[:1], lines)] == [(EMPTY,), ()]


@pytest.mark.parametrize("begin", ["#begin document (sea);", "#begin document sea", "# begin document (sea); part 0"])
def test_a_document_without_a_part_is_part_0_and_spaces_part_columns(begin: str, read: Read) -> None:
    first, *others = (" ".join(line.split()) for line in LATER)
    columns = first.split()
    columns[3] += "\u00a0too"
    (document,) = read(begin, " ".join(columns), *others, "", END.replace("#", "# "))
    assert [(one.id, len(one)) for one in document.sentences] == [("sea-0-1", 4)]
    assert document.words[0] == columns[3]
    assert len(document.mentions) == 2


def test_mentions_may_nest_cross_and_end_together(read: Read) -> None:
    cells = ("(1|(2", "(3)", "1)|(4", "2)|4)")
    (document,) = read(BEGIN, *(word(i, f"w{i}", cell) for i, cell in enumerate(cells)), END)
    spans = {(mention.entity, mention.words) for mention in document.mentions}
    assert spans == {("1", (0, 1, 2)), ("2", (0, 1, 2, 3)), ("3", (1,)), ("4", (2, 3))}
