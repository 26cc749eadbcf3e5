"""CoNLL-2012 files as documents: words and coreference, without trees (OntoNotes, LitBank)."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from probes.corpora.annotation.entity_brackets import BracketCell, mention_remarks, read_mentions
from probes.corpora.annotation.written_words import QUOTES, PlacedError, escape_remarks, unescaped
from probes.corpora.line_reader import CorpusError, UniqueIds, number_in, numbered_lines, refuse_quoting, shortened
from probes.corpora.spans import head_of, kind_of_head
from probes.records import Document, Mention, Sentence

_BEGIN = re.compile(r"#\s*begin\s+document\s+(?:\((.+)\)|([^\s;()]+))\s*;?(?:\s*part\s+(\d+))?", re.IGNORECASE)
_END = re.compile(r"#\s*end\s+document\b", re.IGNORECASE)
_BEGUN = re.compile(r"#\s*begin\s+document\b", re.IGNORECASE)
_BRACKETS = re.compile(r"\(\d+\)?|\d+\)")
_NOTHING = ("", "-", "_")
_PENN = {"PRP": "PRON", "PRP$": "PRON", "WP": "PRON", "WP$": "PRON", "NNP": "PROPN", "NNPS": "PROPN"}
EMPTY = "sentence of a document whose last column, that of coreference, is empty in all lines"
FEWEST = 12
"Columns of a word without predicates; the last one is always that of coreference."


@dataclass(frozen=True, slots=True)
class _Word:
    """What is kept of a line."""

    line: int
    form: str
    tag: str
    cell: str
    "The column of coreference."


@dataclass
class _Part:
    """A part of a document while its lines are read."""

    path: Path
    name: str
    line: int
    "Of its `#begin document`."
    number: int
    sentences: list[list[_Word]] = field(default_factory=lambda: [[]])

    def add(self, line: int, text: str) -> None:
        """Read the line of a word."""
        columns = text.split("\t") if "\t" in text else re.split(" +", text.strip(" "))
        if len(columns) < FEWEST:
            raise self.error(line, f"{len(columns)} columns, expected at least {FEWEST}, parted by tabs or spaces")
        if columns[0] != self.name:
            raise self.error(line, f"document {columns[0]!r}, but line {self.line} begins {self.name!r}")
        if columns[1] not in _NOTHING and number_in(columns[1]) != self.number:
            raise self.error(line, f"part {shortened(columns[1])}, but line {self.line} begins part {self.number}")
        expected = len(self.sentences[-1])
        if columns[2] != str(expected):
            raise self.error(line, f"word number {columns[2]!r}, expected {expected}")
        if not columns[3].strip():
            raise self.error(line, f"word {expected} has no form")
        refuse_quoting(columns[3], f"{self.path}:{line}")
        self.sentences[-1].append(_Word(line, columns[3], columns[4], columns[-1].strip()))

    def error(self, line: int, problem: str) -> CorpusError:
        return CorpusError(f"{self.path}:{line}: {problem}")

    def document(self, take: int | None) -> Document:
        """Return the document with its first `take` sentences."""
        whole = [words for words in self.sentences if words][:take]
        names = {word.form for words in whole for word in words[1:] if word.form[0].isupper()}
        start = f"{self.name}-{self.number}"
        empty = not any(word.cell for words in whole for word in words)
        sentences = [self._sentence(f"{start}-{i}", one, names, empty) for i, one in enumerate(whole, 1)]
        return Document(self.name, tuple(sentences))

    def _sentence(self, name: str, words: Sequence[_Word], names: set[str], empty: bool) -> Sentence:
        forms, upos = tuple(word.form for word in words), [""] * len(words)
        mentions = []
        found = [*self._spans(words)]
        for entity, inside in dict.fromkeys(found):
            head = inside[head_of([forms[word] for word in inside])]
            form = forms[head]
            written = form[0].isupper() and (head > 0 or form in names)
            upos[head] = self._kind(words[head].tag, form, name=written)
            mentions.append(Mention(inside, head, entity))
        n = len(words)
        plain = unescaped(forms, QUOTES)
        remarks = (*escape_remarks(forms, plain), *mention_remarks(found), *[EMPTY] * empty)
        columns = (plain, np.full(n, -1), ("",) * n, tuple(upos))
        return Sentence(name, *columns, mentions=tuple(mentions), remarks=remarks)

    def _spans(self, words: Sequence[_Word]) -> Iterator[tuple[str, tuple[int, ...]]]:
        cells = []
        for place, word in enumerate(words):
            for bracket in [] if word.cell in _NOTHING else word.cell.split("|"):
                if not _BRACKETS.fullmatch(bracket):
                    raise self.error(
                        word.line, f"coreference {word.cell!r}, expected brackets such as (4, 4) or (4)|(7"
                    )
                cells.append(BracketCell(word.line, place, place + 1, f"Entity={bracket}"))
        try:
            yield from read_mentions(cells, 0)
        except PlacedError as error:
            raise self.error(error.place, str(error)) from None

    def _kind(self, tag: str, form: str, *, name: bool) -> str:
        return kind_of_head(form, name=name) if tag in _NOTHING else _PENN.get(tag, "NOUN")


def read_conll(path: Path, *, first: int | None = None) -> Iterator[Document]:
    """Read the parts of the documents of a CoNLL-2012 file one after the other; parts of a document share its id.

    There are no trees: heads are -1 and relations "". A mention's head is told by `probes.corpora.spans.head_of`, and
    parts of speech are given for heads of mentions alone: those of the file where it has any, else a pronoun by its
    form, and a name where it is written with a capital that the beginning of a sentence does not explain. Escaped
    brackets and stops (-LRB-, /.) are read as the characters that they stand for, and a document that names no part is
    part 0. `first` stops after that many sentences, which may cut the last document. Raises
    `CorpusError` for a broken file, with the line, when iteration reaches the place.
    """
    part: _Part | None = None
    left, ids = first, UniqueIds("document")
    for line, text in numbered_lines(path):
        if begins_document(text):
            part = _begun(path, line, text, part)
            ids.add(f"{part.name}; part {part.number}", f"{path}:{line}")
        elif part is None and text.strip() and not text.startswith("#"):
            raise CorpusError(f"{path}:{line}: {text.split()[0]!r} stands before any '#begin document (NAME); part N'")
        elif part is not None and _END.match(text):
            document = part.document(left)
            yield document
            part, left = None, None if left is None else left - len(document.sentences)
            if left == 0:
                return
        elif part is not None and not text.strip():
            part.sentences.append([])
        elif part is not None:
            part.add(line, text)
    if part is not None:
        raise part.error(part.line, f"document {part.name!r} is not ended by '#end document'")


def begins_document(line: str) -> bool:
    """Return whether a line is the first of a document of CoNLL-2012."""
    return bool(_BEGUN.match(line))


def _begun(path: Path, line: int, text: str, before: _Part | None) -> _Part:
    if before is not None:
        raise before.error(line, f"document {before.name!r} of line {before.line} is not ended by '#end document'")
    found = _BEGIN.fullmatch(text.strip())
    number = number_in(found[3] or "0") if found else None
    if found is None or number is None:
        raise CorpusError(f"{path}:{line}: expected '#begin document (NAME); part N', got {shortened(text)}")
    return _Part(path, found[1] or found[2], line, number)
