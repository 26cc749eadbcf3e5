"""What errors say: one line that a person can read, whatever the input holds that it quotes."""

from __future__ import annotations

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
