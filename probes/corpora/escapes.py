"""Words as the Penn Treebank and OntoNotes escape them, and the characters that they stand for."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

ESCAPES = {
    **{"-LRB-": "(", "-RRB-": ")", "-LSB-": "[", "-RSB-": "]", "-LCB-": "{", "-RCB-": "}"},
    **{"/.": ".", "/?": "?", "/-": "-"},
}
"Escape -> what is read in its place."


def unescaped(words: Sequence[str]) -> tuple[str, ...]:
    """Return words with the characters that escapes among them stand for.

    >>> unescaped(["-LRB-", "sic", "-RRB-", "/."])
    ('(', 'sic', ')', '.')
    """
    return tuple(ESCAPES.get(word, word) for word in words)


def escape_remarks(words: Sequence[str]) -> Iterator[str]:
    """Yield a remark for every escape, which names it."""
    return (f"escaped bracket or mark, read as what it stands for: {word}" for word in words if word in ESCAPES)
