"""Which reader takes a file of annotated text: by its suffix, and where several formats share one by its first line."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Protocol, runtime_checkable

from probes.corpora.conll import read_conll
from probes.corpora.conllu import read_conllu
from probes.corpora.gap import read_gap
from probes.corpora.line_reader import CorpusError, UniqueIds, numbered_lines, shortened
from probes.corpora.open_sesame import read_groups
from probes.corpora.ratings import read_frames
from probes.corpora.raw_text import text_files
from probes.corpora.text_tables import SUFFIXES, has_text_column
from probes.corpora.winobias import read_winobias
from probes.corpora.winogender import read_winogender
from probes.records import Document

_RATED = re.compile(r"[^\s\d]+\s+[^\s\d]+\s+\d*\.?\d+\s*")
_MARKED = re.compile(r"\s*\d+ .*\[.*\].*")
"A line of WinoBias: its number, and a span in brackets."

_CONLLU = re.compile(r"# ?newdoc\b.*|# ?(sent_id|text|global\.\w+) ?=.*|1(-\d+)?\t.*\t.*")
"A first line of CoNLL-U."


@runtime_checkable
class Reader(Protocol):
    """Reads the documents of a file one after the other; raises CorpusError with file, line and reason."""

    def __call__(self, path: Path, *, first: int | None = None) -> Iterator[Document]:
        """Read `path`; `first` stops after that many sentences."""
        ...


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


def reader_of(path: Path) -> Reader:
    """Return the reader of a file: CoNLL-U for every suffix that is not known as another format's."""
    if path.suffix == ".tsv":
        line = first_line(path)
        return next((reader for begin, reader in _TABLES.items() if line.startswith(begin)), read_groups)
    if ".txt" in path.suffixes:
        line = first_line(path)
        return read_frames if _RATED.fullmatch(line) else read_conllu if _CONLLU.fullmatch(line) else read_winobias
    return read_conll if path.suffix.endswith("conll") else read_conllu


_TABLES = {"ID\t": read_gap, "sentid\t": read_winogender, "occupation(0)\t": read_winogender}
"How the header of a table begins -> its reader."


def first_line(path: Path) -> str:
    """Return the first line of a file that is not blank; "" where there is none."""
    return next((line for _, line in numbered_lines(path) if line.strip()), "")


def is_raw_text(path: Path) -> bool:
    """Return whether a path holds plain text, which has no reader here (`probes.corpora.raw_text`).

    Raises CorpusError for a file of minimal pairs.
    """
    if path.is_dir():
        return not any(path.glob("[!.]*.conll")) and not any(path.glob("[!.]*.tsv")) and _holds_texts(path)
    if path.suffix == ".tsv" and path.is_file():
        return not first_line(path).startswith(tuple(_TABLES)) and has_text_column(first_line(path))
    if ".txt" in path.suffixes and path.is_file():
        line = first_line(path)
        if line.startswith("True\t"):
            raise CorpusError(
                f"{path}: True and False before sentences are minimal pairs: name it in [behaviour] corpora"
            )
        return not any(known.fullmatch(line) for known in (_RATED, _MARKED, _CONLLU))
    return path.suffix in SUFFIXES


def _holds_texts(folder: Path) -> bool:
    """Return whether a folder has .txt files or is a data set: saved to disk, or files of its tables."""
    saved = any((folder / name).is_file() for name in ("state.json", "dataset_dict.json"))
    return saved or bool(text_files(folder)) or any(path.suffix in SUFFIXES for path in folder.rglob("*"))


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
