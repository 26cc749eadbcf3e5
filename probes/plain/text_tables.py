"""The texts of a table: a column of a CSV, TSV or Parquet file, or a key of JSON objects."""

from __future__ import annotations

import csv
import json
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, Final

from probes.corpora.line_reader import CorpusError, numbered_lines, refuse_quoting, shortened, suffixes_of

COLUMNS: Final = ("text", "sentence")
"What a column of texts is called where nobody names it, in any case."

SUFFIXES: Final = (".csv", ".jsonl", ".json", ".parquet")
"Of files that are read as tables of texts; a .tsv file is one where its header has such a column."

Place = tuple[int, str]
"The number of a line, or of a row where there are no lines, from 1, and what stands there."


def text_column(columns: Sequence[str], wanted: str | None, where: str) -> str:
    """Return the column that is `wanted`, else the one of COLUMNS; raises CorpusError where there is none, or both."""
    found = [name for name in columns if (name == wanted if wanted else name.strip().lower() in COLUMNS)]
    if len(found) == 1:
        return found[0]
    called = repr(wanted) if wanted else " or ".join(COLUMNS)
    lacking = f"{len(found)} columns called {called}" if found else f"no column called {called}"
    raise CorpusError(f'{where}: {lacking}; name one as column = "...": it has {", ".join(map(shortened, columns))}')


def has_text_column(header: str) -> bool:
    """Return whether a line of names parted by tabs has one of COLUMNS."""
    return any(name.strip().lower() in COLUMNS for name in header.split("\t"))


def table_texts(path: Path, column: str | None) -> Iterator[Place]:
    """Yield place and text of every row, "" where it is empty; raises CorpusError for what is no table of texts."""
    readers = {".jsonl": _json_lines, ".json": _json_list, ".parquet": _parquet}
    yield from readers.get(suffixes_of(path)[-1], _separated)(path, column)


def _separated(path: Path, column: str | None) -> Iterator[Place]:
    """Read values parted by tabs, as they stand, or by commas or semicolons and in quotes where they have some."""
    header = next(numbered_lines(path), (1, ""))[1]
    lines = (f"{line}\n" for _, line in numbered_lines(path))
    if tabs := suffixes_of(path)[-1] == ".tsv":
        rows = csv.reader(lines, delimiter="\t", quoting=csv.QUOTE_NONE)
    else:
        rows = csv.reader(lines, delimiter=max(",;\t", key=header.count), strict=True)
    place = None
    names: list[str] = []
    try:
        for row in rows:
            if place is None:
                names, place = row, row.index(text_column(row, column, f"{path}:1"))
            elif row and len(row) != len(names):
                raise CorpusError(f"{path}:{rows.line_num}: {len(row)} columns, expected {len(names)} as in line 1")
            elif row:
                if tabs:
                    refuse_quoting(row[place], f"{path}:{rows.line_num}")
                yield rows.line_num, row[place]
    except csv.Error as error:
        raise CorpusError(f"{path}:{rows.line_num}: not CSV ({error})") from None


def _json_lines(path: Path, column: str | None) -> Iterator[Place]:
    for number, line in numbered_lines(path):
        if line.strip():
            yield number, _text_of(_parsed(line, f"{path}:{number}"), column, f"{path}:{number}")


def _json_list(path: Path, column: str | None) -> Iterator[Place]:
    found = _parsed("\n".join(line for _, line in numbered_lines(path)), str(path), "; one value a line is .jsonl")
    if not isinstance(found, list):
        raise CorpusError(f"{path}: a JSON {type(found).__name__}, expected a list of texts or of objects with a text")
    for number, one in enumerate(found, start=1):
        yield number, _text_of(one, column, f"{path}: entry {number}")


def _parsed(text: str, where: str, hint: str = "") -> Any:
    try:
        return json.loads(text)
    except (ValueError, RecursionError) as error:
        raise CorpusError(f"{where}: not JSON ({error}{hint})") from None


def _text_of(one: Any, column: str | None, where: str) -> str:
    """Return a string, or the string of an object under the column."""
    if isinstance(one, dict):
        one = one[text_column(list(one), column, where)]
    if one is not None and not isinstance(one, str):
        raise CorpusError(f"{where}: a {type(one).__name__} where a text is expected")
    return one or ""


def _parquet(path: Path, column: str | None) -> Iterator[Place]:
    import pyarrow as pa
    import pyarrow.parquet as pq

    try:
        file = pq.ParquetFile(path)
        name = text_column(file.schema_arrow.names, column, str(path))
        rows = (value for batch in file.iter_batches(columns=[name]) for value in batch.column(0).to_pylist())
        for number, value in enumerate(rows, start=1):
            yield number, _text_of(value, column, f"{path}: row {number}")
    except (pa.ArrowException, OSError) as error:
        raise CorpusError(f"{path}: not a readable Parquet file ({str(error).splitlines()[0]})") from None
