"""The table of confusion among noun groups."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

import pandas as pd

from reports.tables.schema import outside
from reports.tables.study_table import Refuse, StudyTable

CONFUSION_COLUMNS: Final[Mapping[str, str]] = MappingProxyType(
    {
        "model": "str",
        "step": "Int64",
        "corpus": "str",
        "split": "str",
        "label": "str",
        "layer": "int64",
        "head": "int64",
        "n": "int64",
        "clusters": "int64",
        "confusion": "float64",
        "ci_low": "float64",
        "ci_high": "float64",
        "chance": "float64",
        "selected": "bool",
    }
)
"""Column -> dtype of confusion.parquet, one row a label, split and head; head is -1 for a layer's heads averaged.

`confusion` and its interval are bits, 0 where attention picks the right noun group alone, `chance` that of an even
choice. `selected` marks the head, and the layer, of least confusion on the selection split."""


def _check(frame: pd.DataFrame, refuse: Refuse) -> None:
    for column in ("confusion", "ci_low", "ci_high", "chance"):
        refuse(outside(frame[column], 0, float("inf")), f"`{column}` is negative")


CONFUSION_TABLES: Final[Mapping[str, StudyTable]] = {
    "confusion": StudyTable(CONFUSION_COLUMNS, ("model", "step", "split", "label", "layer", "head"), _check)
}
