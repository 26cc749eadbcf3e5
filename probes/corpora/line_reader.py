"""The lines of a file, numbered, so that whoever reads them can say where a fault is."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from probes.corpora.conllu import CorpusError


def numbered_lines(path: Path) -> Iterator[tuple[int, str]]:
    """Yield number, from 1, and text of every line, without its end; raises CorpusError for what is no UTF-8."""
    with path.open("rb") as file:
        for number, raw in enumerate(file, start=1):
            try:
                line = raw.decode("utf-8-sig" if number == 1 else "utf-8")
            except UnicodeDecodeError as error:
                raise CorpusError(f"{path}:{number}: not UTF-8 (byte 0x{raw[error.start]:02x})") from None
            yield number, line.rstrip("\r\n")
