"""Which reader takes a file of annotated text: by its suffix, and where several formats share one by its first line."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Protocol, runtime_checkable

from probes.corpora.conll import begins_document, read_conll
from probes.corpora.conllu import read_conllu
from probes.corpora.gap import read_gap
from probes.corpora.line_reader import CorpusError, UniqueIds, filled_lines, shortened, suffixes_of
from probes.corpora.open_sesame import read_groups
from probes.corpora.ratings import read_frames
from probes.corpora.winobias import read_winobias
from probes.corpora.winogender import read_winogender
from probes.records import Document

_CONLLU = re.compile(r"\d+(?:[-.]\d+)?\t(?:[^\t]*\t){8}[^\t]*$")
"A line of ten columns of which the first is the id of a word."

_RATED = re.compile(r"[^\s\d]+\s+[^\s\d]+\s+\d*\.?\d+\s*")
"A pair of words and its rating."

_MARKED = re.compile(r"\s*\d+ .*\[.*\].*")
"A line of WinoBias: its number, and a span in brackets."


@runtime_checkable
class Reader(Protocol):
    """Reads the documents of a file one after the other; raises CorpusError with file, line and reason."""

    def __call__(self, path: Path, *, first: int | None = None) -> Iterator[Document]:
        """Read `path`; `first` stops after that many sentences."""
        ...


_COLUMNS: Mapping[str, Reader] = {
    "pronoun-offset": read_gap,
    "sentid": read_winogender,
    "occupation(0)": read_winogender,
}
"""A column of a table in lower case -> the reader of tables that have it, which says what it expects: other columns,
their order and tabs."""


def corpus_files(path: Path) -> list[Path]:
    """Return a file, or the files of a folder by name: its .conll files, else its .tsv files.

    Raises CorpusError for a folder with neither, FileNotFoundError where there is nothing.
    """
    if not path.exists():
        raise FileNotFoundError(f"{path}: no such file; check the path, or where HEADSCOPE_DATA points")
    if not path.is_dir():
        return [path]
    for suffix in (".conll", ".tsv"):
        if files := sorted(path.glob(f"[!.]*{suffix}")):
            return files
    inside = ", ".join(sorted(file.name for file in path.glob("*.conllu"))) or "none"
    raise CorpusError(
        f"{path}: is a folder, expected a file, or a folder with .conll or .tsv files (.conllu files in it: {inside})"
    )


def left_out(path: Path) -> tuple[str, ...]:
    """Say which corpora of a folder are none of `corpus_files`."""
    read = {*corpus_files(path)}
    left = [one.name for one in sorted(path.glob("[!.]*")) if one.suffix.lower() in _CORPORA and one not in read]
    named = f"{', '.join(left[:3])}{', …' * (len(left) > 3)}"
    return (f"{path.name}: corpora of the folder that are not read: {len(left)} ({named})",) * bool(left)


_CORPORA = (".conll", ".conllu", ".tsv", ".csv", ".jsonl", ".json", ".parquet")


def reader_of(path: Path) -> Reader:
    """Return the reader of a file; raises CorpusError for plain text, which has none."""
    if (reader := find_reader(path)) is None:
        raise CorpusError(f"{path}: plain text, which probes.plain.spacy_pipeline.open_plain reads")
    return reader


def find_reader(path: Path) -> Reader | None:
    """Return the reader of a file: by its first lines where these are of one format alone, else by its suffix.

    CoNLL-U reads every suffix that is not known as another format's; .gz is no suffix. None for a .txt file whose first
    line is of no format: it is plain text.
    """
    if (reader := reader_by_content(path)) is not None:
        return reader
    first, suffixes = first_line(path), suffixes_of(path)
    if ".conllu" in suffixes:  # b.conllu.txt, as browsers save it
        return read_conllu
    if suffixes[-1] == ".tsv":
        return read_groups
    if ".txt" in suffixes:
        return read_frames if _RATED.fullmatch(first) else read_winobias if _MARKED.match(first) else None
    return read_conll if suffixes[-1].endswith("conll") else read_conllu


def reader_by_content(path: Path) -> Reader | None:
    """Return the reader of a file whose first lines are of one format of annotated text alone, else None."""
    first = first_line(path)
    if begins_document(first):
        return read_conll
    columns = re.split("[\t,;]", first.replace('"', "").lower())  # whatever spreadsheets made of it
    if (reader := next((_COLUMNS[name] for name in columns if name in _COLUMNS), None)) is not None:
        return reader
    word = next((line for _, line in filled_lines(path) if not line.startswith("#")), "")
    return read_conllu if _CONLLU.match(word) else None


def first_line(path: Path) -> str:
    """Return the first line of a file that is not blank; "" where there is none."""
    return next((line for _, line in filled_lines(path)), "")


def read_documents(path: Path, *, first: int | None = None) -> Iterator[Document]:
    """Read the documents of a file, or of the files of a folder in the order of their names.

    `first` takes that many sentences (of GAP passages) of each file. Raises CorpusError for what is broken or empty,
    with file, line and reason, when iteration reaches it.
    """
    if first is not None and first < 1:
        raise ValueError(f"first is {first}, expected at least 1 sentence")
    return _read(corpus_files(path), first)


def _read(files: list[Path], first: int | None) -> Iterator[Document]:
    ids = UniqueIds("sentence")
    for file in files:
        empty = True
        for document in reader_of(file)(file, first=first):
            empty = False
            for number, sentence in enumerate(document.sentences, start=1):
                ids.add(sentence.id, f"{file}: document {shortened(document.id)}, sentence {number}")
            yield document
        if empty:
            raise CorpusError(f"{file}: no sentence in the file ({file.stat().st_size} bytes)")
