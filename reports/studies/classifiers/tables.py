"""The tables of trained classifiers and parsers in a run folder."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

import pandas as pd

from reports.tables.schema import outside
from reports.tables.study_table import Refuse, StudyTable

_RUN: Final = {"model": "str", "step": "Int64", "corpus": "str"}
_SELECTIVE: Final = dict.fromkeys(("selectivity", "selectivity_low", "selectivity_high"), "float64")
_MEASURED: Final = (
    {"n": "int64", "clusters": "int64", "accuracy": "float64", "ci_low": "float64", "ci_high": "float64"}
    | {"control_accuracy": "float64"}
    | _SELECTIVE
)

_COLUMNS: Final[Mapping[str, Mapping[str, str]]] = MappingProxyType(
    {
        "classifiers": _RUN
        | {"task": "str", "label": "str", "layer": "int64", "head": "int64", "name": "str", "selected": "bool"}
        | {"classes": "int64", "n_select": "int64", **_MEASURED}
        | {"codelength": "float64", "compression": "float64", "control_compression": "float64"}
        | {"majority": "float64", "control_majority": "float64", "embedding_accuracy": "float64"}
        | {"embedding_selectivity": "float64", "random_accuracy": "float64", "random_selectivity": "float64"},
        "codes": _RUN
        | {"task": "str", "draw": "int64", "layer": "int64", "head": "int64", "name": "str"}
        | {"compression": "float64", "control_compression": "float64"},
        "layers": _RUN
        | {"task": "str", "layer": "int64", **_MEASURED, "cumulative": "float64"}
        | {"cumulative_selectivity": "float64", "gain": "float64"}
        | {"expected_layer": "float64", "expected_low": "float64", "expected_high": "float64"},
        "parser": _RUN
        | {"parser": "str", "weights": "str", "parameters": "int64", "n_select": "int64", "n": "int64"}
        | {"clusters": "int64", "uas": "float64", "ci_low": "float64", "ci_high": "float64"}
        | {"margin": "float64", "margin_low": "float64", "margin_high": "float64", "control_uas": "float64"}
        | _SELECTIVE,
    }
)
"""Name of the table -> column -> dtype. One row a task, label and head; a task, draw and head; a task and layer (0:
embedding); a parser.

In classifiers and codes layer and head count from 0, `name` from 1. Fractions lie in [0, 1]; codelength is in bits,
compression how many times less that is than log2(classes) bits an example; NaN where something was not asked for."""

_FRACTIONS: Final = (
    *("accuracy", "ci_low", "ci_high", "control_accuracy", "majority", "embedding_accuracy", "random_accuracy"),
    *("control_majority", "cumulative", "uas", "control_uas"),
)


def _check(frame: pd.DataFrame, refuse: Refuse) -> None:
    """Refuse what no classifier can have measured."""
    for column in _FRACTIONS:
        if column in frame:
            refuse(outside(frame[column], 0, 1), f"`{column}` lies outside [0, 1] (fractions, not percent)")


CLASSIFIER_TABLES: Final[Mapping[str, StudyTable]] = {
    name: StudyTable(_COLUMNS[name], ("model", "step", "corpus", *key), _check)
    for name, key in (
        ("classifiers", ("task", "label", "name")),
        ("codes", ("task", "draw", "name")),
        ("layers", ("task", "layer")),
        ("parser", ("parser", "weights")),
    )
}
