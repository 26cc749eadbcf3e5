"""The table of attention between rated words."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

import pandas as pd

from reports.tables.schema import outside
from reports.tables.study_table import Refuse, StudyTable

RELATEDNESS_COLUMNS: Final[Mapping[str, str]] = MappingProxyType(
    {
        "model": "str",
        "step": "Int64",
        "corpus": "str",
        "split": "str",
        "ratings": "str",
        "layer": "int64",
        "head": "int64",
        "n": "int64",
        "pairs": "int64",
        "clusters": "int64",
        "correlation": "float64",
        "ci_low": "float64",
        "ci_high": "float64",
        "p": "float64",
        "p_adjusted": "float64",
    }
)
"""Column -> dtype of relatedness.parquet, one row a set of ratings, split and head.

`correlation` is that of attention between rated words with their rating, by ranks within strata of distance, in
[-1, 1]; `n` counts pairs of words in sentences, `pairs` different ones. p is two-sided, p_adjusted corrected for all
heads."""


def _check(frame: pd.DataFrame, refuse: Refuse) -> None:
    for column in ("correlation", "ci_low", "ci_high"):
        refuse(outside(frame[column], -1, 1), f"`{column}` lies outside [-1, 1]")
    for column in ("p", "p_adjusted"):
        refuse(outside(frame[column], 0, 1), f"`{column}` lies outside [0, 1]")


RELATEDNESS_TABLES: Final[Mapping[str, StudyTable]] = {
    "relatedness": StudyTable(RELATEDNESS_COLUMNS, ("model", "step", "split", "ratings", "layer", "head"), _check)
}
