"""How a run, a training or a study tells how far it is."""

from __future__ import annotations

from typing import Protocol


class Progress(Protocol):
    """Called with what is done, how many texts or steps of it are done, how many there are, and what else to tell."""

    def __call__(self, what: str, done: int, of: int, note: str = "") -> None:
        """Show it."""


def silent(what: str, done: int, of: int, note: str = "") -> None:
    """Show nothing."""
