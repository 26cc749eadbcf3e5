"""The tables of trained classifiers and parsers in a run folder: their columns, and how they are written and read."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Final

import pandas as pd

from reports.schema import read_parquet, refuse, replace_file, validate

_RUN: Final = {"model": "str", "step": "Int64", "corpus": "str"}
_SELECTIVE: Final = dict.fromkeys(("selectivity", "selectivity_low", "selectivity_high"), "float64")
_MEASURED: Final = (
    {"n": "int64", "clusters": "int64", "accuracy": "float64", "ci_low": "float64", "ci_high": "float64"}
    | {"control_accuracy": "float64"}
    | _SELECTIVE
)

TABLES: Final[Mapping[str, Mapping[str, str]]] = MappingProxyType(
    {
        "classifiers": _RUN
        | {"task": "str", "label": "str", "layer": "int64", "head": "int64", "name": "str", "selected": "bool"}
        | {"classes": "int64", "n_select": "int64", **_MEASURED}
        | {"codelength": "float64", "compression": "float64", "control_compression": "float64"}
        | {"majority": "float64", "control_majority": "float64", "embedding_accuracy": "float64"}
        | {"embedding_selectivity": "float64", "random_accuracy": "float64", "random_selectivity": "float64"},
        "layers": _RUN
        | {"task": "str", "layer": "int64", **_MEASURED, "cumulative": "float64"}
        | {"cumulative_selectivity": "float64", "gain": "float64"}
        | {"expected_layer": "float64", "expected_low": "float64", "expected_high": "float64"},
        "parser": _RUN
        | {"parser": "str", "weights": "str", "parameters": "int64", "n_select": "int64", "n": "int64"}
        | {"clusters": "int64", "uas": "float64", "ci_low": "float64", "ci_high": "float64"}
        | {"margin": "float64", "margin_low": "float64", "margin_high": "float64", "control_uas": "float64"}
        | _SELECTIVE,
    }
)
"""Name of the file -> column -> dtype. One row a task, label and head; a task and layer (0 is the embedding); a parser.

In classifiers layer and head count from 0, `name` from 1. Fractions lie in [0, 1]; codelength is in bits, compression
how many times less that is than log2(classes) bits an example; NaN where something was not asked for."""

_KEYS: Final = {
    "classifiers": ("model", "step", "corpus", "task", "label", "name"),
    "layers": ("model", "step", "corpus", "task", "layer"),
    "parser": ("model", "step", "corpus", "parser", "weights"),
}
"The columns that together name one row."

_FRACTIONS: Final = (
    *("accuracy", "ci_low", "ci_high", "control_accuracy", "majority", "embedding_accuracy", "random_accuracy"),
    *("control_majority", "cumulative", "uas", "control_uas"),
)


def write_classifiers(tables: Mapping[str, pd.DataFrame], folder: Path) -> None:
    """Write those of TABLES that have rows as parquet and CSV into `folder`.

    Raises ValueError for an unknown table, other columns, fractions outside [0, 1] and two rows about the same.
    """
    if unknown := sorted(set(tables) - set(TABLES)):
        raise ValueError(f"{folder}: unknown table {unknown[0]!r}; expected {', '.join(TABLES)}")
    for name, frame in tables.items():
        if len(frame):
            path = folder / f"{name}.parquet"
            checked = _checked(frame, name, path)
            replace_file(checked, path.with_suffix(".csv"))
            replace_file(checked, path)


def read_classifiers(folder: Path) -> dict[str, pd.DataFrame]:
    """Return those of TABLES that lie in `folder`, by name; ValueError says what is wrong with a file."""
    paths = {name: folder / f"{name}.parquet" for name in TABLES}
    return {name: _checked(read_parquet(path), name, path) for name, path in paths.items() if path.is_file()}


def _checked(frame: pd.DataFrame, name: str, where: Path) -> pd.DataFrame:
    ordered = validate(frame, TABLES[name], where)
    for column in _FRACTIONS:
        if column in TABLES[name]:
            outside = (ordered[column] < -1e-6) | (ordered[column] > 1 + 1e-6)
            refuse(ordered, outside, where, f"`{column}` lies outside [0, 1] (fractions, not percent)")
    same = ordered.duplicated(list(_KEYS[name]))
    refuse(ordered, same, where, f"two rows have the same {', '.join(_KEYS[name])}")
    return ordered
