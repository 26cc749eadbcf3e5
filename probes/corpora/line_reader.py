"""The lines of a file, numbered, so that whoever reads them can say where a fault is; numbers and ids in them."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from mha.messages import OneLineError

DIGITS = 9
"Of the longest number that a corpus may hold: such a number fits in 32 bits."


class CorpusError(OneLineError):
    """A corpus file cannot be read; the message is one line that names the file and, where there is one, the line."""


def numbered_lines(path: Path) -> Iterator[tuple[int, str]]:
    """Yield number, from 1, and text of every line, without its end; raises CorpusError for what is no text."""
    with path.open("rb") as file:
        for number, raw in enumerate(file, start=1):
            try:
                line = raw.decode("utf-8-sig" if number == 1 else "utf-8")
            except UnicodeDecodeError as error:
                raise CorpusError(f"{path}:{number}: not UTF-8 (byte 0x{raw[error.start]:02x})") from None
            if "\0" in line:
                raise CorpusError(f"{path}:{number}: a NUL byte, which no text has")
            yield number, line.rstrip("\r\n")


def number_in(text: str) -> int | None:
    """Return a number of at most DIGITS digits; None for everything else.

    >>> number_in("12"), number_in("-1"), number_in("9" * 5000)
    (12, None, None)
    """
    return int(text) if text.isascii() and text.isdigit() and len(text) <= DIGITS else None


def shortened(text: str, longest: int = 40) -> str:
    """Return a text as an error quotes it, cut where it is long.

    >>> shortened("a" * 50)
    "'aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa…'"
    """
    return repr(text if len(text) <= longest else text[:longest] + "…")


class UniqueIds:
    """Ids of one kind, of which no two may be equal: what has one id counts as one when intervals are resampled."""

    def __init__(self, kind: str) -> None:
        """Begin without any; `kind` is what has them, as an error calls it."""
        self.kind, self._seen = kind, dict[str, str]()

    def add(self, name: str, where: str) -> None:
        """Take an id; raises CorpusError, with both places, where it was there before."""
        if (first := self._seen.setdefault(name, where)) is not where:
            raise CorpusError(
                f"{where}: {self.kind} id {shortened(name)} is that of {first} too; give each {self.kind} its own"
            )
