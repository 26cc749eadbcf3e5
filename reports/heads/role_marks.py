"""The letter and the colour of a main role: the same on every page of a run."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from string import ascii_letters, ascii_uppercase
from typing import Final

RoleName = tuple[str, str]
"Probe and label in which a head is most surely above its rivals."

COLOURS: Final = 7
"Roles that have a colour of their own, the most frequent ones; all have a letter. role_marks.css has the colours."


@dataclass(frozen=True)
class RoleMark:
    """How a page shows a role in a grid of heads."""

    letter: str
    colour: int
    "From 1 to COLOURS; 0 for that of all other roles."


def role_marks(*views: Iterable[RoleName]) -> dict[RoleName, RoleMark]:
    """Return the marks of main roles: those of the first view, the most frequent first, then what others add.

    A view has one entry for every head that has a main role in it; a role has the same mark in all of them.

    A letter is one of the label itself where that is free, so it depends on which other roles there are, as the colour
    does: pages that should agree must have all heads of the run counted.

    >>> role_marks([("dependency", "det"), ("dependency", "obj"), ("position", "next"), ("dependency", "obj")])
    {('dependency', 'obj'): RoleMark(letter='O', colour=1), ('dependency', 'det'): RoleMark(letter='D', colour=2), \
('position', 'next'): RoleMark(letter='N', colour=3)}
    """
    counts = [sorted(Counter(mains).items(), key=lambda role: (-role[1], role[0])) for mains in views]
    ranked = list(dict.fromkeys(role for count in counts for role, _ in count))
    letters = _letters([label for _, label in ranked])
    return {
        role: RoleMark(letter, place if place <= COLOURS else 0)
        for place, (role, letter) in enumerate(zip(ranked, letters, strict=True), start=1)
    }


def _letters(labels: Sequence[str]) -> list[str]:
    """Return a letter for each label.

    >>> _letters(["det", "dobj", "42", "d"])
    ['D', 'O', 'A', 'B']
    """
    given: list[str] = []
    for label in labels:
        wanted = [*(sign for sign in label.upper() if sign in ascii_uppercase), *ascii_uppercase, *ascii_letters]
        given.append(next((letter for letter in wanted if letter not in given), "•"))
    return given
