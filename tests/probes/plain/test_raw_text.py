import json
from collections.abc import Callable
from pathlib import Path

import pandas as pd
import pytest
from datasets import Dataset, DatasetDict

from probes.corpora.corpus import Corpus
from probes.corpora.gap import HEADER
from probes.corpora.line_reader import CorpusError
from probes.plain import spacy_words
from probes.plain.raw_text import RawText, is_raw_text, texts_in
from probes.plain.spacy_pipeline import open_plain
from probes.plain.spacy_words import SQUEEZED

Write = Callable[[str, str | bytes], Path]


@pytest.fixture
def write(tmp_path: Path) -> Write:
    def write(name: str, content: str | bytes) -> Path:
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content.encode() if isinstance(content, str) else content)
        return path

    return write


def read(path: Path, first: int | None = None) -> Corpus:
    assert is_raw_text(path)
    return open_plain(RawText(path), first=first)


def texts(path: Path, **how: str) -> list[tuple[str, str]]:
    return [text[:2] for text in RawText(path, **how).texts()]


def test_words_stand_apart_and_blanks_are_those_of_the_text(write: Write) -> None:
    path = write("a.txt", "\ufeffThe  keys are here. Don't go!\r\n\t(Why?) \r\n")
    first, second = read(path).stream()
    assert [sentence.words for sentence in first.sentences] == [
        ("The", "keys", "are", "here", "."),
        ("Do", "n't", "go", "!"),
    ]
    assert first.space_after == (True, True, True, False, True, False, True, False, True)
    assert [sentence.remarks for sentence in first.sentences] == [(SQUEEZED,), ()]
    assert (second.id, second.words, second.space_after) == (
        "a.txt:2",
        ("(", "Why", "?", ")"),
        (False, False, False, True),
    )
    assert first.heads.tolist() == [-1] * 9
    assert set(first.deprels) == {""}


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        ("one two\nthree\n", [(1, "one two"), (2, "three")]),
        ("\n\none\ntwo\n\n", [(3, "one"), (4, "two")]),  # blank lines around part nothing
        ("one\n two\n \nthree\n", [(1, "one two"), (4, "three")]),
        ("one\n\n\nthree", [(1, "one"), (4, "three")]),
        (" \n", []),
    ],
)
def test_a_text_is_a_line_or_what_stands_between_blank_lines(content: str, expected: list[tuple[int, str]]) -> None:
    assert [*texts_in(lambda: enumerate(content.split("\n"), start=1))] == expected


def test_texts_are_a_column_of_a_table(write: Write, tmp_path: Path) -> None:
    both = ["Go; now.", 'He said "no".']
    named = [("a.csv:2", both[0]), ("a.csv:4", both[1])]
    assert texts(write("a.csv", 'id;Text\n1;"Go; now."\n2;""\n3;"He said ""no""."\n')) == named
    assert texts(write("a.csv", 'review,text\nGo; now.,x\n,x\n"He said ""no"".",x\n'), column="review") == named
    assert texts(write("a.csv", "\n \ntext,n\n\nGo.,1\n")) == [("a.csv:5", "Go.")]
    assert texts(write("a.tsv", 'sentence\tlabel\nGo; now.\t1\n"He said\t0\n')) == [
        ("a.tsv:2", "Go; now."),
        ("a.tsv:3", '"He said'),
    ]
    lines = "".join(json.dumps({"text": text, "n": 1}) + "\n" for text in [*both, None])
    assert texts(write("a.jsonl", lines)) == [("a.jsonl:1", both[0]), ("a.jsonl:2", both[1])]
    assert texts(write("a.json", json.dumps(both))) == [("a.json:1", both[0]), ("a.json:2", both[1])]
    pd.DataFrame({"sentence": both, "n": [1, 2]}).to_parquet(tmp_path / "a.parquet")
    assert texts(tmp_path / "a.parquet") == [("a.parquet:1", both[0]), ("a.parquet:2", both[1])]


def test_texts_of_one_group_are_one_document(write: Write) -> None:
    path = write("a.csv", "text,group\nOne.,x\nTwo.,y\nThree.,x\nFour.,\n")
    documents = [text.document for text in RawText(path).texts()]
    assert documents == ["a.csv:2", "a.csv:3", "a.csv:2", "a.csv:5"]
    (note,) = RawText(path).unit_notes()
    assert note.endswith("4 texts, each a row, in 3 documents: those with the same group are one")


def test_texts_are_those_of_a_data_set_of_a_folder_or_of_a_list(write: Write, tmp_path: Path) -> None:
    DatasetDict(
        {name: Dataset.from_dict({"text": [f"Of {name}."], "n": [1]}) for name in ("train", "test")}
    ).save_to_disk(str(tmp_path / "saved"))
    assert [document.words for document in read(tmp_path / "saved").stream()] == [("Of", "train", ".")]
    assert texts(tmp_path / "saved", split="test") == [("saved:1", "Of test.")]
    write("folder/b.txt", "Two.")
    write("folder/a.txt", "One.")
    write("folder/SOURCE.txt", "Whose they are.")
    write("folder/more/c.csv", "text\nThree.\n")
    write("folder/.git/HEAD", "main")
    assert [document.id for document in read(tmp_path / "folder").stream()] == ["a.txt:1", "b.txt:1"]
    assert read(tmp_path / "folder").notes[0].endswith("; 1 other file of the folder is not read (more/c.csv)")
    write("treebank/LICENSE.txt", "Whose it is.")
    write("treebank/en.conllu", "1\tx\t_\tX\t_\t_\t0\troot\t_\t_\n")
    assert not is_raw_text(tmp_path / "treebank")
    given = open_plain(RawText((" One. Two.", "", "Three")))
    assert [(document.id, len(document.sentences)) for document in given.stream()] == [("text:1", 2), ("text:3", 1)]
    assert given.notes[0] == "texts: 2 texts; 1 rows without a text are left out"


def test_what_is_read_and_by_which_rules_makes_the_fingerprint(write: Write) -> None:
    path = write("a.txt", "One. Two.\nThree.\n")
    corpora = [
        read(path),
        read(path, first=1),
        open_plain(RawText(path, language="de")),
        open_plain(RawText(("One. Two.", "Three."))),
    ]
    assert len({corpus.fingerprint for corpus in corpora}) == 4
    assert [corpus.size()["sentences"] for corpus in corpora] == [3, 1, 3, 3]
    assert all(half.notes == corpora[0].notes for half in corpora[0].halves())


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("a.txt", b"one\nd\xf6g", r"a.txt:2: not UTF-8 \(byte 0xf6\)"),
        ("a.csv", "text,sentence\nx,y\n", "a.csv:1: 2 columns called text or sentence"),
        ("a.csv", "\ntext\nx,y\n", "a.csv:3: 2 columns, expected 1 as in line 2"),
        ("a.csv", "text,Text_Pair\nx,y\n", "a.csv:1: a column called 'Text_Pair': call it 'text_pair'"),
        ("a.jsonl", '{"text": "x", "group ": 1}\n', "a.jsonl:1: a column called 'group ': call it 'group'"),
        ("a.json", '{"text": "x"}\n{"text": "y"}\n', r"a.json: not JSON \(.*; one value a line is .jsonl\)"),
        ("a.jsonl", '{"text": "x"}\n{"text": \n', r"a.jsonl:2: not JSON"),
        ("a.jsonl", '{"text": 3}\n', "a.jsonl:1: 'text' is 3, expected a text$"),
        ("a.jsonl", '{"text": "\\ud83d"}\n', r"a.jsonl:1: half of a character"),
        ("a.json", '{"text": "x"}', "a.json: a JSON dict, expected a list"),
        ("a.parquet", "PAR1", "a.parquet: not a readable Parquet file"),
    ],
)
def test_what_cannot_be_read_is_one_line_with_its_place(
    name: str, content: str | bytes, message: str, write: Write
) -> None:
    with pytest.raises(CorpusError, match=message) as caught:
        [*read(write(name, content)).stream()]
    assert "\n" not in str(caught.value)


def test_a_language_without_rules_and_spacy_that_is_not_there_are_named(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(CorpusError, match="language 'qqq': spaCy has no rules for its words here"):
        open_plain(RawText(("x",), language="qqq"))
    monkeypatch.setattr(spacy_words, "spacy_version", lambda: None)
    spacy_words.rules.cache_clear()
    with pytest.raises(CorpusError, match=r"plain text needs spaCy, .*: pip install 'headscope\[annotate\]'"):
        open_plain(RawText(("x",)))


@pytest.mark.parametrize(
    ("name", "line", "raw"),
    [
        ("a.txt", "He was 12.", True),  # two words and a number are a pair with its rating
        ("a.txt", "# The harbour", True),
        ("a.txt", "", True),
        ("a.txt", "1 [The baker] said [he] sang.", False),
        ("a.txt", "sea ship 9.5", False),
        ("a.txt.gz", "The ship sank.", True),
        ("a.tsv", "id\ttext\tlabel", True),
        ("a.tsv", "id\tSentence", True),
        ("a.tsv", "\t".join(HEADER), False),
        ("a.tsv", "the ship can sink\t2\t0 1\t", False),
        ("a.csv", "", True),
        ("a.conllu", "The ship sank.", False),
    ],
)
def test_plain_text_is_known_by_what_stands_in_a_file(name: str, line: str, raw: bool, write: Write) -> None:
    assert is_raw_text(write(name, f"\n{line}\n")) is raw


@pytest.mark.parametrize(
    ("content", "what"),
    [
        ("-DOCSTART- -X- -X- O\n\nEU NNP B-NP B-ORG\n", "columns of CoNLL"),
        ("1    Ships    ship    NOUN    _    _    2    nsubj\n", "columns of CoNLL"),
        ('{"text": "Ships sail."}\n', "lines of JSON"),
        ("( (S (NP (NNS Ships)) (VP (VBP sail))) )\n", "trees in brackets"),
        ("<doc>Ships sail.</doc>\n", "markup"),
        ("0\tShips sail.\n1\tBoats, too.\n", "a table with tabs"),
        ('id,"text",label\n1,Ships sail.,0\n', "a table with commas or semicolons"),
        ("no;review\n1;Ships sail, and sink.\n", "a table with commas or semicolons"),
        ("EU NNP B-NP B-ORG\nrejects VBZ B-VP O\n", "columns of CoNLL"),
        ("Ships,sail\nIt rains.\n", ""),
        ("In text, sentence, or word\n\tships sail.\n", ""),
        ("(The ships) sail. 1 ship < 2 ships\n", ""),
        ("1 ship sails A sea of 2 sides\n", ""),
    ],
)
def test_a_text_file_that_looks_like_something_else_is_said_to(content: str, what: str, write: Write) -> None:
    notes = RawText(write("odd.txt", content)).unit_notes()[1:]
    assert [note.split(",")[0] for note in notes] == [f"odd.txt looks like {what}"] * bool(what)
