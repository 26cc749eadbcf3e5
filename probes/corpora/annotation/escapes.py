"""Words as the Penn Treebank and OntoNotes escape them, and the characters that they stand for."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

ESCAPES = {
    **{"-LRB-": "(", "-RRB-": ")", "-LSB-": "[", "-RSB-": "]", "-LCB-": "{", "-RCB-": "}"},
    **{"/.": ".", "/?": "?", "/-": "-"},
}
"Escape -> what is read in its place."

_INSIDE = re.compile(r"\\([/*])")
"A slash or star within a word, which the Penn Treebank escapes."


def unescaped(words: Sequence[str]) -> tuple[str, ...]:
    r"""Return words with the characters that escapes among them stand for.

    >>> unescaped(["-LRB-", "sic", "-RRB-", "and\\/or", "/."])
    ('(', 'sic', ')', 'and/or', '.')
    """
    return tuple(_plain(word) for word in words)


def escape_remarks(words: Sequence[str]) -> Iterator[str]:
    """Yield a remark for every escape, which names it."""
    return (f"escaped character, read as what it stands for: {word}" for word in words if _plain(word) != word)


def _plain(word: str) -> str:
    return ESCAPES.get(word) or _INSIDE.sub(r"\1", word)
