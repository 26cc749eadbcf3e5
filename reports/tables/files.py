"""The files of tables: written so that no reader sees half of one, and read or refused in one line."""

from __future__ import annotations

import csv
import os
import re
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

import pandas as pd

from reports.messages import one_line

_FORMULA = re.compile(r"'*(?![+-](\d+\.?\d*|\.\d+)(e[+-]?\d+)?\Z)[=+\-@\t\r]")
"What a spreadsheet takes for a formula, with the quotes that keep it from doing so; numbers are none."


def write_csv(frame: pd.DataFrame, path: Path) -> None:
    """Write a table as CSV; before a text that a spreadsheet would take for a formula comes a quote.

    `read_csv` takes it away again.
    """
    told = _with_texts(frame, lambda text: f"'{text}" if _FORMULA.match(text) else text)
    returns = any("\r" in text for name in _text_columns(frame) for text in _texts(frame[name]))
    # pandas walks through objects, and takes ten times as long over texts of its own; csv quotes a carriage return only
    # where it ends lines
    told = told.astype(dict.fromkeys(_text_columns(told), object))
    told.to_csv(path, index=False, quoting=csv.QUOTE_NONNUMERIC if returns else csv.QUOTE_MINIMAL)


def replace_file(frame: pd.DataFrame, path: Path) -> Path:
    """Write `frame` beside `path` and rename it, so that no reader ever sees half a file."""
    with replaced(path) as unfinished:
        if path.suffix == ".csv":
            write_csv(frame, unfinished)
        else:
            frame.to_parquet(unfinished, index=False)
    return path


@contextmanager
def replaced(path: Path) -> Iterator[Path]:
    """Yield a file beside `path` that takes its place when the block ends without an error."""
    unfinished = path.with_name(f".{path.name}.unfinished")
    try:
        yield unfinished
        os.replace(unfinished, path)
    finally:
        unfinished.unlink(missing_ok=True)


def read_csv(path: Path, columns: Mapping[str, str]) -> pd.DataFrame:
    """Read a CSV file as `write_csv` wrote it: words such as NA stay words, and texts are what they were."""
    text = {column: "str" for column, dtype in columns.items() if dtype == "str"}
    gaps = {column: [""] for column, dtype in columns.items() if dtype in {"float64", "Int64"}}
    try:
        found = pd.read_csv(path, dtype=text, keep_default_na=False, na_values=gaps)
    except (ValueError, OverflowError) as error:  # what is no CSV, and what is no text
        raise ValueError(one_line(f"{path}: not a readable CSV file ({str(error).strip()}); run again")) from error
    return _with_texts(found, lambda text: text[1:] if text.startswith("'") and _FORMULA.match(text) else text)


def _with_texts(frame: pd.DataFrame, change: Callable[[str], str]) -> pd.DataFrame:
    """Return the frame with its texts changed; the same one where none is."""
    for name in _text_columns(frame):
        texts = {text: change(text) for text in _texts(frame[name])}
        if any(text != changed for text, changed in texts.items()):
            changed = [texts.get(value, value) if _is_text(value) else value for value in frame[name]]
            frame = frame.assign(**{name: pd.Series(changed, index=frame.index, dtype=object)})
    return frame


def _text_columns(frame: pd.DataFrame) -> list[str]:
    return [str(name) for name, dtype in frame.dtypes.items() if dtype.kind == "O"]


def _texts(column: pd.Series) -> set[str]:
    """Return the different texts of a column."""
    return {*filter(_is_text, column.unique() if isinstance(column.dtype, pd.StringDtype) else column)}


def _is_text(value: object) -> bool:
    return isinstance(value, str)


def read_parquet(path: Path) -> pd.DataFrame:
    """Read a parquet file, or say in one line that it is none."""
    try:
        return pd.read_parquet(path)
    except FileNotFoundError:
        raise
    except Exception as error:  # pyarrow raises several unrelated classes for a damaged file
        raise ValueError(one_line(f"{path}: not a readable parquet file ({error}); run again")) from error
