"""The tables of a run folder about heads as a set: their columns, and how they are written and read."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Final

import pandas as pd

from reports.schema import read_parquet, replace_file, validate

_HEAD: Final = {"layer": "int64", "head": "int64", "name": "str"}
_PAIR: Final = {**_HEAD, "other_layer": "int64", "other_head": "int64", "other": "str"}
_BETWEEN: Final = {"low": "float64", "high": "float64"}

TABLES: Final[Mapping[str, Mapping[str, str]]] = MappingProxyType(
    {
        "distances": {**_PAIR, "distance": "float64"},
        "subspaces": {"what": "str", "weights": "str", **_PAIR, "overlap": "float64", "nearest": "float64"},
        "contrasts": {"what": "str", "weights": "str", "within": "float64", "between": "float64"}
        | {"pairs_within": "int64", "pairs_between": "int64", "p": "float64"},
        "places": {**_HEAD, "x": "float64", "y": "float64", "group": "int64", "nearest": "str", "distance": "float64"},
        "ensembles": {"probe": "str", "label": "str", "variant": "str", "size": "int64", "heads": "str"}
        | {"select_accuracy": "float64", "chosen": "bool", "n": "int64", "clusters": "int64", "accuracy": "float64"}
        | {f"ci_{end}": kind for end, kind in _BETWEEN.items()}
        | {"gain": "float64", **{f"gain_{end}": kind for end, kind in _BETWEEN.items()}}
        | {"baseline": "str", "baseline_accuracy": "float64", "margin": "float64"}
        | {f"margin_{end}": kind for end, kind in _BETWEEN.items()},
    }
)
"""Name of the file -> column -> dtype.

distances: one row for every two heads; `distance` is the mean Jensen-Shannon divergence of their maps in nats.
subspaces: one row for every two heads, `what` ("W_V": the subspaces that they read, "W_O": that they write to,
"outputs": linear CKA of what comes out) and `weights` ("own", or "random" for fresh ones); `overlap` is the mean
squared cosine of the principal angles or CKA, `nearest` the cosine of the smallest angle, both in [0, 1].
contrasts: means over pairs `within` a layer and `between` layers; `what` is also "maps", for distances.
places: one row a head; `x` and `y` on a plane, in nats, `group` from 1, the `nearest` head and its `distance`.
ensembles: one row a relation and `size`, of the mean map of the `heads` (names, in the order in which they were taken
on the selection split); `gain` is over the first head alone, `chosen` marks the best size on the selection split.
Layer and head count from 0, `name` from 1; accuracies are fractions."""


def write_headset(tables: Mapping[str, pd.DataFrame], folder: Path) -> None:
    """Write tables as parquet into `folder`, that of the ensembles as CSV too. ValueError for an unknown one."""
    if unknown := sorted(set(tables) - set(TABLES)):
        raise ValueError(f"{folder}: table {unknown[0]!r} is unknown; known are {', '.join(TABLES)}")
    for name, frame in tables.items():
        path = folder / f"{name}.parquet"
        checked = validate(frame, TABLES[name], path)
        replace_file(checked, path)
        if name == "ensembles":
            replace_file(checked, path.with_suffix(".csv"))


def read_headset(folder: Path) -> dict[str, pd.DataFrame]:
    """Return the tables in `folder` by name, those that are there. ValueError for a damaged one."""
    paths = {name: folder / f"{name}.parquet" for name in TABLES}
    return {name: validate(read_parquet(path), TABLES[name], path) for name, path in paths.items() if path.is_file()}
