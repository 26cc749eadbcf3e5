"""What errors say: one line that a person can read, whatever the input holds that it quotes."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

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
