"""WinoBias: sentences of two occupations in which a pronoun means one, marked by brackets (Zhao et al. 2018)."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import islice
from pathlib import Path
from typing import NamedTuple

import numpy as np

from probes.corpora.line_reader import DIGITS, CorpusError, filled_lines
from probes.corpora.spans import PRONOUNS, blanks_after, head_of, kind_of_head, word_spans
from probes.records import Document, Mention, Sentence

_LINE = re.compile(rf"(\d{{1,{DIGITS}}}) (\S.*)", re.ASCII)

MEANT = "meant"
"Entity of the two bracketed spans."


class _Line(NamedTuple):
    number: int
    words: tuple[str, ...]
    marked: tuple[tuple[int, ...], ...]
    "The words of the two bracketed spans."
    low: tuple[str, ...]
    "The words in lower case."
    blanks: tuple[bool, ...]
    "Whether a blank follows each."


def read_winobias(path: Path, *, first: int | None = None) -> Iterator[Document]:
    """Read numbered lines with two bracketed spans that corefer, each a document of one sentence.

    Only the right noun phrase is bracketed; the other one is a span that some other line of the file brackets, and is a
    mention of an entity of its own. Sentences with the same noun phrases have one document id, so that a sentence and
    its counterpart are on one split. The kind of a sentence is the file's name up to its first full stop. `first` takes
    that many sentences. Raises `CorpusError` with the line.
    """
    lines = [_line(line, f"{path}:{number}") for number, line in filled_lines(path)]
    spans = (tuple(line.low[word] for word in span) for line in lines for span in line.marked)
    phrases = sorted({span for span in spans if span[-1] not in PRONOUNS}, key=lambda span: (-len(span), span))
    kind = path.name.partition(".")[0]
    yield from (_document(line, phrases, kind) for line in islice(lines, first))


def _line(line: str, where: str) -> _Line:
    if not (found := _LINE.fullmatch(line.strip())):
        raise CorpusError(f"{where}: expected a number, a space and a sentence, got {line[:60]!r}")
    text, borders = "", []
    for part in re.split(r"([\[\]])", found[2]):
        if part in ("[", "]"):
            borders.append((len(text), part))
        else:
            text += part
    if "".join(bracket for _, bracket in borders) != "[][]":
        raise CorpusError(f"{where}: expected two spans in brackets, as in '[The baker] ... [she] ...', got {line!r}")
    places = [place for place, _ in borders]
    words = word_spans(text, places)
    inside = ((places[0], places[1]), (places[2], places[3]))
    marked = tuple(tuple(i for i, (a, b) in enumerate(words) if begin <= a and b <= end) for begin, end in inside)
    if not all(marked):
        raise CorpusError(f"{where}: brackets around nothing, got {line!r}")
    forms = tuple(text[a:b] for a, b in words)
    low = tuple(form.lower() for form in forms)
    return _Line(int(found[1]), forms, marked, low, blanks_after(text, words))


def _document(line: _Line, phrases: Sequence[tuple[str, ...]], kind: str) -> Document:
    spans = [(span, MEANT) for span in line.marked]
    taken = {word for span in line.marked for word in span}
    for phrase in phrases:
        for begin in range(len(line.words) - len(phrase) + 1):
            if line.low[begin : begin + len(phrase)] != phrase:
                continue
            inside = tuple(range(begin, begin + len(phrase)))
            if not taken & set(inside):
                spans.append((inside, " ".join(phrase)))
                taken |= set(inside)
    upos, mentions = [""] * len(line.words), []
    for span, entity in spans:
        head = span[head_of([line.words[word] for word in span])]
        upos[head] = kind_of_head(line.words[head], name=False)
        mentions.append(Mention(span, head, entity))
    nouns = sorted({line.low[mention.head] for mention in mentions if upos[mention.head] != "PRON"})
    n, name = len(line.words), f"{kind}:{line.number}"
    columns = (line.words, np.full(n, -1), ("",) * n, tuple(upos))
    sentence = Sentence(name, *columns, mentions=tuple(mentions), kind=kind, space_after=line.blanks)
    return Document(" ".join(nouns) or name, (sentence,))
