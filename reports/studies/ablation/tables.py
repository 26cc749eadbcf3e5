"""The tables of what heads cost: behaviour with them against behaviour without them."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

import pandas as pd

from reports.tables.schema import outside
from reports.tables.study_table import Refuse, StudyTable

MEASURES: Final = ("value", "accuracy", "accuracy with attractors")
"What is told of a behaviour; of all but minimal pairs the value alone."

KINDS: Final = ("head", "layer", "chosen", "random")
"Kinds of sets of heads."

ABLATION_COLUMNS: Final[Mapping[str, str]] = MappingProxyType(
    {
        "model": "str",
        "step": "Int64",
        "corpus": "str",
        "behaviour": "str",
        "unit": "str",
        "way": "str",
        "measure": "str",
        "kind": "str",
        "name": "str",
        "draw": "int64",
        "layer": "Int64",
        "head": "Int64",
        "heads": "int64",
        "n": "int64",
        "clusters": "int64",
        "intact": "float64",
        "ablated": "float64",
        "cost": "float64",
        "ci_low": "float64",
        "ci_high": "float64",
        "p": "float64",
        "p_adjusted": "float64",
    }
)
"""Column -> dtype of ablations.parquet, one row a behaviour, way, measure and set of heads that are switched off.

`cost` is intact - ablated, in `unit`: above 0 where the model does worse without them. `name` is the head (from 1), the
layer (from 1), or the label that chose heads; `draw` numbers the random sets that are held against those, from 1.
Layer and head count from 0, and are missing where a set has several. p is two-sided, and that of more cost than the
median head where `unit` is a cosine; p_adjusted is corrected for all sets of a kind. NaN where nothing was tested."""

CONTRAST_COLUMNS: Final[Mapping[str, str]] = MappingProxyType(
    {
        "model": "str",
        "step": "Int64",
        "corpus": "str",
        "behaviour": "str",
        "unit": "str",
        "way": "str",
        "measure": "str",
        "name": "str",
        "by": "str",
        "heads": "str",
        "elsewhere": "int64",
        "draws": "int64",
        "n": "int64",
        "clusters": "int64",
        "cost": "float64",
        "random_cost": "float64",
        "random_least": "float64",
        "random_most": "float64",
        "difference": "float64",
        "ci_low": "float64",
        "ci_high": "float64",
        "p": "float64",
    }
)
"""Column -> dtype of ablation_contrasts.parquet, one row a behaviour, way, measure and label (`name`) whose heads were
switched off together, and as many random heads `draws` times.

`difference` is the cost of the chosen heads less the mean cost of the random sets; `elsewhere` is how many heads of a
random set are of other layers than the chosen ones; p is (1 + random sets that cost as much) / (1 + draws)."""


CHOSEN_BY: Final = ("specialised", "largest margin")
"What heads of a label are chosen by: the verdict, or their margins on the selection split."


def _check_ablations(frame: pd.DataFrame, refuse: Refuse) -> None:
    refuse(~frame["kind"].isin(KINDS), f"`kind` is not one of {', '.join(KINDS)}")
    _check_costs(frame, refuse)
    share = frame["measure"] != MEASURES[0]
    for column in ("intact", "ablated"):
        refuse(share & outside(frame[column], 0, 1), f"`{column}` of an accuracy lies outside [0, 1]")


def _check_costs(frame: pd.DataFrame, refuse: Refuse) -> None:
    refuse(~frame["measure"].isin(MEASURES), f"`measure` is not one of {', '.join(MEASURES)}")
    for column in ("p", "p_adjusted"):
        if column in frame:
            refuse(outside(frame[column], 0, 1), f"`{column}` lies outside [0, 1]")


def _check_contrasts(frame: pd.DataFrame, refuse: Refuse) -> None:
    refuse(~frame["by"].isin(CHOSEN_BY), f"`by` is not one of {', '.join(CHOSEN_BY)}")
    _check_costs(frame, refuse)


_ABOUT: Final = ("model", "step", "behaviour", "way", "measure")

ABLATION_TABLES: Final[Mapping[str, StudyTable]] = {
    "ablations": StudyTable(ABLATION_COLUMNS, (*_ABOUT, "kind", "name", "draw"), _check_ablations),
    "ablation_contrasts": StudyTable(CONTRAST_COLUMNS, (*_ABOUT, "name"), _check_contrasts),
}
