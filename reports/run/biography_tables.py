"""The tables of head biographies in a run folder: their columns, and how they are written and read."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Final

import pandas as pd

from reports.tables.schema import read_parquet, replace_file, validate

_HEAD: Final = {"layer": "int64", "head": "int64", "name": "str"}
_QUESTION: Final = {"probe": "str", "label": "str", "variant": "str"}
_ONSET: Final = {"onset": "float64", "after": "float64", "by": "float64"}

MAIN: Final = "biographies"
"Name of the table with the scores; a run without it has no biographies."

TABLES: Final[Mapping[str, Mapping[str, str]]] = MappingProxyType(
    {
        MAIN: {"seed": "int64", "step": "int64", "tokens": "int64", "corpus": "str", **_QUESTION, **_HEAD}
        | {"n": "int64", "accuracy": "float64", "ci_low": "float64", "ci_high": "float64", "mass": "float64"}
        | {"baseline": "str", "baseline_accuracy": "float64", "margin": "float64", "excess": "float64"},
        "biography_steps": {"seed": "int64", "step": "int64", "tokens": "int64", "loss": "float64"}
        | {"evaluation_loss": "float64", "behaviour": "float64"},
        "biography_onsets": {"seed": "int64", **_QUESTION, "n": "int64", "seeds": "int64", "found": "int64", **_ONSET}
        | {"low": "float64", "high": "float64", "sure": "float64", "first_margin": "float64"}
        | {"peak_margin": "float64", "peak_step": "int64", "last_margin": "float64", "best_head": "str"}
        | {"peak_head": "str", "role": "bool"},
        "biography_curves": {"seed": "int64", "step": "int64", **_QUESTION, "name": "str", "margin": "float64"}
        | {"low": "float64", "high": "float64"},
        "biography_order": {"what": "str", "one": "str", "other": "str", "share": "float64"}
        | {"one_onset": "float64", "other_onset": "float64"},
        "biography_head_onsets": {"seed": "int64", **_QUESTION, **_HEAD, **_ONSET},
        "biography_profiles": {"seed": "int64", "step": "int64", **_HEAD, "role": "str", "margin": "float64"}
        | {"effective": "float64"},
        "biography_lives": {"seed": "int64", **_HEAD, "life": "str", "narrows": "bool", "first_role": "str"}
        | {"last_role": "str", "since": "Int64", "widest": "float64", "last_effective": "float64"},
        "biography_matches": {"what": "str", "seed": "int64", "step": "int64", "other_seed": "int64"}
        | {"other_step": "int64", "heads": "int64", "distance": "float64", "null": "float64"}
        | {"chance": "float64", "itself": "float64", "same_role": "float64"}
        | {"same_role_chance": "float64"},
        "biography_partners": {"seed": "int64", "other_seed": "int64", **_HEAD, "partner": "str"}
        | {"distance": "float64", "role": "str", "partner_role": "str"},
    }
)
"""Name of the file -> column -> dtype. Layer and head count from 0, `name` from 1; fractions lie in [0, 1], distances
are nats, onsets steps (inf where there is none); seed -1 in biography_onsets stands for all seeds together."""

OPTIONAL: Final = ("biography_matches", "biography_partners")
"Tables of a run that matched heads."


def write_biographies(tables: Mapping[str, pd.DataFrame], folder: Path) -> None:
    """Write every table as parquet into `folder`, and that of the scores as CSV too.

    Tables of an earlier run that are not among `tables` are deleted. Raises ValueError for an unknown or missing table,
    or one with other columns (`reports.tables.schema.validate`).
    """
    needed = [name for name in TABLES if name not in OPTIONAL]
    if wrong := sorted(set(tables) - set(TABLES)) or sorted(set(needed) - set(tables)):
        raise ValueError(f"{folder}: table {wrong[0]!r} is unknown or missing; expected {', '.join(TABLES)}")
    for name, columns in TABLES.items():
        path = folder / f"{name}.parquet"
        if name in tables:
            frame = validate(tables[name], columns, path)
            replace_file(frame, path)
            if name == MAIN:
                replace_file(frame, path.with_suffix(".csv"))
        else:
            path.unlink(missing_ok=True)


def read_biographies(folder: Path) -> dict[str, pd.DataFrame] | None:
    """Return the tables in `folder` by name; None where the run told no biographies. ValueError for a damaged one."""
    if not (folder / f"{MAIN}.parquet").is_file():
        return None
    found = {}
    for name, columns in TABLES.items():
        path = folder / f"{name}.parquet"
        if path.is_file():
            found[name] = validate(read_parquet(path), columns, path)
        elif name not in OPTIONAL:
            raise ValueError(f"{path}: missing beside {MAIN}.parquet; run again")
    return found
