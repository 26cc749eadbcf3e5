"""The files of tables: written so that no reader sees half of one, and read or refused in one line."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path

import pandas as pd


def replace_file(frame: pd.DataFrame, path: Path) -> Path:
    """Write `frame` beside `path` and rename it, so that no reader ever sees half a file."""
    unfinished = path.with_name(f".{path.name}.unfinished")
    try:
        if path.suffix == ".csv":
            frame.to_csv(unfinished, index=False)
        else:
            frame.to_parquet(unfinished, index=False)
        os.replace(unfinished, path)
    finally:
        unfinished.unlink(missing_ok=True)
    return path


def read_csv(path: Path, columns: Mapping[str, str]) -> pd.DataFrame:
    """Read a CSV file as `replace_file` wrote it: words such as NA stay words."""
    text = {column: "str" for column, dtype in columns.items() if dtype == "str"}
    gaps = {column: [""] for column, dtype in columns.items() if dtype in {"float64", "Int64"}}
    try:
        return pd.read_csv(path, dtype=text, keep_default_na=False, na_values=gaps)
    except (pd.errors.EmptyDataError, pd.errors.ParserError) as error:
        raise ValueError(f"{path}: not a readable CSV file ({str(error).strip()}); run again") from error


def read_parquet(path: Path) -> pd.DataFrame:
    """Read a parquet file, or say in one line that it is none."""
    try:
        return pd.read_parquet(path)
    except FileNotFoundError:
        raise
    except Exception as error:  # pyarrow raises several unrelated classes for a damaged file
        raise ValueError(f"{path}: not a readable parquet file ({str(error).splitlines()[0]}); run again") from error
