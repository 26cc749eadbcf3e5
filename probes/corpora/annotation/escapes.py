"""Words as the Penn Treebank and OntoNotes escape them, and the characters that they stand for."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from types import MappingProxyType

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
