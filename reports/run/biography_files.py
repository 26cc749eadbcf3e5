"""The tables of head biographies as files of a run folder."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import pandas as pd

from reports.run.biography_tables import MAIN, OPTIONAL, TABLES


def write_biographies(tables: Mapping[str, pd.DataFrame], folder: Path) -> None:
    """Write every table as parquet into `folder`, and that of the scores as CSV too.

    Tables of an earlier run that are not among `tables` are deleted. Raises ValueError for an unknown or missing table,
    or for one that cannot be right (`Table.validated`).
    """
    needed = [name for name in TABLES if name not in OPTIONAL]
    if wrong := sorted(set(tables) - set(TABLES)) or sorted(set(needed) - set(tables)):
        raise ValueError(f"{folder}: table {wrong[0]!r} is unknown or missing; expected {', '.join(TABLES)}")
    for name, table in TABLES.items():
        if name in tables:
            table.write(tables[name], folder, name)
        else:
            (folder / f"{name}.parquet").unlink(missing_ok=True)


def read_biographies(folder: Path) -> dict[str, pd.DataFrame] | None:
    """Return the tables in `folder` by name; None where the run has no biographies. ValueError for a damaged one."""
    if not (folder / f"{MAIN}.parquet").is_file():
        return None
    found = {}
    for name, table in TABLES.items():
        path = folder / f"{name}.parquet"
        if path.is_file():
            found[name] = table.read(path)
        elif name not in OPTIONAL:
            raise ValueError(f"{path}: missing beside {MAIN}.parquet; run again")
    return found
