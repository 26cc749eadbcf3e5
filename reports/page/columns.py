"""What the columns of a run's tables mean, for tooltips, the page's glossary, data-set cards and the reference."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

from reports.run.biography_tables import TABLES as BIOGRAPHY_TABLES
from reports.run.folder import RunFolder
from reports.run.sentence_attention import ATTENTION_TABLES
from reports.studies.tables import STUDY_TABLES
from reports.tables.scores import TABLES
from reports.tables.table import Table

RUN_TABLES: Final[Mapping[str, Table]] = MappingProxyType(
    {**TABLES, **STUDY_TABLES, **BIOGRAPHY_TABLES, **ATTENTION_TABLES}
)
"Name of the file -> what it must hold: every table that a run folder can have."


def meaning(table: str, column: str) -> str:
    """Return what a column of a run's table means; "" where the table or the column is not declared.

    >>> meaning("counts", "n")
    'Number of items that were scored in the group.'
    """
    return RUN_TABLES[table].meaning(column) if table in RUN_TABLES else ""


def columns_of(run: RunFolder) -> dict[str, Table]:
    """Return the declarations of the tables that a run holds, by the name of their file."""
    optional = {"metrics": run.metrics, "agreement": run.agreement, "behaviour": run.behaviour}
    held = {"scores", "examples", *(name for name, frame in optional.items() if frame is not None), *run.studies}
    held |= {*(run.biographies or ())} | ({*ATTENTION_TABLES} if run.attention is not None else set())
    return {name: table for name, table in RUN_TABLES.items() if name in held}
