"""What errors about records and tables say: one line that a person can read, whatever the file holds."""

from __future__ import annotations

from typing import Final

LONGEST: Final = 1500
"Characters of an error."


def one_line(text: str) -> str:
    """Return a text on one line of at most LONGEST characters, without its middle where it is longer."""
    line = " ".join(text.splitlines())
    half = (LONGEST - 3) // 2
    return line if len(line) <= LONGEST else f"{line[: half + 1]} … {line[-half:]}"
