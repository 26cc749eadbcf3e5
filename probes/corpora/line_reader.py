"""The lines of a file, numbered, so that whoever reads them can say where a fault is; numbers and ids in them."""

from __future__ import annotations

import csv
import gzip
import re
import zlib
from collections.abc import Iterable, Iterator, Sequence
from io import BufferedReader, TextIOWrapper
from pathlib import Path
from typing import IO, Final, cast

from mha.messages import OneLineError

DIGITS = 9
"Of the longest number that a corpus may hold: such a number fits in 32 bits."

_PACKED = {b"PK\x03\x04": "zip", b"BZh": "bzip2", b"\xfd7zXZ": "xz", b"\x28\xb5\x2f\xfd": "zstd"}
"First bytes of compressed files that are not read."

_UTF_16 = (b"\xff\xfe", b"\xfe\xff")
_BROKEN = re.compile("[\udc80-\udcff]")
"A byte that is no UTF-8, as Python decodes it on demand."

_QUOTED = re.compile(r'"(?:[^"]|"")*"')


class CorpusError(OneLineError):
    """A corpus file cannot be read; the message is one line that names the file and, where there is one, the line."""


def numbered_lines(path: Path) -> Iterator[tuple[int, str]]:
    r"""Yield number, from 1, and text of every line, without its end (\n, \r\n, \r or \r\r\n) or a mark of byte order.

    Files packed by gzip are read too. Raises CorpusError for what is no text.
    """
    try:
        with _opened(path) as file:
            text = TextIOWrapper(cast(BufferedReader, file), "utf-8", errors="surrogateescape", newline="")
            for number, line in enumerate(_lines(text), start=1):
                if found := _BROKEN.search(line):
                    byte = ord(found[0]) - 0xDC00
                    raise CorpusError(f"{path}:{number}: not UTF-8 (byte 0x{byte:02x}); save the file as UTF-8")
                if "\0" in line:
                    raise CorpusError(f"{path}:{number}: a NUL byte, which no text has")
                yield number, line.removeprefix("\ufeff")
    except (EOFError, gzip.BadGzipFile, zlib.error) as error:
        raise CorpusError(f"{path}: a gzip file that is broken or cut off ({error})") from None


def _lines(text: Iterable[str]) -> Iterator[str]:
    """Yield lines without their ends; a carriage return too many, of a file that was converted twice, is none."""
    returned = False
    for line in text:
        if not (returned and line == "\r\n"):
            yield line.rstrip("\r\n")
        returned = line.endswith("\r")


def _opened(path: Path) -> IO[bytes]:
    """Open the bytes of a text; raises CorpusError by its first bytes where it is none."""
    with path.open("rb") as file:
        begin = file.read(5)
    if begin.startswith(b"\x1f\x8b"):
        return cast(IO[bytes], gzip.open(path))
    if packed := next((name for mark, name in _PACKED.items() if begin.startswith(mark)), None):
        raise CorpusError(f"{path}: compressed ({packed}); unpack it, or pack it by gzip, which is read")
    if begin.startswith(_UTF_16):
        raise CorpusError(f"{path}:1: UTF-16 (byte 0x{begin[0]:02x}), not UTF-8; save the file as UTF-8")
    return path.open("rb")


def filled_lines(path: Path) -> Iterator[tuple[int, str]]:
    """Yield `numbered_lines` but for the blank ones."""
    return ((number, line) for number, line in numbered_lines(path) if line.strip())


QUOTING: Final = "; a text with a separator or a quote in it stands in quotes, its own quotes doubled"
"What to do where a .csv file cannot be divided."


def separated(path: Path) -> Iterator[tuple[int, list[str]]]:
    """Yield line and values of the header and of every row.

    They are parted by tabs, as they stand, or by commas or semicolons and in quotes where they have some. Raises
    CorpusError for a row with more or fewer than the header.
    """
    begin, header = next(filled_lines(path), (1, ""))
    lines = (f"{line}\n" for _, line in numbered_lines(path))
    if suffixes_of(path)[-1] == ".tsv":
        rows = csv.reader(lines, delimiter="\t", quoting=csv.QUOTE_NONE)
    else:
        rows = csv.reader(lines, delimiter=max(",;\t", key=header.count), strict=True)
    columns = None
    try:
        for row in rows:
            if row and columns not in (None, len(row)):
                wrong = f"{len(row)} columns, expected {columns} as in line {begin}"
                raise CorpusError(f"{path}:{rows.line_num}: {wrong}{QUOTING * (suffixes_of(path)[-1] == '.csv')}")
            if row and rows.line_num >= begin:
                yield rows.line_num, row
                columns = len(row)
    except csv.Error as error:
        raise CorpusError(f"{path}:{rows.line_num}: not CSV ({error}){QUOTING}") from None


def unpacked_name(path: Path) -> Path:
    """Return what a file is called without the .gz of gzip."""
    return path.with_suffix("") if path.suffix.lower() == ".gz" else path


def suffixes_of(path: Path) -> list[str]:
    """Return the suffixes of a file in lower case, without that of gzip; one that is "" where it has none."""
    return [suffix.lower() for suffix in unpacked_name(path).suffixes] or [""]


def refuse_quoting(cell: str, where: str) -> None:
    """Raise CorpusError for a cell in quotation marks that a spreadsheet has put around it, doubling those in it."""
    if _QUOTED.fullmatch(cell) and re.search('""|,', cell[1:-1]):
        raise CorpusError(
            f"{where}: {shortened(cell)} has the quotation marks that spreadsheets put around a cell; save the file "
            "without quoting"
        )


def refuse_near(columns: Iterable[object], known: Iterable[str], where: str) -> None:
    """Raise CorpusError for a column whose name is a `known` one but for capitals and blanks, where that is lacking."""
    given = [*columns]
    for name in given:
        meant = str(name).strip().lower()
        if meant != name and meant in known and meant not in given:
            raise CorpusError(f"{where}: a column called {name!r}: call it {meant!r}, or something else if it is none")


def refuse_twice(columns: Sequence[object], known: Iterable[str], where: str) -> None:
    """Raise CorpusError for a `known` column that stands there twice."""
    if twice := [name for name in known if columns.count(name) > 1]:
        raise CorpusError(f"{where}: {columns.count(twice[0])} columns called {twice[0]!r}, expected one")


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
