"""What the minimal pairs of open-sesame are: agreement of an auxiliary with its subject, and gender of a reflexive.

The files (Lin, Tan and Frank 2019) mark a verb or reflexive, its subject and the distractors. The reflexive has a
gender, so its pair is himself and herself. All the marked verbs are modals, which have no number; the pair puts does
and do in their place, which is right wherever a modal was, and the subject's noun says which of the two is.
"""

from __future__ import annotations

from collections.abc import Sequence

from probes.conllu_reader import CorpusError
from probes.minimal_pairs import AGREEMENT, PLURAL, SINGULAR, Item, Kind, LeftOut, MinimalPair

REFLEXIVES = {"himself": "herself", "herself": "himself"}

AUXILIARIES = ("can", "could", "will", "would", "may", "might", "shall", "should", "must", "does", "do", "did")
"Words before a bare verb, which does and do can take the place of."

UNMARKED = ("fish", "sheep", "deer", "series", "species")
"Nouns with one form for both numbers."

PLURALS = ("men", "women", "children", "people", "feet", "teeth", "mice", "geese")
"Plurals that do not end in s."


def open_sesame_item(line: str, paradigm: str, source: str, where: str) -> Item:
    """Return the pair of one line, or why there is none; `where` is file and line, for CorpusError."""
    columns = line.split("\t")
    if len(columns) != 4:
        raise CorpusError(f"{where}: expected sentence, index, subject and distractors parted by tabs, got {line!r}")
    words = tuple(columns[0].split())
    query = _numbers(columns[1], len(words), 1, where)[0]
    subject = _numbers(columns[2], len(words), 2, where)[1]
    spans = _numbers(columns[3], len(words), None, where)
    distractors = [words[last] for last in spans[1::2]]
    condition = f"{len(distractors)} distractor{'' if len(distractors) == 1 else 's'}"
    asked = words[query]
    if asked in REFLEXIVES:
        kind = Kind(paradigm, condition, phenomenon="reflexive gender")
        return MinimalPair(source, kind, words, _replaced(words, query, REFLEXIVES[asked]))
    kind = Kind(paradigm, condition, phenomenon=AGREEMENT)
    if asked not in AUXILIARIES:
        return LeftOut(source, kind, f"the marked word {asked!r} is no auxiliary and no reflexive")
    number, others = plural(words[subject]), [plural(noun) for noun in distractors]
    if number is None or None in others:
        return LeftOut(source, kind, "a noun with one form for both numbers")
    attractors = sum(other != number for other in others)
    kind = Kind(paradigm, condition, attractors, PLURAL if number else SINGULAR, AGREEMENT)
    right, wrong = ("do", "does") if number else ("does", "do")
    return MinimalPair(source, kind, _replaced(words, query, right), _replaced(words, query, wrong))


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
    if (len(parts) % 2 if many is None else len(parts) != many) or not all(part.isdecimal() for part in parts):
        raise CorpusError(f"{where}: expected {amount} word indices, got {column!r}")
    numbers = [int(part) for part in parts]
    if outside := [number for number in numbers if number >= words]:
        raise CorpusError(f"{where}: index {outside[0]} is outside the sentence ({words} words, counted from 0)")
    return numbers


def _replaced(words: Sequence[str], place: int, word: str) -> tuple[str, ...]:
    return (*words[:place], word, *words[place + 1 :])
