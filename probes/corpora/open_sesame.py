"""The files of open-sesame: sentences with distractors, and the minimal pairs of number and gender made of them.

The files (Lin, Tan and Frank 2019) mark a verb or reflexive, its subject and the distractors. The reflexive has a
gender, so its pair is himself and herself. All the marked verbs are modals, which have no number; the pair puts does
and do in their place, which is right wherever a modal was, and the subject's noun says which of the two is.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path

from probes.corpora.line_reader import CorpusError, filled_lines, number_in, refuse_quoting, shortened
from probes.minimal_pairs import AGREEMENT, PLURAL, SINGULAR, Item, Kind, LeftOut, MinimalPair
from probes.records import Document, Mention, Sentence, frozen_ints

REFLEXIVES = {"himself": "herself", "herself": "himself"}

AUXILIARIES = ("can", "could", "will", "would", "may", "might", "shall", "should", "must", "does", "do", "did")
"Words before a bare verb, which does and do can take the place of."

UNMARKED = ("fish", "sheep", "deer", "series", "species")
"Nouns with one form for both numbers."

PLURALS = ("men", "women", "children", "people", "feet", "teeth", "mice", "geese")
"Plurals that do not end in s."


@dataclass(frozen=True)
class Marked:
    """A line: a sentence in which a word, its subject and the distractors are marked; indices count words from 0."""

    words: tuple[str, ...]
    query: int
    "The verb or reflexive."
    subject: tuple[int, ...]
    "Words of the noun group that it agrees with, its noun last."
    distractors: tuple[tuple[int, ...], ...]
    "Words of the other noun groups, their nouns last."

    @classmethod
    def read(cls, line: str, where: str) -> Marked:
        """Read a line; `where` is file and line, for CorpusError."""
        columns = line.split("\t")
        if len(columns) != 4:
            raise CorpusError(
                f"{where}: expected sentence, index, subject and distractors parted by tabs, got {line!r}"
            )
        refuse_quoting(columns[0], where)
        words = tuple(columns[0].split())
        query = _numbers(columns[1], len(words), 1, where)[0]
        subject, *distractors = (
            tuple(range(first, last + 1))
            for column, many in ((columns[2], 2), (columns[3], None))
            for numbers in [_numbers(column, len(words), many, where)]
            for first, last in zip(numbers[::2], numbers[1::2], strict=True)
        )
        if empty := [group for group in (subject, *distractors) if not group]:
            raise CorpusError(f"{where}: expected spans whose first word is not after the last, got {empty!r}")
        return cls(words, query, subject, tuple(distractors))


def open_sesame_item(line: str, paradigm: str, source: str, where: str) -> Item:
    """Return the pair of one line, or why there is none; `where` is file and line, for CorpusError."""
    marked = Marked.read(line, where)
    words, query = marked.words, marked.query
    distractors = [words[group[-1]] for group in marked.distractors]
    condition = f"{len(distractors)} distractor{'' if len(distractors) == 1 else 's'}"
    asked = words[query]
    if asked in REFLEXIVES:
        kind = Kind(paradigm, condition, phenomenon="reflexive gender")
        return MinimalPair(source, kind, words, _replaced(words, query, REFLEXIVES[asked]))
    kind = Kind(paradigm, condition, phenomenon=AGREEMENT)
    if asked not in AUXILIARIES:
        return LeftOut(source, kind, f"the marked word {asked!r} is no auxiliary and no reflexive")
    number, others = plural(words[marked.subject[-1]]), [plural(noun) for noun in distractors]
    if number is None or None in others:
        return LeftOut(source, kind, "a noun with one form for both numbers")
    attractors = sum(other != number for other in others)
    kind = Kind(paradigm, condition, attractors, PLURAL if number else SINGULAR, AGREEMENT)
    right, wrong = ("do", "does") if number else ("does", "do")
    return MinimalPair(source, kind, _replaced(words, query, right), _replaced(words, query, wrong))


def read_groups(path: Path, *, first: int | None = None) -> Iterator[Document]:
    """Read the lines of a file as documents of one sentence, whose kind is the file's name ("agr.4").

    The marked noun groups are mentions of an entity each, their nouns the heads. A reflexive is a further mention of
    the subject's entity; on any other marked word the subject's noun depends as nsubj. Equal sentences have one
    document id. `first` takes that many lines. Raises CorpusError with the line.
    """
    for number, line in islice(filled_lines(path), first):
        yield _document(Marked.read(line, f"{path}:{number}"), f"{path.stem}:{number}", path.stem)


def _document(marked: Marked, name: str, kind: str) -> Document:
    n, query, subject = len(marked.words), marked.query, marked.subject[-1]
    groups = (marked.subject, *marked.distractors)
    mentions = [Mention(group, group[-1], f"group {number}") for number, group in enumerate(groups)]
    upos, heads, deprels = [""] * n, [-1] * n, [""] * n
    for mention in mentions:
        upos[mention.head] = "NOUN"
    if marked.words[query] in REFLEXIVES:
        upos[query] = "PRON"
        mentions.append(Mention((query,), query, mentions[0].entity))
    else:
        upos[query] = "AUX" if marked.words[query] in AUXILIARIES else "VERB"
        heads[subject], deprels[subject] = query, "nsubj"
    columns = (marked.words, frozen_ints(heads), tuple(deprels), tuple(upos))
    return Document(" ".join(marked.words), (Sentence(name, *columns, mentions=tuple(mentions), kind=kind),))


def plural(noun: str) -> bool | None:
    """Return whether an English noun is plural, by its form; None where the form does not say.

    >>> plural("wolves"), plural("princess"), plural("fish")
    (True, False, None)
    """
    if noun in UNMARKED:
        return None
    return noun in PLURALS or (noun.endswith("s") and not noun.endswith("ss"))


def _numbers(column: str, words: int, many: int | None, where: str) -> list[int]:
    """Read word indices from 0: `many`, or any number of pairs of first and last."""
    parts = column.split()
    amount = "pairs of" if many is None else str(many)
    numbers = [number for part in parts if (number := number_in(part)) is not None]
    if (len(parts) % 2 if many is None else len(parts) != many) or len(numbers) < len(parts):
        raise CorpusError(f"{where}: expected {amount} word indices, got {shortened(column)}")
    if outside := [number for number in numbers if number >= words]:
        raise CorpusError(f"{where}: index {outside[0]} is outside the sentence ({words} words, counted from 0)")
    return numbers


def _replaced(words: Sequence[str], place: int, word: str) -> tuple[str, ...]:
    return (*words[:place], word, *words[place + 1 :])
