"""Words as files write them: escapes and the characters that they stand for, and the lines of words of CoNLL-U."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import NamedTuple

_BRACKETS = {"-LRB-": "(", "-RRB-": ")", "-LSB-": "[", "-RSB-": "]", "-LCB-": "{", "-RCB-": "}"}

ESCAPES = {
    **_BRACKETS,
    **{escape.lower(): plain for escape, plain in _BRACKETS.items()},
    **{"/.": ".", "/?": "?", "/-": "-"},
}
"Escape -> what is read in its place."

QUOTES = {"``": '"', "''": '"'}
"Quotation marks of the Penn Treebank, which are escapes in CoNLL-2012 alone: elsewhere people type them."

NO_MORE: Mapping[str, str] = MappingProxyType({})

_INSIDE = re.compile(r"\\([/*])")
"A slash or star within a word, which the Penn Treebank escapes."


def unescaped(words: Sequence[str], more: Mapping[str, str] = NO_MORE) -> tuple[str, ...]:
    r"""Return words with the characters that escapes among them stand for, those of ESCAPES and `more`.

    >>> unescaped(["-LRB-", "sic", "-RRB-", "and\\/or", "/."])
    ('(', 'sic', ')', 'and/or', '.')
    """
    return tuple(more.get(word) or ESCAPES.get(word) or _INSIDE.sub(r"\1", word) for word in words)


def escape_remarks(words: Sequence[str], plain: Sequence[str]) -> Iterator[str]:
    """Yield a remark for every word that stands for another, in `plain`; it names the escape."""
    both = zip(words, plain, strict=True)
    return (f"escaped character, read as what it stands for: {word}" for word, read in both if word != read)


class PlacedError(ValueError):
    """A problem at a place of a sentence, a line or a word, which whoever knows the file names."""

    def __init__(self, place: int, problem: str) -> None:
        """Keep the place beside the message."""
        super().__init__(problem)
        self.place = place


class TokenLine(NamedTuple):
    """A line of a word, an empty node or a multiword range."""

    line: int
    id: int | tuple[int, str, int]
    "Of an empty node with a dot (8, '.', 1), of a range with a hyphen (1, '-', 2)."
    columns: dict[str, str]
    'By name; "_" where the file lacks one.'

    @property
    def range(self) -> tuple[int, int] | None:
        """First and last word of a range, None for others."""
        return (self.id[0], self.id[2]) if isinstance(self.id, tuple) and self.id[1] == "-" else None

    @property
    def space_after(self) -> bool:
        """Whether a blank follows in the text as it was written."""
        return "SpaceAfter=No" not in attributes(self.columns["misc"])


def attributes(misc: str) -> list[str]:
    """Return the attributes of a MISC column, without blanks around them."""
    return [one.strip() for one in misc.split("|")]


def withheld(forms: Sequence[str]) -> int:
    """Return how many forms are nothing but _, where they are most of a sentence; else 0."""
    count = forms.count("_")
    return count if 2 * count > max(len(forms), 2) else 0


def has_letters(text: str, words: Sequence[TokenLine], ranges: Sequence[TokenLine]) -> bool:
    """Return whether a text, but for its white space, is that of the words, with ranges in place of theirs."""
    whole = {one.range[0]: one for one in ranges if one.range}
    forms, end = list[str](), 0
    for number, word in enumerate(words, start=1):
        if number > end:
            token = whole.get(number, word)
            forms.append(token.columns["form"])
            end = token.range[1] if token.range else number
    letters = "".join(text.split())
    return any(letters == "".join("".join(some).split()) for some in (forms, unescaped(forms)))
