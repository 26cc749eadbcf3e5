"""The lines of words of a CoNLL-U file, and the text that they make."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from probes.corpora.annotation.escapes import unescaped


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
        return "SpaceAfter=No" not in self.columns["misc"].split("|")


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
