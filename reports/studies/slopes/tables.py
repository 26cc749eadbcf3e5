"""The table of how much behaviours change with single attention weights."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

import pandas as pd

from reports.tables.schema import outside
from reports.tables.study_table import Refuse, StudyTable

TOKENS: Final = ("[CLS]", "[SEP]", "other")
"What weights are on: the special tokens before and after the words of a text, and the pieces of words."

SLOPE_COLUMNS: Final[Mapping[str, str]] = MappingProxyType(
    {
        "model": "str",
        "step": "Int64",
        "corpus": "str",
        "behaviour": "str",
        "unit": "str",
        "token": "str",
        "layer": "int64",
        "head": "int64",
        "name": "str",
        "n": "int64",
        "clusters": "int64",
        "slope": "float64",
        "ci_low": "float64",
        "ci_high": "float64",
    }
)
"""Column -> dtype of slopes.parquet, one row a behaviour, token and head.

`slope` is the mean over items, and over a head's weights alpha on the token, of |d value / d alpha| in `unit`; of a
sentence embedding the mean length of the derivative of the embedding of length 1. Not negative."""


def _check(frame: pd.DataFrame, refuse: Refuse) -> None:
    refuse(~frame["token"].isin(TOKENS), f"`token` is not one of {', '.join(TOKENS)}")
    for column in ("slope", "ci_low", "ci_high"):
        refuse(outside(frame[column], 0, float("inf")), f"`{column}` is negative")


SLOPE_TABLES: Final[Mapping[str, StudyTable]] = {
    "slopes": StudyTable(SLOPE_COLUMNS, ("model", "step", "behaviour", "token", "layer", "head"), _check)
}
