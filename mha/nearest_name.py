"""How the message about an unknown name ends: of models, probes, corpora, keys and words alike."""

from __future__ import annotations

import difflib
from collections.abc import Iterable


def nearest_name(name: str, known: Iterable[str], otherwise: str = "") -> str:
    """Return the question whether the most similar of `known` was meant; where none is similar, `otherwise`, or all.

    >>> nearest_name("dependancy", ["position", "dependency"])
    "did you mean 'dependency'?"
    >>> nearest_name("x", ["position", "dependency"])
    'known are position, dependency'
    """
    names = list(known)
    near = difflib.get_close_matches(name, names, 1)
    return f"did you mean {near[0]!r}?" if near else otherwise or f"known are {', '.join(names)}"
