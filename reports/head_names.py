"""What a mistyped name of a head says: which one was probably meant, and how heads are named."""

from __future__ import annotations

import re
from collections.abc import Sequence


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
