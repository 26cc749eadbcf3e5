"""The tables about heads as a set."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import Final

import pandas as pd

from reports.tables.schema import outside
from reports.tables.study_table import Refuse, StudyTable

_RUN: Final = {"model": "str", "step": "Int64", "corpus": "str"}
_HEAD: Final = {"layer": "int64", "head": "int64", "name": "str"}
_PAIR: Final = {**_HEAD, "other_layer": "int64", "other_head": "int64", "other": "str"}


def _between(name: str) -> dict[str, str]:
    return {f"{name}_low": "float64", f"{name}_high": "float64"}


def _within(**limits: float) -> Callable[[pd.DataFrame, Refuse], None]:
    """Return what refuses numbers of a column that are negative or above its limit."""

    def check(frame: pd.DataFrame, refuse: Refuse) -> None:
        for column, limit in limits.items():
            refuse(outside(frame[column], 0, limit), f"`{column}` lies outside [0, {limit:.3g}]")

    return check


_NATS: Final = math.log(2)
"The largest Jensen-Shannon divergence."

HEADSET_TABLES: Final[Mapping[str, StudyTable]] = {
    "distances": StudyTable(
        {**_RUN, **_PAIR, "distance": "float64"}, ("model", "step", "name", "other"), _within(distance=_NATS)
    ),
    "subspaces": StudyTable(
        {**_RUN, "what": "str", "weights": "str", **_PAIR, "overlap": "float64", "nearest": "float64"},
        ("model", "step", "what", "weights", "name", "other"),
        _within(overlap=1, nearest=1),
    ),
    "contrasts": StudyTable(
        {**_RUN, "what": "str", "weights": "str", "within": "float64", "between": "float64"}
        | {"pairs_within": "int64", "pairs_between": "int64", "p": "float64"},
        ("model", "step", "what", "weights"),
        _within(within=1, between=1, p=1),
    ),
    "places": StudyTable(
        {**_RUN, **_HEAD, "x": "float64", "y": "float64", "group": "int64", "nearest": "str", "distance": "float64"},
        ("model", "step", "name"),
        _within(distance=_NATS),
    ),
    "ensembles": StudyTable(
        {**_RUN, "probe": "str", "label": "str", "variant": "str", "size": "int64", "heads": "str"}
        | {"select_accuracy": "float64", "chosen": "bool", "n": "int64", "clusters": "int64", "accuracy": "float64"}
        | {**_between("ci"), "gain": "float64", **_between("gain"), "baseline": "str", "baseline_accuracy": "float64"}
        | {"margin": "float64", **_between("margin")},
        ("model", "step", "probe", "label", "variant", "size"),
        _within(select_accuracy=1, accuracy=1, ci_low=1, ci_high=1, baseline_accuracy=1),
    ),
}
"""Name -> what the table must hold.

distances: one row for every two heads; `distance` is the mean Jensen-Shannon divergence of their maps in nats.
subspaces: one row for every two heads, `what` ("W_V": the subspaces that they read, "W_O": that they write to,
"outputs": linear CKA of what comes out) and `weights` ("own", or "random" for fresh ones); `overlap` is the mean
squared cosine of the principal angles or CKA, `nearest` the cosine of the smallest angle, both in [0, 1].
contrasts: means over pairs `within` a layer and `between` layers; `what` is also "maps", for distances.
places: one row a head; `x` and `y` on a plane, in nats, `group` from 1, the `nearest` head and its `distance`.
ensembles: one row a relation and `size`, of the mean map of the `heads` (names, in the order in which they were taken
on the selection split); `gain` is over the first head alone, `chosen` marks the best size on the selection split.
Layer and head count from 0, `name` from 1; accuracies are fractions."""
