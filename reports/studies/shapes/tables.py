"""The table of the shapes of heads."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

import pandas as pd

from reports.tables.schema import outside
from reports.tables.study_table import Refuse, StudyTable

SHAPE_COLUMNS: Final[Mapping[str, str]] = MappingProxyType(
    {
        "model": "str",
        "step": "Int64",
        "corpus": "str",
        "scope": "str",
        "split": "str",
        "kind": "str",
        "measure": "str",
        "layer": "int64",
        "head": "int64",
        "name": "str",
        "n": "int64",
        "clusters": "int64",
        "value": "float64",
        "ci_low": "float64",
        "ci_high": "float64",
        "even": "float64",
        "near_ties": "int64",
        "threshold": "float64",
        "p": "float64",
        "p_label": "float64",
        "p_adjusted": "float64",
    }
)
"""Column -> dtype of shapes.parquet, one row a scope, split, measure and head.

`value` is a mean over `n` texts: nats for entropy, words for distance, times even attention for sieves, and else a
fraction in [0, 1]; `even` is what a map of equal numbers has. NaN where n = 0, and where nothing was tested."""

_SHARES = ("confidence", "attention", "offset", "class")
"Kinds of shapes that are fractions."

_P = ("p", "p_label", "p_adjusted")


def _check(frame: pd.DataFrame, refuse: Refuse) -> None:
    """Refuse what cannot be the shape of a map."""
    share = frame["kind"].isin(_SHARES)
    for column in ("value", "ci_low", "ci_high", "even", *_P):
        highest = 1.0 if column in _P else share.map({True: 1.0, False: float("inf")})
        refuse(outside(frame[column], 0, highest), f"`{column}` lies outside [0, 1], or is negative")
    refuse((frame["n"] == 0) & frame["value"].notna(), "n = 0 but `value` is a number, not NaN")


SHAPE_TABLES: Final[Mapping[str, StudyTable]] = {
    "shapes": StudyTable(SHAPE_COLUMNS, ("model", "step", "scope", "split", "kind", "measure", "layer", "head"), _check)
}
