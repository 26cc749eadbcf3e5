"""Coreference brackets in the MISC column of CoNLL-U (GUM, CorefUD): `Entity=(7-person(3-place)` ... `7)`."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from probes.corpora.annotation.written_words import PlacedError, attributes

_BRACKET = re.compile(r"\([^()]*\)?|[^()]*\)")
_IDENTITY = re.compile(r".*\d(\[\d+/\d+\])?")
"An entity's id ends in a number (7 in GUM, e7 in CorefUD), a type does not."

_PART = re.compile(r"(.+)\[(\d{1,9})/(\d{1,9})\]")


TWICE = "mention that is written twice, counted once"
SEVERAL = "words that are a mention of more than one entity, counted for each"

Span = tuple[str, tuple[int, ...]]
"The entity of a mention, and its words in ascending order, counted from 0."


class BracketCell(NamedTuple):
    """The MISC column of one word or empty node and its place in the sentence."""

    line: int
    "Line number in the file."
    before: int
    "Number of words before this line."
    after: int
    "Number of words up to and with this line; equal to `before` for an empty node."
    misc: str


def mention_remarks(spans: Sequence[Span]) -> list[str]:
    """Return a remark for every mention of a sentence that is there twice, or has the words of another."""
    once = {*spans}
    return [TWICE] * (len(spans) - len(once)) + [SEVERAL] * (len(once) - len({inside for _, inside in once}))


def read_mentions(cells: Sequence[BracketCell], group: int) -> Iterator[Span]:
    """Yield every mention in the cells of one sentence.

    `group` is the place of the entity id among the fields of a bracket; a closing bracket may have the id alone.
    Brackets of one entity close last in, first out; those of different entities may cross. The parts of a discontinuous
    mention, `(4[1/2]` and `(4[2/2]`, are joined. A mention around empty nodes only has no words.
    """
    opened: dict[str, list[BracketCell]] = {}
    spans: list[tuple[str, range]] = []
    for cell in cells:
        for bracket in _brackets(cell):
            fields = bracket.strip("()").split("-")
            key = fields[min(group, len(fields) - 1)]
            if bracket.startswith("("):
                opened.setdefault(key, []).append(cell)
            if bracket.endswith(")"):
                if not opened.get(key):
                    raise PlacedError(cell.line, f"Entity bracket '{key})' closes what is not open")
                spans.append((key, range(opened[key].pop().before, cell.after)))
    if left := min(((cell.line, key) for key, stack in opened.items() for cell in stack), default=None):
        raise PlacedError(left[0], f"Entity bracket '({left[1]}' is not closed in its sentence")
    for entity, parts, total in _joined(spans):
        if len(parts) != total:
            raise PlacedError(cells[0].line, f"Entity {entity} lacks a part of a discontinuous mention of {total}")
        yield entity, tuple(sorted({word for part in parts for word in part}))


def id_place(cells: Sequence[BracketCell], declared: int | None = None) -> int:
    """Return the place of the entity id among the fields of brackets, for `read_mentions`.

    Where nothing is declared it is the one of the first two fields that ends in a number in all brackets. Raises
    PlacedError where that is true of both, or of none, or of another than the declared one, and for an opening bracket
    of one field that is no id where brackets may have several: a type alone, or raw parentheses within a field.
    """
    brackets = [(cell, one) for cell in cells for one in _brackets(cell)]
    several = [(cell, one.strip("()").split("-")) for cell, one in brackets if "-" in one]
    single = [(cell, one) for cell, one in brackets if one.startswith("(") and "-" not in one]
    types = [(cell, one) for cell, one in single if not _IDENTITY.fullmatch(one.strip("()"))]
    if types and (several or declared is None):
        cell, one = types[0]
        raise PlacedError(cell.line, f"Entity bracket {one!r} has no id, expected one that ends in a number")
    places = [at for at in (0, 1) if all(_IDENTITY.fullmatch(fields[at]) for _, fields in several)]
    if not several or declared in places or (declared is not None and len(places) != 1):
        return declared or 0
    if declared is None and len(places) == 1:
        return places[0]
    cell, fields = several[0]
    problem = "does not show which field is the entity's id" if declared is None else "has no id in the declared field"
    raise PlacedError(
        cell.line,
        f"Entity bracket '({'-'.join(fields)}' {problem}; declare it before the first sentence, as in "
        "'# global.Entity = GRP-etype'",
    )


def _brackets(cell: BracketCell) -> list[str]:
    """Return the brackets of a cell; raises PlacedError where there is something else."""
    text = next((part[len("Entity=") :] for part in attributes(cell.misc) if part.startswith("Entity=")), "")
    brackets = _BRACKET.findall(text)
    if "".join(brackets) != text:
        raise PlacedError(cell.line, f"{text!r} is not a row of Entity brackets")
    return brackets


def _joined(spans: Sequence[tuple[str, range]]) -> Iterator[tuple[str, list[range], int]]:
    """Yield entity, spans and the number of spans that there should be, for every mention."""
    pending: dict[tuple[str, int], list[list[range]]] = {}
    for key, span in spans:
        if not (part := _PART.fullmatch(key)):
            yield key, [span], 1
            continue
        number, total = int(part[2]), int(part[3])
        waiting = pending.setdefault((part[1], total), [])
        mention = next((mention for mention in waiting if len(mention) == number - 1), None)
        if mention is None:
            waiting.append(mention := [])
        mention.append(span)
    for (entity, total), mentions in pending.items():
        for mention in mentions:
            yield entity, mention, total
