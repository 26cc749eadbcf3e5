"""The texts of a table or data set: a column of CSV, TSV, Parquet or a `datasets` data set, or a key of JSON."""

from __future__ import annotations

import csv
import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from mha.models.folders import HUB
from probes.corpora.line_reader import CorpusError, filled_lines, numbered_lines, refuse_quoting, shortened, suffixes_of

if TYPE_CHECKING:
    import pandas as pd

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
    """Yield place and text of every row, "" where it is empty; raises CorpusError for what is no table of texts.

    Where rows are answers to a probe (`probes.words.own`), every text comes once.
    """
    readers = {".jsonl": _json_lines, ".json": _json_list, ".parquet": _parquet}
    _, columns = next(table_rows(path), ("", None))
    once, seen = isinstance(columns, dict) and {"query", "gold"} <= columns.keys(), set[str]()
    for place, text in readers.get(suffixes_of(path)[-1], _separated)(path, column):
        if text not in seen:
            yield place, text
        if once:
            seen.add(text)


def table_rows(path: Path | pd.DataFrame) -> Iterator[tuple[str, Any]]:
    """Yield place and columns, None if empty, of every row of a data frame, .jsonl or .csv file; nothing of others."""
    if not isinstance(path, Path):
        yield from ((f"row {number}", row) for number, row in enumerate(path.to_dict("records"), start=1))
        return
    if suffixes_of(path)[-1] == ".jsonl":
        yield from ((f"{path}:{number}", parsed(line, f"{path}:{number}")) for number, line in filled_lines(path))
    if suffixes_of(path)[-1] == ".csv":
        lines = separated(path)
        _, names = next(lines, (1, []))
        for number, row in lines:
            yield f"{path}:{number}", dict(zip(names, (cell or None for cell in row), strict=True))


def _separated(path: Path, column: str | None) -> Iterator[Place]:
    place = None
    for number, row in separated(path):
        if place is None:
            place = row.index(text_column(row, column, f"{path}:1"))
        else:
            if suffixes_of(path)[-1] == ".tsv":
                refuse_quoting(row[place], f"{path}:{number}")
            yield number, row[place]


def separated(path: Path) -> Iterator[tuple[int, list[str]]]:
    """Yield line and values of the header and of every row.

    They are parted by tabs, as they stand, or by commas or semicolons and in quotes where they have some. Raises
    CorpusError for a row with more or fewer than the header.
    """
    header = next(numbered_lines(path), (1, ""))[1]
    lines = (f"{line}\n" for _, line in numbered_lines(path))
    if suffixes_of(path)[-1] == ".tsv":
        rows = csv.reader(lines, delimiter="\t", quoting=csv.QUOTE_NONE)
    else:
        rows = csv.reader(lines, delimiter=max(",;\t", key=header.count), strict=True)
    columns = None
    try:
        for row in rows:
            if row and columns not in (None, len(row)):
                raise CorpusError(f"{path}:{rows.line_num}: {len(row)} columns, expected {columns} as in line 1")
            if row or columns is None:
                yield rows.line_num, row
            columns = len(row) if columns is None else columns
    except csv.Error as error:
        raise CorpusError(f"{path}:{rows.line_num}: not CSV ({error})") from None


def _json_lines(path: Path, column: str | None) -> Iterator[Place]:
    for number, line in numbered_lines(path):
        if line.strip():
            yield number, _text_of(parsed(line, f"{path}:{number}"), column, f"{path}:{number}")


def _json_list(path: Path, column: str | None) -> Iterator[Place]:
    found = parsed("\n".join(line for _, line in numbered_lines(path)), str(path), "; one value a line is .jsonl")
    if not isinstance(found, list):
        raise CorpusError(f"{path}: a JSON {type(found).__name__}, expected a list of texts or of objects with a text")
    for number, one in enumerate(found, start=1):
        yield number, _text_of(one, column, f"{path}: entry {number}")


def parsed(text: str, where: str, hint: str = "") -> Any:
    """Return the value of JSON; raises CorpusError, which says `where`, for what is none."""
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


CARDS = ("README.md", ".huggingface.yaml")
"Files of a data set in which `datasets` reads where its data is."


@dataclass(frozen=True)
class DatasetTexts:
    """A column of strings of a data set that `datasets` opens: a folder, one saved to disk, or one of the hub."""

    name: str
    'The folder, or "hub:owner/name", for which alone the network is used.'
    subset: str | None = None
    split: str = "train"
    column: str | None = "text"
    "None for the one called text or sentence."
    streaming: bool = False
    "Whether it is read while it is downloaded, for one that fits on no disk."
    revision: str | None = None

    def open(self) -> Any:
        """Return the data set; raises CorpusError where it cannot be opened or has no such column."""
        self._refuse_elsewhere()
        try:
            found = self._opened()
        except CorpusError:
            raise
        except Exception as error:  # datasets raises what its readers raise
            why = str(error).splitlines()[0] if str(error) else type(error).__name__
            raise CorpusError(f"data set {self.name!r} cannot be opened: {why}") from error
        columns = found.column_names
        if columns is None:
            return found
        column = text_column(columns, self.column, f"data set {self.name!r}")
        return found.select_columns([column])  # others may hold addresses, which are fetched when they are read

    def _opened(self) -> Any:
        import datasets

        if (saved := self._saved()) is not None:
            opened = datasets.load_from_disk(saved)
            return opened.to_iterable_dataset() if self.streaming else opened
        name = self.name.removeprefix(HUB)
        return datasets.load_dataset(
            name, self.subset, split=self.split, streaming=self.streaming, revision=self.revision
        )

    def _refuse_elsewhere(self) -> None:
        """Raise CorpusError for a name that is neither of a folder nor of the hub, and for data that is elsewhere."""
        if self.name.startswith(HUB):
            return
        if not Path(self.name).is_dir():
            raise CorpusError(f"data set {self.name!r}: no such folder; one of the hub is called '{HUB}owner/name'")
        for card in (Path(self.name) / name for name in CARDS):
            if card.is_file() and (address := data_elsewhere(card)) is not None:
                raise CorpusError(
                    f"{card}: its data files are elsewhere ({address}); put them into the folder and name them there"
                )

    def _saved(self) -> Path | None:
        """Return the folder of a data set that `save_to_disk` wrote, of its split where it has several; else None."""
        folder = Path(self.name)
        if (folder / "state.json").is_file():
            return folder
        if not (folder / "dataset_dict.json").is_file():
            return None
        if not (folder / self.split / "state.json").is_file():
            there = ", ".join(sorted(path.parent.name for path in folder.glob("*/state.json")))
            raise CorpusError(f"data set {self.name!r} has no split {self.split!r}; it has {there}")
        return folder / self.split

    def __iter__(self) -> Iterator[str]:
        """Yield the texts that are not blank."""
        for row in self.open():
            column = self.column or text_column(list(row), None, f"data set {self.name!r}")
            if not isinstance(text := row[column], str):
                raise CorpusError(f"data set {self.name!r}: column {column!r} holds a {type(text).__name__}, no text")
            if text.strip():
                yield text


def data_elsewhere(card: Path) -> str | None:
    """Return the first address among the data files that the card of a data set names; None where all are files."""
    import yaml

    front = re.match(r"\s*---\n(.*?)\n---", text := card.read_text(encoding="utf-8", errors="replace"), re.DOTALL)
    try:
        # the loader in Python takes seconds for some hundred brackets within each other
        loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
        found = yaml.load(front[1] if front else text if card.suffix == ".yaml" else "", loader)
    except (yaml.YAMLError, ValueError, RecursionError) as error:
        raise CorpusError(f"{card}: not YAML ({str(error).splitlines()[0]})") from None
    configs = found.get("configs") if isinstance(found, dict) else None
    return next((part for part in _strings_in(configs) if "://" in part), None)


def _strings_in(found: object) -> Iterator[str]:
    """Yield the strings in nested lists and tables; what YAML's aliases name several times is gone through once."""
    left, seen = [found], set[int]()
    while left:
        part = left.pop()
        if isinstance(part, str):
            yield part
        elif isinstance(part, list | dict) and id(part) not in seen:
            seen.add(id(part))
            left += part.values() if isinstance(part, dict) else part
