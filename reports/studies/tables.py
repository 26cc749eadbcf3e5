"""All tables of what a run can measure of heads beside their scores."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Final

import pandas as pd

from reports.studies.ablation.tables import ABLATION_TABLES
from reports.studies.answers.tables import ANSWER_TABLES
from reports.studies.circuits.tables import CIRCUIT_TABLES
from reports.studies.classifiers.tables import CLASSIFIER_TABLES
from reports.studies.confusion.tables import CONFUSION_TABLES
from reports.studies.counts.tables import COUNT_TABLES
from reports.studies.gating.tables import GATE_TABLES
from reports.studies.headset.tables import HEADSET_TABLES
from reports.studies.link.tables import LINK_TABLES
from reports.studies.patching.tables import PATCHING_TABLES
from reports.studies.relatedness.tables import RELATEDNESS_TABLES
from reports.studies.shapes.tables import SHAPE_TABLES
from reports.studies.slopes.tables import SLOPE_TABLES
from reports.tables.table import Table, read_tables

STUDY_TABLES: Final[Mapping[str, Table]] = MappingProxyType(
    {
        **SHAPE_TABLES,
        **CONFUSION_TABLES,
        **RELATEDNESS_TABLES,
        **CIRCUIT_TABLES,
        **CLASSIFIER_TABLES,
        **HEADSET_TABLES,
        **GATE_TABLES,
        **PATCHING_TABLES,
        **ABLATION_TABLES,
        **LINK_TABLES,
        **SLOPE_TABLES,
        **ANSWER_TABLES,
        **COUNT_TABLES,
    }
)
"Name -> what the table must hold. In a run folder it lies as NAME.parquet and, mostly, NAME.csv."


def write_studies(tables: Mapping[str, pd.DataFrame], folder: Path) -> None:
    """Write tables by name into `folder`; ValueError says what is wrong with one."""
    for name, frame in tables.items():
        STUDY_TABLES[name].write(frame, folder, name)


def read_studies(folder: Path) -> dict[str, pd.DataFrame]:
    """Return the tables that lie in `folder`, by name; ValueError says what is wrong with one."""
    return read_tables(folder, STUDY_TABLES)
