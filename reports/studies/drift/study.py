"""What reports hold of drift: tables, a section of the page, and methods in words."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

import pandas as pd

from reports.sections.page_section import PageSection
from reports.sections.study_report import Method, StudyReport
from reports.studies.drift.section import DRIFT, drift
from reports.tables.schema import outside
from reports.tables.study_table import Refuse, StudyTable

DRIFT_COLUMNS: Final[Mapping[str, str]] = MappingProxyType(
    {
        "model": "str",
        "step": "Int64",
        "corpus": "str",
        "split": "str",
        "text": "int64",
        "layer": "int64",
        "head": "int64",
        "name": "str",
        "cosine": "float64",
    }
)
"""Column -> dtype of drift.parquet, one row a sentence and head: the cosine of its map before and after a training.

In [0, 1]; layer and head count from 0, `name` from 1."""


def _check_drift(frame: pd.DataFrame, refuse: Refuse) -> None:
    refuse(outside(frame["cosine"], 0, 1 + 1e-9), "`cosine` lies outside [0, 1]")


DRIFT_TABLES: Final[Mapping[str, StudyTable]] = {
    "drift": StudyTable(DRIFT_COLUMNS, ("model", "step", "text", "name"), _check_drift)
}

DRIFT_STUDY: Final = StudyReport(
    DRIFT_TABLES,
    PageSection("drift", "What training moved", drift, DRIFT),
    (
        Method(
            ("drift",),
            "What training moved",
            "drift",
            "The maps of the first checkpoint and of the model were compared by cosine on {texts} sentences of the "
            "report split at the most (Kovaleva et al. 2019).",
        ),
    ),
)
