"""How far the making of a page or of figures is, told to whoever asks."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import TypeVar

Step = Callable[[str, int, int], None]
"Called with what is done, how many of it are done, and how many there are."

T = TypeVar("T")


def silent(what: str, done: int, of: int) -> None:
    """Tell nobody."""


def each(what: str, items: Sequence[T], step: Step) -> Iterator[T]:
    """Yield the items; tell `step` before the first one and whenever one is done. Without items nothing is told.

    >>> told = []
    >>> [draw for draw in each("figures", "ab", lambda *now: told.append(now))], told
    (['a', 'b'], [('figures', 0, 2), ('figures', 1, 2), ('figures', 2, 2)])
    """
    for done, item in enumerate(items):
        step(what, done, len(items))
        yield item
    if items:
        step(what, len(items), len(items))
