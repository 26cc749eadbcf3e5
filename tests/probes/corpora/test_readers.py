from collections.abc import Callable
from pathlib import Path

import pytest

from probes.corpora.conll import read_conll
from probes.corpora.conllu import CorpusError, read_conllu
from probes.corpora.corpus import Corpus
from probes.corpora.gap import HEADER, read_gap
from probes.corpora.open_sesame import read_groups
from probes.corpora.ratings import read_frames
from probes.corpora.readers import Reader, corpus_files, read_documents, reader_of
from probes.corpora.winobias import read_winobias
from probes.corpora.winogender import FILLED, TEMPLATES, read_winogender

Write = Callable[..., Path]


@pytest.mark.parametrize(
    ("name", "line", "reader"),
    [
        ("a.conllu", "", read_conllu),
        ("a.conll", "", read_conll),
        ("a.v4_gold_conll", "", read_conll),
        ("pro.txt.test", "1 [The baker] said [he] sang.", read_winobias),
        ("men.txt", "sea\tship\t41.5", read_frames),
        ("saved.conllu.txt", "# newdoc id = a", read_conllu),
        ("saved.txt", "1\tsea\t_\tNOUN\t_\t_\t0\troot\t_\t_", read_conllu),
        ("a.tsv", "\t".join(HEADER), read_gap),
        ("a.tsv", "\t".join(FILLED), read_winogender),
        ("a.tsv", "\t".join(TEMPLATES), read_winogender),
        ("a.tsv", "the ship can sink\t2\t0 1\t", read_groups),
        ("a.tsv", "", read_groups),
        ("none", "", read_conllu),
        ("a.conllu.gz", "", read_conllu),
        ("a.conll", "1-2\tsea" + "\t_" * 8, read_conllu),
        ("a.txt", "#begin document (sea); part 0", read_conll),
        ("gap.tsv.txt", "\t".join(HEADER), read_gap),
        ("a.tsv", "\t".join(f'"{name}"' for name in HEADER), read_gap),
        ("a.csv", ",".join(HEADER), read_gap),
        ("a.tsv", "\t".join(("", *HEADER[::-1])), read_gap),
        ("a.CONLL", "", read_conll),
    ],
)
def test_a_file_is_read_by_its_suffix_and_a_table_by_its_first_line(
    name: str, line: str, reader: Reader, write: Write
) -> None:
    assert reader_of(write(name, line)) is reader


def conll(name: str, sentences: int) -> tuple[str, ...]:
    words = (line for i in range(sentences) for line in (f"{name}\t0\t0\tw{i}" + "\t_" * 9, ""))
    return (f"#begin document ({name}); part 0", *words, "#end document")


def test_files_of_a_folder_are_read_in_the_order_of_their_names_and_first_counts_in_each(write: Write) -> None:
    write("sea/b.conll", *conll("b", 3))
    folder = write("sea/a.conll", *conll("a", 2)).parent
    write("sea/notes.tsv", "no corpus")
    write("sea/.hidden.conll", "no corpus")
    assert [path.name for path in corpus_files(folder)] == ["a.conll", "b.conll"]
    assert Corpus.read(folder).notes == ("sea: corpora of the folder that are not read: 1 (notes.tsv)",)
    assert [(one.id, len(one)) for one in read_documents(folder)] == [("a", 2), ("b", 3)]
    assert [(one.id, len(one)) for one in read_documents(folder, first=2)] == [("a", 2), ("b", 2)]
    with pytest.raises(ValueError, match="first is 0, expected at least 1 sentence"):
        read_documents(folder, first=0)


@pytest.mark.parametrize(
    ("name", "lines"),
    [
        ("gap.tsv", ("\t".join(HEADER), "one\tShe met Ada and Bea.\tShe\t0\tAda\t8\tTRUE\tBea\t16\tFALSE\tu")),
        ("wino.tsv", ("\t".join(FILLED), "nurse.someone.0.male.txt\tThe nurse told someone that he could go.")),
        ("agr.tsv", ("the ship can sink\t2\t0 1\t",)),
        ("wino.txt", ("1 [The baker] said [he] sang.",)),
        ("men.txt", ("sea ship 9",)),
    ],
)
def test_blank_lines_at_the_end_change_nothing(name: str, lines: tuple[str, ...], write: Write) -> None:
    plain = [document.words for document in read_documents(write(name, *lines))]
    assert [document.words for document in read_documents(write(name, *lines, "", "  "))] == plain


@pytest.mark.parametrize(
    ("name", "lines"),
    [
        ("wino.tsv", ("\t".join(FILLED), 'nurse.someone.0.male.txt\t"The nurse told someone, that he could go."')),
        ("agr.tsv", ('"the ship, too, can sink"\t5\t0 1\t',)),
    ],
)
def test_cells_that_a_spreadsheet_quoted_are_refused(name: str, lines: tuple[str, ...], write: Write) -> None:
    with pytest.raises(CorpusError, match=rf"{name}:\d: .* has the quotation marks that spreadsheets put"):
        list(read_documents(write(name, *lines)))
