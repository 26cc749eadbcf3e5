"""The table of activation patching."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

import pandas as pd

from reports.tables.schema import outside
from reports.tables.study_table import Refuse, StudyTable

PATCHING_COLUMNS: Final[Mapping[str, str]] = MappingProxyType(
    {
        "model": "str",
        "step": "Int64",
        "corpus": "str",
        "role": "str",
        "layer": "int64",
        "head": "int64",
        "name": "str",
        "n": "int64",
        "clusters": "int64",
        "share": "float64",
        "ci_low": "float64",
        "ci_high": "float64",
        "estimate": "float64",
        "direct": "float64",
        "p": "float64",
        "p_label": "float64",
        "p_adjusted": "float64",
    }
)
"""Column -> dtype of patching.parquet, one row a role of places and head; "all places" is all of them at once.

`share` of the answer that the head restores there, 1 for all of it; it may be negative or above 1. `estimate` is the
same share to first order, `direct` what the head writes straight into the logits, NaN where that cannot be told."""


def _check(frame: pd.DataFrame, refuse: Refuse) -> None:
    for column in ("p", "p_label", "p_adjusted"):
        refuse(outside(frame[column], 0, 1), f"`{column}` lies outside [0, 1]")
    refuse(frame["n"] < 1, "`n` is below 1")
    refuse(frame["ci_low"] > frame["ci_high"], "`ci_low` lies above `ci_high`")


PATCHING_TABLES: Final[Mapping[str, StudyTable]] = {
    "patching": StudyTable(PATCHING_COLUMNS, ("model", "step", "role", "layer", "head"), _check)
}
