"""The tables that hold what heads look at against what they matter for."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

import pandas as pd

from reports.tables.schema import outside
from reports.tables.study_table import Refuse, StudyTable

VERDICTS: Final = (
    "looks and matters",
    "looks and does not matter",
    "matters without looking",
    "neither",
    "not known",
)

_ROLE: Final[Mapping[str, str]] = {"behaviour": "str", "probe": "str", "label": "str", "variant": "str"}

LINK_COLUMNS: Final[Mapping[str, str]] = MappingProxyType(
    {
        "model": "str",
        "step": "Int64",
        "corpus": "str",
        **_ROLE,
        "layer": "int64",
        "head": "int64",
        "name": "str",
        "n": "int64",
        "accuracy": "float64",
        "mass": "float64",
        "margin": "float64",
        "write_norm": "float64",
        "importance": "float64",
        "patching": "float64",
        "cost": "float64",
        "cost_low": "float64",
        "cost_high": "float64",
        "p_adjusted": "float64",
        "looks": "bool",
        "matters": "bool",
        "verdict": "str",
    }
)
"""Column -> dtype of link.parquet, one row a behaviour, role (probe, label, variant) and head.

accuracy, mass and margin are those of the report split; `cost` is what the behaviour loses without the head, in the
behaviour's own unit, p_adjusted corrected over heads; importance and patching are NaN where they were not measured."""

CORRELATION_COLUMNS: Final[Mapping[str, str]] = MappingProxyType(
    {
        "model": "str",
        "step": "Int64",
        "corpus": "str",
        **_ROLE,
        "one": "str",
        "other": "str",
        "heads": "int64",
        "rho": "float64",
        "low": "float64",
        "high": "float64",
    }
)
"Column -> dtype of link_correlations.parquet, one row a role and two measures: Spearman's rho over heads."


def _check_link(frame: pd.DataFrame, refuse: Refuse) -> None:
    for column in ("accuracy", "mass", "p_adjusted"):
        refuse(outside(frame[column], 0, 1), f"`{column}` lies outside [0, 1]")
    refuse(~frame["verdict"].isin(VERDICTS), f"`verdict` is not one of {', '.join(VERDICTS)}")


def _check_correlations(frame: pd.DataFrame, refuse: Refuse) -> None:
    for column in ("rho", "low", "high"):
        refuse(outside(frame[column], -1, 1), f"`{column}` lies outside [-1, 1]")


LINK_TABLES: Final[Mapping[str, StudyTable]] = {
    "link": StudyTable(LINK_COLUMNS, ("model", "step", *_ROLE, "layer", "head"), _check_link),
    "link_correlations": StudyTable(
        CORRELATION_COLUMNS, ("model", "step", *_ROLE, "one", "other"), _check_correlations
    ),
}
