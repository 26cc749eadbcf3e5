"""The table of hits by groups of texts."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

import pandas as pd

from reports.tables.study_table import Refuse, StudyTable

COUNT_COLUMNS: Final[Mapping[str, str]] = MappingProxyType(
    {
        "model": "str",
        "step": "Int64",
        "corpus": "str",
        "probe": "str",
        "label": "str",
        "variant": "str",
        "group": "int64",
        "n": "int64",
    }
)
"""Column -> dtype of counts.parquet, one row a question of the report split and group of texts that has items of it.

A further column a head, "3-5", holds its hits among the `n` items, a tie of k candidates counting as 1 / k."""


def _check(frame: pd.DataFrame, refuse: Refuse) -> None:
    hits = frame[[column for column in frame.columns if column not in COUNT_COLUMNS]]
    refuse(frame["n"] < 1, "`n` is below 1")
    refuse(
        (hits.min(axis=1) < 0) | (hits.max(axis=1) > frame["n"] + 1e-3), "a head has fewer than 0 or more than n hits"
    )


COUNT_TABLES: Final[Mapping[str, StudyTable]] = {
    "counts": StudyTable(COUNT_COLUMNS, ("model", "step", "probe", "label", "variant", "group"), _check, csv=False)
}
