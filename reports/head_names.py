"""What a mistyped name of a head says: which one was probably meant, and how heads are named."""

from __future__ import annotations

import difflib
import re
from collections.abc import Sequence


def head_hint(name: object, known: Sequence[str]) -> str:
    """Return the end of an error about a head called `name`, of heads with the names `known`, at least one.

    >>> head_hint("3.5", ["3-4", "3-5"])
    "did you mean '3-5'? heads are named layer-head from 1: 1-1 to 3-5"
    >>> head_hint("", ["3-4", "3-5"])
    'heads are named layer-head from 1: 1-1 to 3-5'
    """
    layers, heads = (max(numbers) for numbers in zip(*(map(int, one.split("-")) for one in known), strict=True))
    there = f"heads are named layer-head from 1: 1-1 to {layers}-{heads}"
    joined = "-".join(re.findall(r"\d+", str(name)))
    meant = [joined] if joined in known else difflib.get_close_matches(str(name), known, 1)
    return f"did you mean {meant[0]!r}? {there}" if meant else there
