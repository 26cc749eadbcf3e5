"""What errors say: one line that a person can read, whatever the input holds, and the nearest known name."""

from __future__ import annotations

import difflib
import os
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final


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


LONGEST: Final = 1500
"Characters of an error."


class OneLineError(ValueError):
    """An error about an input: one line, without its middle where it would be long."""

    def __init__(self, text: object = "") -> None:
        """Take what it says."""
        super().__init__(one_line(str(text)))


def one_line(text: str) -> str:
    r"""Return a text on one line of at most LONGEST characters.

    >>> one_line("two\nlines"), len(one_line("a" * 5000))
    ('two lines', 1500)
    """
    line = " ".join(text.splitlines())
    half = (LONGEST - 3) // 2
    return line if len(line) <= LONGEST else f"{line[: half + 1]} … {line[-half:]}"


@contextmanager
def naming(path: Path) -> Iterator[None]:
    """Give the name of a file to an error of the system that has none, as where a full disk lets no file grow."""
    try:
        yield
    except OSError as error:
        if error.errno and error.filename is None:
            raise OSError(error.errno, os.strerror(error.errno), str(path)) from error
        raise
