"""The tables of what weights alone say: their columns, and how they are written and read."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Final

import pandas as pd

from reports.schema import read_parquet, replace_file, validate

MAIN: Final = "circuits"
"Name of the table of heads; a run without it did not ask."

_HEAD: Final = {"layer": "int64", "head": "int64", "name": "str"}

TABLES: Final[Mapping[str, Mapping[str, str]]] = MappingProxyType(
    {
        MAIN: {**_HEAD, "kernel_offset": "int64", "kernel_attention": "float64", "same_word": "float64"}
        | {"related_words": "float64", "copying": "float64", "positive_eigenvalues": "float64", "own_word": "float64"}
        | {"text_offset": "int64", "text_attention": "float64", "text_at_kernel": "float64"}
        | {"text_same_word": "float64", "text_related": "float64", "text_copying": "float64", "write_norm": "float64"},
        "circuit_kernels": {**_HEAD, "offset": "int64", "score": "float64", "attention": "float64"}
        | {"text_attention": "float64"},
        "circuit_relations": {"relation": "str", **_HEAD, "pairs": "int64", "static": "float64"}
        | {"suppressed": "float64", "dynamic": "float64", "chance": "float64"},
        "circuit_links": {"relation": "str", "weights": "str", "text": "str", "rho": "float64", "low": "float64"}
        | {"high": "float64", "heads": "int64"},
    }
)
"""Name of the file -> column -> dtype; what the columns mean is in `reports.circuits.TERMS`. Layer and head count from
0, `name` from 1; offsets are pieces, negative to the left; `relation` of a link is "" but for those of relations."""

RANGES: Final[Mapping[str, tuple[float, float]]] = MappingProxyType(
    dict.fromkeys(("kernel_attention", "same_word", "related_words", "positive_eigenvalues", "own_word"), (0, 1))
    | dict.fromkeys(("text_attention", "text_at_kernel", "attention"), (0, 1))
    | dict.fromkeys(("static", "suppressed", "dynamic", "chance"), (0, 1))
    | dict.fromkeys(("copying", "text_same_word", "text_copying", "rho", "low", "high"), (-1, 1))
    | {"text_related": (-2, 2), "write_norm": (0, float("inf"))}
)
"Column -> the numbers that it may hold, NaN aside."

_SLACK: Final = 1e-6


def write_circuits(tables: Mapping[str, pd.DataFrame], folder: Path) -> None:
    """Write every table as parquet into `folder`, and that of heads as CSV too.

    Raises ValueError for an unknown or missing table, for other columns, and for numbers outside RANGES.
    """
    if wrong := sorted(set(tables) ^ set(TABLES)):
        raise ValueError(f"{folder}: table {wrong[0]!r} is unknown or missing; expected {', '.join(TABLES)}")
    for name, frame in tables.items():
        path = folder / f"{name}.parquet"
        checked = _checked(frame, name, path)
        replace_file(checked, path)
        if name == MAIN:
            replace_file(checked, path.with_suffix(".csv"))


def read_circuits(folder: Path) -> dict[str, pd.DataFrame] | None:
    """Return the tables in `folder` by name; None where the run did not ask. ValueError for a damaged one."""
    if not (folder / f"{MAIN}.parquet").is_file():
        return None
    paths = {name: folder / f"{name}.parquet" for name in TABLES}
    if missing := [path for path in paths.values() if not path.is_file()]:
        raise ValueError(f"{missing[0]}: missing beside {MAIN}.parquet; run again")
    return {name: _checked(read_parquet(path), name, path) for name, path in paths.items()}


def _checked(frame: pd.DataFrame, name: str, path: Path) -> pd.DataFrame:
    found = validate(frame, TABLES[name], path)
    for column in TABLES[name]:
        low, high = RANGES.get(column, (-float("inf"), float("inf")))
        if column in RANGES and ((found[column] < low - _SLACK) | (found[column] > high + _SLACK)).any():
            raise ValueError(f"{path}: `{column}` lies outside [{low}, {high}]")
    return found
