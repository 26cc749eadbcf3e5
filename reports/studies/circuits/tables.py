"""The tables of what weights alone say of heads, beside what heads do on text."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

import pandas as pd

from reports.tables.schema import outside
from reports.tables.study_table import Refuse, StudyTable

_HEAD: Final = {"layer": "int64", "head": "int64", "name": "str"}

RANGES: Final[Mapping[str, tuple[float, float]]] = MappingProxyType(
    dict.fromkeys(("kernel_attention", "same_word", "related_words", "positive_eigenvalues", "own_word"), (0, 1))
    | dict.fromkeys(("text_attention", "text_at_kernel", "attention"), (0, 1))
    | dict.fromkeys(("static", "suppressed", "dynamic", "chance"), (0, 1))
    | dict.fromkeys(("copying", "text_same_word", "text_copying", "rho", "low", "high"), (-1, 1))
    | {"text_related": (-2, 2), "write_norm": (0, float("inf"))}
)
"Column -> the numbers that it may hold, NaN aside."


def _check(frame: pd.DataFrame, refuse: Refuse) -> None:
    """Refuse what no weights can say."""
    for column, (low, high) in RANGES.items():
        if column in frame:
            refuse(outside(frame[column], low, high), f"`{column}` lies outside [{low}, {high}]")


def _table(columns: Mapping[str, str], *key: str) -> StudyTable:
    of_run = {"model": "str", "step": "Int64", "corpus": "str"}
    return StudyTable({**of_run, **columns}, ("model", "step", *key), _check)


def _numbers(*names: str) -> dict[str, str]:
    return dict.fromkeys(names, "float64")


CIRCUIT_TABLES: Final[Mapping[str, StudyTable]] = {
    "circuits": _table(
        {
            **_HEAD,
            "kernel_offset": "int64",
            **_numbers("kernel_attention", "same_word", "related_words", "copying", "positive_eigenvalues", "own_word"),
            "text_offset": "int64",
            **_numbers("text_attention", "text_at_kernel", "text_same_word", "text_related", "text_copying"),
            **_numbers("write_norm"),
        },
        *("layer", "head"),
    ),
    "circuit_kernels": _table(
        {**_HEAD, "offset": "int64", **_numbers("score", "attention", "text_attention")}, "layer", "head", "offset"
    ),
    "circuit_relations": _table(
        {"relation": "str", **_HEAD, "pairs": "int64", **_numbers("static", "suppressed", "dynamic", "chance")},
        *("relation", "layer", "head"),
    ),
    "circuit_links": _table(
        {"relation": "str", "weights": "str", "text": "str", **_numbers("rho", "low", "high"), "heads": "int64"},
        *("relation", "weights", "text"),
    ),
}
"""What the columns mean is in `reports.studies.circuits.section.TERMS`. `corpus` is that of the report split, which
what is told of text comes from. Offsets are pieces, negative to the left; `relation` of a link is "" but for those of
relations."""
