"""GAP: passages with a pronoun and two names, of which one at most is its antecedent (Webster et al. 2018)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import islice, pairwise
from pathlib import Path

import numpy as np

from probes.corpora.line_reader import CorpusError, UniqueIds, filled_lines, number_in, shortened
from probes.corpora.spans import blanks_after, head_of, word_spans
from probes.records import Document, Mention, Sentence

HEADER = ("ID", "Text", "Pronoun", "Pronoun-offset", "A", "A-offset", "A-coref", "B", "B-offset", "B-coref", "URL")
"The first line of a file of GAP."

NEITHER = "neither"
"Entity of a pronoun that means none of the two names."

_ASKED = (("Pronoun", "PRON"), ("A", "PROPN"), ("B", "PROPN"))


def read_gap(path: Path, *, first: int | None = None) -> Iterator[Document]:
    """Read the passages of a file of GAP, each a document of one sentence, whose end of sentences GAP does not mark.

    The entities are A and B, the two names, and that of the pronoun: A, B or NEITHER. A name's head is its last word
    (`probes.corpora.spans.head_of`). Passages of one Wikipedia page have one document id, so that no page is on both
    splits. `first` takes that many passages. Raises `CorpusError` with the line.
    """
    lines = filled_lines(path)
    if tuple((header := next(lines, (0, ""))[1]).split("\t")) != HEADER:
        got = shortened(header, 60)
        raise CorpusError(f"{path}:1: expected the columns {', '.join(HEADER)}, parted by tabs, got {got}")
    ids = UniqueIds("passage")
    for number, line in islice(lines, first):
        columns = line.split("\t")
        document = _document(columns, f"{path}:{number}")
        ids.add(columns[0], f"{path}:{number}")
        yield document


def _document(columns: list[str], where: str) -> Document:
    if len(columns) != len(HEADER):
        raise CorpusError(f"{where}: {len(columns)} columns, expected {len(HEADER)} parted by tabs")
    row = dict(zip(HEADER, columns, strict=True))
    text, spans = row["Text"], {name: _span(row, name, where) for name, _ in _ASKED}
    _refuse_overlap(row, spans, where)
    words = word_spans(text, {border for span in spans.values() for border in span})
    entity = _antecedent(row, where)
    upos, mentions = [""] * len(words), []
    for name, kind in _ASKED:
        begin, end = spans[name]
        inside = tuple(i for i, (a, b) in enumerate(words) if begin <= a and b <= end)
        head = inside[head_of([text[slice(*words[i])] for i in inside])]
        upos[head] = kind
        mentions.append(Mention(inside, head, entity if name == "Pronoun" else name))
    forms, n = tuple(text[slice(*word)] for word in words), len(words)
    made = (forms, np.full(n, -1), ("",) * n, tuple(upos))
    sentence = Sentence(row["ID"], *made, mentions=tuple(mentions), space_after=blanks_after(text, words))
    return Document(row["URL"].rpartition("/")[2] or row["ID"], (sentence,))


def _span(row: dict[str, str], name: str, where: str) -> tuple[int, int]:
    """Return first character and end of the pronoun or a name, after checking that it stands there."""
    said, offset, text = row[name], row[f"{name}-offset"], row["Text"]
    if (begin := number_in(offset)) is None:
        raise CorpusError(f"{where}: {name}-offset {shortened(offset)} is not a number")
    end = begin + len(said)
    if not said.strip() or text[begin:end] != said:
        raise CorpusError(f"{where}: at character {begin} of the text stands {text[begin:end]!r}, expected {said!r}")
    if any(at and all(one.lower() != one.upper() for one in text[at - 1 : at + 1].ljust(2)) for at in (begin, end)):
        around = text[max(begin - 8, 0) : end + 8]
        raise CorpusError(f"{where}: {name} {said!r} begins or ends inside a word, at {begin} in {around!r}")
    return begin, end


def _refuse_overlap(row: dict[str, str], spans: Mapping[str, tuple[int, int]], where: str) -> None:
    """Raise CorpusError where two of pronoun and names have a character in common: they would be one word."""
    for (one, (_, end)), (other, (begin, _)) in pairwise(sorted(spans.items(), key=lambda item: item[1])):
        if begin < end:
            raise CorpusError(
                f"{where}: {one} {row[one]!r} and {other} {row[other]!r} overlap at character {begin} of the text, "
                "expected two places in it"
            )


def _antecedent(row: dict[str, str], where: str) -> str:
    """Return the entity of the pronoun."""
    said = {name: row[f"{name}-coref"] for name in ("A", "B")}
    for name, value in said.items():
        if value.upper() not in ("TRUE", "FALSE"):
            raise CorpusError(f"{where}: {name}-coref is {value!r}, expected TRUE or FALSE")
    right = [name for name, value in said.items() if value.upper() == "TRUE"]
    if len(right) > 1:
        raise CorpusError(f"{where}: A-coref and B-coref are both TRUE; a pronoun means one of the two at most")
    return right[0] if right else NEITHER
