"""What the columns of a run's tables mean, for tooltips, the page's glossary, data-set cards and the reference."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from reports.measures.registry import measure_tables
from reports.run.folder import RunFolder
from reports.run.sentence_attention import ATTENTION_TABLES
from reports.tables.scores import TABLES
from reports.tables.table import Table


def run_tables() -> Mapping[str, Table]:
    """Return what every table that a run folder can have must hold, by the name of its file."""
    return {**TABLES, **measure_tables(), **ATTENTION_TABLES}


def meaning(table: str, column: str) -> str:
    """Return what a column of a run's table means; "" where the table or the column is not declared.

    >>> meaning("counts", "n")
    'Number of items that were scored in the group.'
    """
    return run_tables()[table].meaning(column) if table in run_tables() else ""


def tables_of(run: RunFolder) -> dict[str, Table]:
    """Return the declarations of the tables that a run holds, by the name of their file."""
    return {name: table for name, table in run_tables().items() if (run.folder / f"{name}.parquet").is_file()}


def unread_tables(folder: Path) -> list[str]:
    """Say which tables of a run folder its page leaves out, since no measure that is loaded has them; nothing if none.

    A file that a folder names is never loaded for it: it is code, and may be a stranger's.
    """
    names = sorted({path.stem for path in folder.glob("*.parquet")} - {*run_tables()})
    said = f"The page leaves out tables of measures that are not loaded: {', '.join(names)}."
    return [f"{said} Load them by their files: headscope report RUN --measure FILE."] * bool(names)
