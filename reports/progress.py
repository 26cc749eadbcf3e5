"""How far a run, a training, a study or a page is, told to whoever asks."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Protocol, TypeVar

Step = Callable[[str, int, int], None]
"Called with what is done, how many of it are done, and how many there are."

T = TypeVar("T")


class Progress(Protocol):
    """A `Step` that can be told what else there is to tell, too."""

    def __call__(self, what: str, done: int, of: int, note: str = "") -> None:
        """Show it."""


def silent(what: str, done: int, of: int, note: str = "") -> None:
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


def counter(step: Step, what: str, of: int) -> Callable[..., None]:
    """Return what tells of one of `what` more, or of as many as it is told, each time it is called.

    >>> count = counter(lambda *now: print(*now), "texts", 9)
    >>> count(), count(4)
    texts 1 9
    texts 5 9
    (None, None)
    """
    done = 0

    def more(number: int = 1) -> None:
        nonlocal done
        done += number
        step(what, done, of)

    return more
