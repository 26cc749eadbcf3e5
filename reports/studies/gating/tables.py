"""The tables of gates: importance, pruning, functions that migrate, and gates that are learned."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

import pandas as pd

from reports.studies.ablation.tables import MEASURES
from reports.tables.schema import outside
from reports.tables.study_table import Refuse, StudyTable

ORDERS: Final = ("importance", "cost", "random")
"In which order heads are taken out."

_RUN = {"model": "str", "step": "Int64", "corpus": "str", "behaviour": "str", "unit": "str"}
_HEAD = {"layer": "int64", "head": "int64", "name": "str"}
_ITEMS = {"n": "int64", "clusters": "int64"}
_INTERVAL = {"ci_low": "float64", "ci_high": "float64"}


def _floats(*names: str) -> dict[str, str]:
    return dict.fromkeys(names, "float64")


IMPORTANCE_COLUMNS: Final[Mapping[str, str]] = MappingProxyType(
    {**_RUN, **_HEAD, **_ITEMS, **_floats("importance"), **_INTERVAL, **_floats("of_layer", "predicted", "cost")}
)
"""Column -> dtype of importance.parquet, one row a behaviour and head.

`importance` is the mean over items of |d value / d gate|, in `unit`; of a sentence embedding the mean length of the
derivative of the embedding of length 1. `of_layer` is it over the length (L2) of all of its layer. `predicted` is what
Taylor's series says that the value loses without the head, `cost` what it does; NaN where that was not measured."""

TAYLOR_COLUMNS: Final[Mapping[str, str]] = MappingProxyType(
    {
        **_RUN,
        "series": "str",
        "heads": "int64",
        **_ITEMS,
        **_floats("spearman", "spearman_low", "spearman_high", "pearson", "pearson_low", "pearson_high"),
    }
)
"""Column -> dtype of taylor.parquet, one row a behaviour: correlations over heads of `predicted` and `cost` of
importance.parquet, with intervals over items. `series` is the term of Taylor's series that predicts."""

PRUNING_COLUMNS: Final[Mapping[str, str]] = MappingProxyType(
    {
        **_RUN,
        **{"measure": "str", "order": "str", "draw": "int64", "removed": "int64", "heads": "int64"},
        **_ITEMS,
        **_floats("value", "cost"),
        **_INTERVAL,
    }
)
"""Column -> dtype of pruning.parquet, one row a behaviour, measure, order and number of heads removed, of `heads`.

`order` is one of ORDERS, `draw` numbers random ones from 1. `cost` is the value with all heads less `value`, with an
interval; that is NaN where no head is removed."""

AREA_COLUMNS: Final[Mapping[str, str]] = MappingProxyType(
    {
        **_RUN,
        **{"measure": "str", "order": "str"},
        **_ITEMS,
        **{"area": "float64", "draws": "int64"},
        **_floats("random_area", "random_least", "random_most", "gain"),
        **_INTERVAL,
    }
)
"""Column -> dtype of pruning_areas.parquet, one row a behaviour, measure and order that is not random.

`area` is that under the curve of `value` against the share of heads left; `gain` is it less the mean area of `draws`
random orders, with an interval over items."""

MIGRATION_COLUMNS: Final[Mapping[str, str]] = MappingProxyType(
    {
        **{key: _RUN[key] for key in ("model", "step", "corpus", "behaviour")},
        **{"removed": "int64", "heads": "int64", "probe": "str", "label": "str", "variant": "str"},
        **_ITEMS,
        **{"best": "str", "best_accuracy": "float64", "stays": "bool", "kept": "str", "kept_accuracy": "float64"},
        **{"after": "str", "after_accuracy": "float64", "change": "float64"},
        **_INTERVAL,
    }
)
"""Column -> dtype of migration.parquet, one row a behaviour and question, after `removed` heads were taken out.

Names of three heads, chosen on the selection split, with their accuracy on the report split: the `best` of all before,
the best before of those that are `kept`, and the best of these `after`. `stays`: whether the first is kept. `change`
is the accuracy of the third less that of the second."""

GATE_COLUMNS: Final[Mapping[str, str]] = MappingProxyType(
    {**_RUN, "price": "float64", "weights": "bool", **_HEAD, **_floats("gate", "open")}
)
"""Column -> dtype of gates.parquet, one row a behaviour, price and head.

`price` is what an open head costs while gates are learned, in `unit`; `weights` whether weights were trained along.
`gate` in [0, 1] is what the head's output is multiplied by once they are, `open` the probability that it is not 0."""

PATH_COLUMNS: Final[Mapping[str, str]] = MappingProxyType(
    {
        **_RUN,
        **{"measure": "str", "price": "float64", "weights": "bool", "left": "int64", "heads": "int64"},
        **_ITEMS,
        **_floats("intact", "value", "cost"),
        **_INTERVAL,
    }
)
"""Column -> dtype of gate_paths.parquet, one row a behaviour, measure and price: how many heads are left, and what the
behaviour is with the gates, on items that they were not learned on. `cost` is intact - value."""


def _check_measures(frame: pd.DataFrame, refuse: Refuse) -> None:
    refuse(~frame["measure"].isin(MEASURES), f"`measure` is not one of {', '.join(MEASURES)}")
    if "order" in frame:
        refuse(~frame["order"].isin(ORDERS), f"`order` is not one of {', '.join(ORDERS)}")
    for some, every in (("removed", "heads"), ("left", "heads")):
        if some in frame:
            refuse((frame[some] < 0) | (frame[some] > frame[every]), f"`{some}` is not between 0 and `{every}`")


def _check_importance(frame: pd.DataFrame, refuse: Refuse) -> None:
    for column in ("importance", "of_layer"):
        highest = 1 + 1e-6 if column == "of_layer" else float("inf")
        refuse(outside(frame[column], 0, highest), f"`{column}` is negative, or above 1 in its layer")


def _check_taylor(frame: pd.DataFrame, refuse: Refuse) -> None:
    for column in ("spearman", "pearson"):
        refuse(outside(frame[column], -1 - 1e-9, 1 + 1e-9), f"`{column}` lies outside [-1, 1]")


def _check_shares(frame: pd.DataFrame, refuse: Refuse) -> None:
    for column in ("best_accuracy", "kept_accuracy", "after_accuracy", "gate", "open"):
        if column in frame:
            refuse(outside(frame[column], 0, 1), f"`{column}` lies outside [0, 1]")


_ABOUT: Final = ("model", "step", "behaviour")

GATE_TABLES: Final[Mapping[str, StudyTable]] = {
    "importance": StudyTable(IMPORTANCE_COLUMNS, (*_ABOUT, "layer", "head"), _check_importance),
    "taylor": StudyTable(TAYLOR_COLUMNS, _ABOUT, _check_taylor),
    "pruning": StudyTable(PRUNING_COLUMNS, (*_ABOUT, "measure", "order", "draw", "removed"), _check_measures),
    "pruning_areas": StudyTable(AREA_COLUMNS, (*_ABOUT, "measure", "order"), _check_measures),
    "migration": StudyTable(MIGRATION_COLUMNS, (*_ABOUT, "probe", "label", "variant"), _check_shares),
    "gates": StudyTable(GATE_COLUMNS, (*_ABOUT, "price", "layer", "head"), _check_shares),
    "gate_paths": StudyTable(PATH_COLUMNS, (*_ABOUT, "measure", "price"), _check_measures),
}
