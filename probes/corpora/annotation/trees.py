"""The heads of the words of a sentence, checked to make one tree."""

from __future__ import annotations

from collections.abc import Sequence

SHOWN = 10
"How many words of a circle an error names."


class TreeError(ValueError):
    """The heads are not those of one tree; the message says why, `word` where."""

    def __init__(self, word: int, problem: str) -> None:
        """Keep the word beside the message."""
        super().__init__(problem)
        self.word = word


def check_tree(heads: Sequence[int]) -> None:
    """Raise TreeError where heads, from 0 and -1 for the root, do not make one tree."""
    n = len(heads)
    for word, head in enumerate(heads):
        if head >= n:
            raise TreeError(word, f"head {head + 1} is outside the sentence ({n} words)")
    roots = [word for word, head in enumerate(heads) if head < 0]
    if not roots:
        raise TreeError(0, f"no root: none of the {n} words of this sentence has head 0")
    if len(roots) > 1:
        raise TreeError(roots[1], f"a second root: word {roots[1] + 1}, after word {roots[0] + 1}")
    if cycle := _cycle(heads):
        shown = [str(word + 1) for word in cycle]
        path = " -> ".join(shown if len(shown) <= SHOWN else [*shown[: SHOWN - 1], "…", shown[-1]])
        raise TreeError(cycle[0], f"the heads go in a circle: {path}")


def _cycle(heads: Sequence[int]) -> list[int]:
    """Return the words of a cycle, the first repeated at the end; empty if every word reaches the root."""
    safe = {-1}
    for word in range(len(heads)):
        path: dict[int, None] = {}  # in the order in which they were come by
        while word not in safe:
            if word in path:
                behind = [*path]
                return [*behind[behind.index(word) :], word]
            path[word] = None
            word = heads[word]
        safe.update(path)
    return []


def outermost(words: Sequence[int], heads: Sequence[int]) -> int:
    """Return the first of `words` whose head is none of them."""
    inside = set(words)
    return next(word for word in words if heads[word] not in inside)
