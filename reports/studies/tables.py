"""All tables of what a run can measure of heads beside their scores."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Final

import pandas as pd

from reports.studies.registry import STUDY_REPORTS
from reports.tables.table import Table

STUDY_TABLES: Final[Mapping[str, Table]] = MappingProxyType(
    {name: table for study in STUDY_REPORTS for name, table in study.tables.items()}
)
"Name -> what the table must hold. In a run folder it lies as NAME.parquet and, mostly, NAME.csv."


def write_studies(tables: Mapping[str, pd.DataFrame], folder: Path) -> None:
    """Write tables by name into `folder`; ValueError says what is wrong with one."""
    for name, frame in tables.items():
        STUDY_TABLES[name].write(frame, folder, name)
