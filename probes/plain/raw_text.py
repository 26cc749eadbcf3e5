"""Plain text as documents without trees: files, tables, data sets and lists of strings."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import chain, islice
from pathlib import Path
from typing import Final, NamedTuple

import numpy as np

from mha.models.folders import HUB
from probes.corpora.annotation.written_words import escape_remarks, unescaped
from probes.corpora.line_reader import CorpusError, filled_lines, numbered_lines, suffixes_of, unpacked_name
from probes.corpora.open_sesame import read_groups
from probes.corpora.readers import find_reader, first_line, reader_by_content
from probes.plain.spacy_words import SQUEEZED, WrittenSentence, spacy_version, written_sentences
from probes.plain.text_tables import (
    COLUMNS,
    SUFFIXES,
    Columns,
    DatasetTexts,
    Entry,
    Place,
    Text,
    has_text_column,
    table_texts,
)
from probes.records import Document, Sentence

ABOUT: Final = "SOURCE.txt"
"What a folder of texts says of itself; it is not read as text."


class WrittenText(NamedTuple):
    """A text, or a pair of texts."""

    id: str
    text: Entry
    document: str
    "Id of the first text of its document."


class Counted(NamedTuple):
    """What one reading of all texts finds."""

    fingerprint: str
    texts: int
    empty: int
    pairs: int
    "Texts that are pairs."
    documents: int
    linked: int
    "Pairs with the second text of a pair in another document."


def is_raw_text(path: Path) -> bool:
    """Return whether a path holds plain text; raises CorpusError for a file of minimal pairs."""
    if path.is_dir():
        others = ("[!.]*.conll", "[!.]*.conllu", "[!.]*.tsv")
        return not any(next(path.glob(one), None) for one in others) and _holds_texts(path)
    suffixes = suffixes_of(path)
    if ".tsv" in suffixes and path.is_file():
        return find_reader(path) is read_groups and has_text_column(first_line(path))
    if ".txt" in suffixes and path.is_file():
        if first_line(path).startswith("True\t"):
            raise CorpusError(
                f"{path}: True and False before sentences are minimal pairs: name it in [behaviour] corpora"
            )
        return find_reader(path) is None
    if suffixes[-1] == ".csv" and path.is_file():
        return reader_by_content(path) is None
    return suffixes[-1] in SUFFIXES


def _holds_texts(folder: Path) -> bool:
    """Return whether a folder has .txt files or is a data set: saved to disk, or files of its tables."""
    saved = any((folder / name).is_file() for name in ("state.json", "dataset_dict.json"))
    return saved or bool(text_files(folder)) or any(path.suffix.lower() in SUFFIXES for path in folder.rglob("*"))


@dataclass(frozen=True)
class RawText:
    """Texts without annotation: those of a path or data set, or those that are given."""

    source: Path | str | tuple[Entry, ...]
    """A .txt file, a table (`probes.plain.text_tables`), a folder of such .txt files or of a data set, or
    "hub:owner/name"; or the texts themselves."""
    column: str | None = None
    "Of a table or data set; without it the one called text or sentence."
    pair: str | None = None
    "Its column of second texts; without it the one called text_pair, if there is one."
    subset: str | None = None
    split: str = "train"
    "Of a data set, as its subset."
    language: str = "en"
    "Whose rules of spaCy say what words and sentences are."

    @property
    def name(self) -> str:
        """What the corpus is called."""
        if isinstance(self.source, tuple):
            return "texts"
        return unpacked_name(Path(str(self.source).removeprefix(HUB))).stem

    def texts(self) -> Iterator[WrittenText]:
        """Yield the texts that are not empty; raises CorpusError where one cannot be read, with its place."""
        return (one for one in self._every() if one.text)

    def documents(self, first: int | None = None) -> Iterator[Document]:
        """Yield every text as a document of sentences, at most `first` sentences of all."""
        left = first
        for name, text, document in self.texts():
            if left == 0:
                return
            sentences = tuple(islice(_sentences(name, text, self.language), left))
            left = None if left is None else left - len(sentences)
            if sentences:
                yield Document(document, sentences)

    @cached_property
    def counted(self) -> Counted:
        """Read all texts once: a hash of them, and how many there are, and rows without one.

        Raises CorpusError where there is none.
        """
        digest, texts, empty, opened, seconds = hashlib.sha256(), 0, 0, 0, dict[Text, list[str]]()
        for name, text, document in self._every():
            if text:
                digest.update(f"{name}\0{text}\0{document * (document != name)}".encode())
                texts, opened = texts + 1, opened + (document == name)
                if not isinstance(text, str):
                    seconds.setdefault(text[1], []).append(document)
            else:
                empty += 1
        if not texts:
            raise CorpusError(f"{self._where}: no text in it, expected words")
        linked = sum(len(of_text) for of_text in seconds.values() if len({*of_text}) > 1)
        return Counted(digest.hexdigest(), texts, empty, sum(map(len, seconds.values())), opened, linked)

    def notes(self) -> tuple[str, ...]:
        """Say what the texts are and by which rules they became words."""
        rules = f"the rules of spaCy {spacy_version()} for the language {self.language!r}"
        without = "no trees, which some probes need (corpus.annotate names a pipeline that makes them)"
        return (*self.unit_notes(), f"{self.name}: words and sentences by {rules}; {without}")

    def unit_notes(self) -> tuple[str, ...]:
        """Say how many texts there are, and what is one."""
        counted, rows = self.counted, isinstance(self.source, tuple)
        kinds = sorted({_unit(path) for path in self._files}) if isinstance(self.source, Path) and self._files else []
        unit = "" if rows or not kinds else f", each {' or '.join(kinds)}"
        empty = f"; {counted.empty} rows without a text are left out" if counted.empty else ""
        pairs = f", {counted.pairs} of them pairs that are read together" if counted.pairs else ""
        if counted.pairs or counted.documents < counted.texts:
            same = "group or first text" if counted.pairs else "group"
            pairs += f", in {counted.documents} documents: those with the same {same} are one"
        linked = (
            f"{self.name}: {counted.linked} pairs have the second text of a pair in another document, and intervals "
        )
        linked += "and tests take them as independent; if they are not, give them one value in a column called group"
        left = self._left
        first = f"{', '.join(left[:3])}{', …' * (len(left) > 3)}"
        are = "files of the folder are" if len(left) > 1 else "file of the folder is"
        others = f"; {len(left)} other {are} not read ({first})" if left else ""
        count = f"{self.name}: {counted.texts} texts{unit}{pairs}{empty}{others}"
        return (count, *[linked] * bool(counted.linked), *self._doubtful())

    def _doubtful(self) -> Iterator[str]:
        """Say which files are read as prose and look like something else."""
        for path in self._files:
            if not _is_table(path) and (what := other_format(path)):
                yield (
                    f"{path.name} looks like {what}, and is read as prose: tables of texts are .csv, .tsv, .jsonl or "
                    ".parquet files, and trees are CoNLL-U, whose columns are parted by tabs"
                )

    @property
    def _left(self) -> list[str]:
        """The files of a folder of texts that are none of them."""
        if not isinstance(self.source, Path) or not self.source.is_dir():
            return []
        read = {self.source / ABOUT, *(self._files or self._data_set.read_files())}
        files = (path for path in sorted(self.source.rglob("*")) if path.is_file() and path not in read)
        names = (path.relative_to(self.source) for path in files)
        return [name.as_posix() for name in names if not any(part.startswith(".") for part in name.parts)]

    @cached_property
    def _files(self) -> Sequence[Path]:
        """The files that are read line by line or as tables; none for a data set."""
        if not isinstance(self.source, Path):
            return ()
        if not self.source.exists():
            raise FileNotFoundError(f"{self.source}: no such file; check the path, or where HEADSCOPE_DATA points")
        return text_files(self.source) if self.source.is_dir() else [self.source]

    @property
    def _data_set(self) -> DatasetTexts:
        return DatasetTexts(str(self.source), self.subset, self.split, self.column, pair=self.pair)

    @property
    def _where(self) -> str:
        return "texts" if isinstance(self.source, tuple) else str(self.source)

    def _every(self) -> Iterator[WrittenText]:
        """Yield all texts without white space around them, "" for rows that have none.

        Rows with the same group are of one document, and so are pairs without one and with the same first text. The
        same second text makes none: one that many pairs have, such as a common answer, would chain all to each other.
        """
        places: list[tuple[str, str, Iterable[Place]]]
        if isinstance(self.source, tuple):
            places = [("text", "texts: text ", ((number, one, "") for number, one in enumerate(self.source, start=1)))]
        elif self._files:
            places = [(path.name, f"{path}:", self._places(path)) for path in self._files]
        else:
            places = [(self.name, f"{self.source}: row ", self._data_set.entries())]
        opened = dict[tuple[str, Text], str]()
        for name, where, numbered in places:
            for number, one, group in numbered:
                _check(one, f"{where}{number}")
                place, text = f"{name}:{number}", _stripped(one)
                document = place
                if text and (group or not isinstance(text, str)):
                    same = (f"{name}:{group}", "") if group else ("", text[0])
                    document = opened.setdefault(same, place)
                yield WrittenText(place, text, document)

    def _places(self, path: Path) -> Iterator[Place]:
        if _is_table(path):
            return table_texts(path, Columns(self.column, self.pair))
        if named := self.column or self.pair:
            raise CorpusError(f"{path}: no table, so it has no column {named!r}")
        return ((number, text, "") for number, text in file_texts(path))


_LOOKS: Final[Sequence[tuple[str, str]]] = (
    (r"-DOCSTART-|# ?sent_id|1\s+\S+\s+\S+\s+([A-Z]{3,5}|_)\s+\S+\s+\S+\s+\d+\s", "columns of CoNLL"),
    (r"\s*\{\s*\"", "lines of JSON"),
    (r"\s*<[!?/a-zA-Z]", "markup"),
    (r"\s*\(+\s*\(?[A-Z]+ *\(", "trees in brackets"),
)
"How the first line of a file begins that is no prose, and what the file then looks like."


def other_format(path: Path) -> str:
    """Return what a file looks like that is read as prose, "" where it looks like prose."""
    lines = [line for _, line in islice(filled_lines(path), 20)] or [""]
    top, tabs = lines[0].lower().replace('"', ""), {line.count("\t") for line in lines}
    mark = max(",;", key=top.count)
    names, parted = top.split(mark), len(lines) > 1 and all(line.count(mark) >= top.count(mark) for line in lines)
    if len(names) > 1 and (not {*COLUMNS}.isdisjoint(names) or (parted and all(map(str.isidentifier, names)))):
        return "a table with commas or semicolons"
    if len(lines) > 1 and len(tabs) == 1 and tabs != {0}:
        return "a table with tabs"
    if all(re.search(r"\s(O|[BIES]-[A-Z]+)$", line) for line in lines):
        return "columns of CoNLL"
    return next((what for begin, what in _LOOKS if re.match(begin, lines[0])), "")


def text_files(folder: Path) -> list[Path]:
    """Return the .txt files of a folder by name, but for ABOUT."""
    return sorted(file for file in folder.glob("[!.]*.txt") if file.name != ABOUT)


def file_texts(path: Path) -> Iterator[tuple[int, str]]:
    """Yield the number of its first line and the text for every text of a file; see `texts_in`."""
    return texts_in(lambda: numbered_lines(path))


Lines = Callable[[], Iterable[tuple[int, str]]]
"Gives numbered lines, from the first one on whenever it is called."


def texts_in(lines: Lines) -> Iterator[tuple[int, str]]:
    """Yield the number of its first line and the text for every text of some lines.

    Where blank lines part them, what stands between is a text, its lines joined by blanks; else every line is one.
    """
    parted = has_paragraphs(lines)
    begin, gathered = 0, list[str]()
    for number, line in lines():
        if gathered and not (parted and line.strip()):
            yield begin, " ".join(gathered)
            gathered = []
        if line.strip():
            begin = begin if gathered else number
            gathered.append(line.strip())
    if gathered:
        yield begin, " ".join(gathered)


def has_paragraphs(lines: Lines) -> bool:
    """Return whether there is a blank line between lines that are not blank."""
    begun = parted = False
    for _, line in lines():
        if line.strip() and parted:
            return True
        begun, parted = begun or bool(line.strip()), begun and not line.strip()
    return False


def _is_table(path: Path) -> bool:
    return suffixes_of(path)[-1] in (*SUFFIXES, ".tsv")


def _unit(path: Path) -> str:
    if _is_table(path):
        return "a row"
    return "what stands between blank lines" if has_paragraphs(lambda: numbered_lines(path)) else "a line"


def _stripped(entry: Entry) -> Entry:
    """Return a text, or each word of a list, without white space around it; a pair with a blank second is its first."""
    if isinstance(entry, str):
        return entry.strip()
    first, second = (one.strip() if isinstance(one, str) else tuple(word.strip() for word in one) for one in entry)
    alone = first if isinstance(first, str) else " ".join(first)
    return (first, second) if first and second else alone


def _check(text: Entry, where: str) -> None:
    """Raise CorpusError for what is no text, and for a word of a list that is none."""
    if not isinstance(text, str):
        for part in text:
            if not isinstance(part, str) and not all(word.strip() for word in part):
                raise CorpusError(f"{where}: a word of white space alone")
            _check(part if isinstance(part, str) else " ".join(part), where)
        return
    if "\0" in text:
        raise CorpusError(f"{where}: a NUL byte, which no text has")
    if any("\ud800" <= letter <= "\udfff" for letter in text):
        raise CorpusError(f"{where}: half of a character (a lone surrogate), which no text has")


def _sentences(name: str, text: Entry, language: str) -> Iterator[Sentence]:
    if isinstance(text, str):
        for number, found in enumerate(written_sentences(text, language), start=1):
            yield _sentence(f"{name}-{number}", found)
        return
    first, second = (_whole(part, language) for part in text)
    both = WrittenSentence(
        first.words + second.words, first.space_after + second.space_after, first.squeezed + second.squeezed
    )
    yield _sentence(f"{name}-1", both, len(first.words))


def _whole(text: Text, language: str) -> WrittenSentence:
    """Return a text of a pair, which counts as one sentence."""
    if not isinstance(text, str):
        return WrittenSentence(text, (True,) * len(text), 0)
    found = [*written_sentences(text, language)]
    words, spaces = ([one.words for one in found], [one.space_after for one in found])
    joined = tuple(chain.from_iterable(words)), tuple(chain.from_iterable(spaces))
    return WrittenSentence(*joined, sum(one.squeezed for one in found))


def _sentence(name: str, found: WrittenSentence, second: int = 0) -> Sentence:
    words, n = unescaped(found.words), len(found.words)
    return Sentence(
        name,
        words,
        np.full(n, -1),
        ("",) * n,
        space_after=found.space_after,
        second=second,
        remarks=(*escape_remarks(found.words, words), *[SQUEEZED] * found.squeezed),
    )
