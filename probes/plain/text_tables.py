"""The texts of a table or data set: a column of CSV, TSV, Parquet or a `datasets` data set, or a key of JSON."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from mha.models.folders import HUB
from probes.corpora.line_reader import (
    CorpusError,
    filled_lines,
    numbered_lines,
    refuse_near,
    refuse_quoting,
    refuse_twice,
    separated,
    shortened,
    suffixes_of,
)

if TYPE_CHECKING:
    import pandas as pd

COLUMNS: Final = ("text", "sentence")
"What a column of texts is called where nobody names it, in any case."

SUFFIXES: Final = (".csv", ".jsonl", ".json", ".parquet")
"Of files that are read as tables of texts; a .tsv file is one where its header has such a column."

SECOND: Final = "text_pair"
"What a column of second texts is called where nobody names it, as in labelled rows and in `transformers`."

Text = str | tuple[str, ...]
"A text as it was written, or as its words."

Entry = str | tuple[Text, Text]
"A text, or a pair of texts that are read together."


def is_pair(entry: object) -> bool:
    """Return whether an object is a pair of texts, or of lists of words."""
    if not isinstance(entry, list | tuple) or len(entry) != 2:
        return False
    if all(isinstance(text, str) for text in entry):
        return True
    return all(isinstance(text, list | tuple) and all(isinstance(word, str) for word in text) for text in entry)


GROUP: Final = "group"
"What the column is called that has the same value in rows that depend on each other, as in labelled rows."

ONCE = ("text", SECOND, "words", "label", "choices", "query", "gold", "alignment", GROUP)
"Columns of labelled rows, and of answers to a probe."

Place = tuple[int, Entry, str]
"The number of a line, or of a row where there are no lines, from 1, what stands there, and its group, if any."


def _empty(cell: Any) -> bool:
    import pandas as pd

    return pd.api.types.is_scalar(cell) and bool(pd.isna(cell) or cell == "")


def group_of(row: Mapping[str, Any]) -> str:
    """Return the value of a row's column GROUP, "" where it has none."""
    return "" if _empty(group := row.get(GROUP)) else str(group)


def second_of(row: Mapping[str, Any]) -> Any:
    """Return the value of a row's column SECOND, None where it has none."""
    return None if _empty(second := row.get(SECOND)) else second


@dataclass(frozen=True)
class Columns:
    """The columns of a table that hold its texts."""

    text: str | None = None
    "None for the one called text or sentence."
    pair: str | None = None
    "That of second texts, None for the one called text_pair if there is one, and NO_PAIR for texts alone."

    def of(self, columns: Sequence[str], where: str) -> list[str]:
        """Return the column of texts, and that of second texts if there is one; raises CorpusError."""
        found = [text_column(columns, self.text, where)]
        known = (SECOND, GROUP) if self.pair is None else (GROUP,)
        refuse_near([name for name in columns if name not in (*found, self.pair)], known, where)
        seconds = [name for name in columns if name == (SECOND if self.pair is None else self.pair)]
        if (self.pair and not seconds) or len(seconds) > 1:
            lacking = f"{len(seconds) or 'no'} column{'s' * bool(seconds)} called {self.pair or SECOND!r}"
            raise CorpusError(f"{where}: {lacking}, expected one of second texts; it has {_named(columns)}")
        if self.pair and seconds == found:
            wrong = f"pair names {self.pair!r}, which has the first texts; name the column of the second ones"
            raise CorpusError(f"{where}: {wrong}: it has {_named(columns)}")
        return [*found, *[name for name in seconds if name not in found]]

    def kept(self, columns: Sequence[str], where: str) -> list[str]:
        """Return the columns that `read` looks at; raises CorpusError."""
        return [*self.of(columns, where), *[name for name in columns if name == GROUP]]

    def read(self, row: Mapping[str, Any], where: str) -> tuple[Entry, str]:
        """Return the text or the pair of a row, and its group; raises CorpusError."""
        return entry_of({name: row[name] for name in self.of([*row], where)}, where), group_of(row)


NO_PAIR: Final = ""
"In the place of a column of second texts: none is read."


def text_column(columns: Sequence[str], wanted: str | None, where: str) -> str:
    """Return the column that is `wanted`, else the one of COLUMNS; raises CorpusError where there is none, or both."""
    found = [name for name in columns if (name == wanted if wanted else name.strip().lower() in COLUMNS)]
    if len(found) == 1:
        return found[0]
    called = repr(wanted) if wanted else " or ".join(COLUMNS)
    lacking = f"{len(found)} columns called {called}" if found else f"no column called {called}"
    raise CorpusError(f'{where}: {lacking}; name one as column = "...": it has {_named(columns)}')


def _named(columns: Sequence[str]) -> str:
    return ", ".join(map(shortened, columns))


def has_text_column(header: str) -> bool:
    """Return whether a line of names parted by tabs has one of COLUMNS."""
    return any(name.strip().lower() in COLUMNS for name in header.split("\t"))


def table_texts(path: Path, columns: Columns) -> Iterator[Place]:
    """Yield place and text of every row, "" where it is empty; raises CorpusError for what is no table of texts.

    Where rows are answers to a probe (`probes.words.own`), every text comes once.
    """
    readers = {".jsonl": _json_lines, ".json": _json_list, ".parquet": _parquet}
    _, first = next(table_rows(path), ("", None))
    asks = isinstance(first, dict) and "gold" in first and str(first.get("query")).strip("[ ]").isdecimal()
    seen = set[Entry]()
    for place, text, group in readers.get(suffixes_of(path)[-1], _separated)(path, columns):
        if text not in seen:
            yield place, text, group
        if asks:
            seen.add(text)


def table_rows(path: Path | pd.DataFrame) -> Iterator[tuple[str, Any]]:
    """Yield place and columns, None if empty, of every row of a data frame, .jsonl, .csv or .tsv file.

    Nothing of other files. Raises CorpusError for a .csv or .tsv file that has a column of ONCE twice, and for a cell
    of these columns in the quotation marks that a spreadsheet puts into a .tsv file.
    """
    if not isinstance(path, Path):
        refuse_twice([*path.columns], ONCE, "the data frame")
        yield from ((f"row {number}", row) for number, row in enumerate(path.to_dict("records"), start=1))
        return
    if not os.path.isfile(path):  # which knows that no file has so long a name as a text may be
        raise CorpusError(f"{shortened(str(path), 200)}: no such file")
    if suffixes_of(path)[-1] == ".jsonl":
        yield from ((f"{path}:{number}", parsed(line, f"{path}:{number}")) for number, line in filled_lines(path))
    if suffixes_of(path)[-1] in (".csv", ".tsv"):
        lines = separated(path)
        top, names = next(lines, (1, []))
        refuse_twice(names, ONCE, f"{path}:{top}")
        for number, row in lines:
            for name, cell in zip(names, row, strict=True) if suffixes_of(path)[-1] == ".tsv" else ():
                if name in ONCE:
                    refuse_quoting(cell, f"{path}:{number}")
            yield f"{path}:{number}", dict(zip(names, (cell or None for cell in row), strict=True))


def _separated(path: Path, columns: Columns) -> Iterator[Place]:
    rows = separated(path)
    top, header = next(rows, (1, []))
    chosen = columns.of(header, f"{path}:{top}")
    for number, cells in rows:
        row = dict(zip(header, cells, strict=True))
        for name in chosen if suffixes_of(path)[-1] == ".tsv" else ():
            refuse_quoting(row[name], f"{path}:{number}")
        yield number, *columns.read(row, f"{path}:{number}")


def _json_lines(path: Path, columns: Columns) -> Iterator[Place]:
    for number, line in filled_lines(path):
        yield number, *_text_of(parsed(line, f"{path}:{number}"), columns, f"{path}:{number}")


def _json_list(path: Path, columns: Columns) -> Iterator[Place]:
    found = parsed("\n".join(line for _, line in numbered_lines(path)), str(path), "; one value a line is .jsonl")
    if not isinstance(found, list):
        raise CorpusError(f"{path}: a JSON {type(found).__name__}, expected a list of texts or of objects with a text")
    for number, one in enumerate(found, start=1):
        yield number, *_text_of(one, columns, f"{path}: entry {number}")


def parsed(text: str, where: str, hint: str = "") -> Any:
    """Return the value of JSON; raises CorpusError, which says `where`, for what is none."""
    try:
        return json.loads(text)
    except (ValueError, RecursionError) as error:
        raise CorpusError(f"{where}: not JSON ({error}{hint})") from None


def _text_of(one: Any, columns: Columns, where: str) -> tuple[Entry, str]:
    """Return a string, or what an object has under the columns, and its group."""
    if isinstance(one, dict):
        return columns.read(one, where)
    if one is not None and not isinstance(one, str):
        expected = 'expected a text, or an object such as {"text": "...", "text_pair": "..."}'
        raise CorpusError(f"{where}: {expected}; got {shortened(json.dumps(one))}")
    return one or "", ""


def entry_of(cells: Mapping[str, Any], where: str) -> Entry:
    """Return the text of a column, or the pair of two; a second one that is empty makes none.

    Texts of a pair may be lists of words. Raises CorpusError for what is neither.
    """
    texts: list[Any] = ["" if cell is None else cell for cell in cells.values()]
    for i, (name, text) in enumerate(zip(cells, texts, strict=True)):
        if isinstance(text, list | tuple) and len(cells) > 1 and all(isinstance(word, str) for word in text):
            texts[i] = tuple(text)
        elif not isinstance(text, str):
            words = " or a list of words" * (len(cells) > 1)
            raise CorpusError(f"{where}: {name!r} is {text!r:.40}, expected a text{words}")
    if len({type(text) for text in texts if text}) > 1:
        both = " and ".join(map(repr, cells))
        raise CorpusError(f"{where}: {both} are a text and a list of words, expected two texts or two lists of words")
    if len(texts) > 1 and texts[1]:
        return (texts[0], texts[1]) if texts[0] else ""
    return texts[0] if isinstance(texts[0], str) else " ".join(texts[0])


def _parquet(path: Path, columns: Columns) -> Iterator[Place]:
    import pyarrow as pa
    import pyarrow.parquet as pq

    try:
        file = pq.ParquetFile(path)
        names = columns.kept(file.schema_arrow.names, str(path))
        rows = (row for batch in file.iter_batches(columns=names) for row in batch.select(names).to_pylist())
        for number, row in enumerate(rows, start=1):
            yield number, *columns.read(row, f"{path}: row {number}")
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
    pair: str | None = NO_PAIR
    "Column of second texts, as in `Columns`."

    def open(self) -> Any:
        """Return the data set; raises CorpusError where it cannot be opened or has no such column."""
        self._refuse_elsewhere()
        try:
            found = self._opened()
        except CorpusError:
            raise
        except Exception as error:  # datasets raises what its readers raise
            cause = error.__cause__ or error  # of files with other columns, which the error itself does not say
            why = " ".join(str(cause).split())[:300] or type(cause).__name__
            if re.search("Schema at index|column names don't match", str(cause)):
                why += "; give its files the same columns, or name one of them"
            raise CorpusError(f"data set {self.name!r} cannot be opened: {why}") from error
        columns = found.column_names
        if columns is None:
            return found
        chosen = Columns(self.column, self.pair).kept(columns, f"data set {self.name!r}")
        return found.select_columns(chosen)  # others may hold addresses, which are fetched when they are read

    def _opened(self) -> Any:
        import datasets

        if (saved := self._saved()) is not None:
            opened = datasets.load_from_disk(saved)
            return opened.to_iterable_dataset() if self.streaming else opened
        found = self._builder()
        empty = {"keep_default_na": False, "na_values": [""]} if hasattr(found.config, "keep_default_na") else {}
        return datasets.load_dataset(
            *(self.name.removeprefix(HUB), self.subset),
            **{"split": self.split, "streaming": self.streaming, "revision": self.revision, **empty},
        )

    def _builder(self) -> Any:
        import datasets

        return datasets.load_dataset_builder(self.name.removeprefix(HUB), self.subset, revision=self.revision)

    def read_files(self) -> Iterator[Path]:
        """Yield the files of a folder that are read, with its card: those of its split and kind."""
        folder = Path(self.name)
        if self._saved() is not None:
            yield from folder.rglob("*")
            return
        yield from (folder / name for name in CARDS)
        for file in (self._builder().config.data_files or {}).get(self.split, ()):
            if Path(file).is_relative_to(folder.resolve()):  # what is packed is none of its own
                yield folder / Path(file).relative_to(folder.resolve())

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
        """Yield the texts that are not blank; raises CorpusError for a pair."""
        for number, text, _ in self.entries():
            if not isinstance(text, str):
                pair = f"data set {self.name!r}: row {number}: a pair of texts, expected one text"
                raise CorpusError(f'{pair}; say which column is read, as column = "text"')
            if text.strip():
                yield text

    def entries(self) -> Iterator[Place]:
        """Yield the text, or the pair of texts, of every row."""
        for number, row in enumerate(self.open(), start=1):
            yield number, *Columns(self.column, self.pair).read(row, f"data set {self.name!r}: row {number}")


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
