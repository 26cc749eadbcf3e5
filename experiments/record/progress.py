"""How a run, a training or a study tells how far it is."""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol


class Progress(Protocol):
    """Called with what is done, how many texts or steps of it are done, how many there are, and what else to tell."""

    def __call__(self, what: str, done: int, of: int, note: str = "") -> None:
        """Show it."""


def silent(what: str, done: int, of: int, note: str = "") -> None:
    """Show nothing."""


def counter(progress: Progress, what: str, of: int) -> Callable[..., None]:
    """Return what tells of one step of `what` more, or of as many as it is told, each time it is called.

    >>> step = counter(lambda what, done, of, note="": print(what, done, of), "texts", 9)
    >>> step(), step(4)
    texts 1 9
    texts 5 9
    (None, None)
    """
    done = 0

    def step(more: int = 1) -> None:
        nonlocal done
        done += more
        progress(what, done, of)

    return step
