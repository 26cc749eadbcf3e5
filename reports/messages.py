"""What errors say: one line that a person can read, whatever a file holds, and which head was meant."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

LONGEST: Final = 1500
"Characters of an error."


def one_line(text: str) -> str:
    """Return a text on one line of at most LONGEST characters, without its middle where it is longer."""
    line = " ".join(text.splitlines())
    half = (LONGEST - 3) // 2
    return line if len(line) <= LONGEST else f"{line[: half + 1]} … {line[-half:]}"


def head_hint(name: object, known: Sequence[str]) -> str:
    """Return the end of an error about a head called `name`, where heads have the names `known`, at least one.

    A head was meant where `name` has its two numbers; one with other numbers is not guessed at.

    >>> head_hint("3.5", ["3-4", "3-5"])
    "did you mean '3-5'? heads are named layer-head from 1: 1-1 to 3-5"
    >>> head_hint("", ["3-4", "3-5"])
    'heads are named layer-head from 1: 1-1 to 3-5'
    """
    layers, heads = (max(numbers) for numbers in zip(*(map(int, one.split("-")) for one in known), strict=True))
    there = f"heads are named layer-head from 1: 1-1 to {layers}-{heads}"
    meant = "-".join(re.findall(r"\d+", str(name)))
    return f"did you mean {meant!r}? {there}" if meant in known else there
