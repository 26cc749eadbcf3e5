"""The table of attention statistics: the shapes of heads' maps."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Final

import pandas as pd

from reports.tables.column import outside
from reports.tables.scores import no_number_of_nothing
from reports.tables.shared_columns import (
    CLUSTERS,
    NEAR_TIES,
    ONE_HEAD,
    P_ADJUSTED,
    P_LABEL,
    RUN,
    SPLIT,
    P,
    ends,
    number,
    text,
    whole,
)
from reports.tables.table import Refuse, Table

_SHARES = ("confidence", "attention", "offset", "class")
"Kinds of shapes that are fractions."


def _check(frame: pd.DataFrame, refuse: Refuse) -> None:
    highest = frame["kind"].isin(_SHARES).map({True: 1.0, False: float("inf")})
    for column in ("value", "ci_low", "ci_high", "even"):
        refuse(outside(frame[column], 0, highest), f"`{column}` lies outside [0, 1], or is negative")
    no_number_of_nothing(frame, refuse, "value")


SHAPES: Final = Table(
    "One row for each scope, split, measure and head. Values are nats for entropy, words for distance, times "
    "uniform attention for sieves, and fractions in [0, 1] for all other kinds.",
    ("model", "step", "scope", "split", "kind", "measure", "layer", "head"),
    (
        *RUN,
        text("scope", "Texts that are read: sentences, or windows of several."),
        SPLIT,
        text("kind", "Kind of the measure, such as entropy, offset or sieve."),
        text("measure", "What is measured, such as attention to [SEP]."),
        *ONE_HEAD,
        whole("n", "Number of texts; 0 where nothing could be measured."),
        CLUSTERS,
        number("value", "Mean over texts, in the unit of its kind; missing where n = 0.", None, "ci"),
        *ends("ci", "the value"),
        number("even", "Value of a map of equal numbers; missing where that is not defined."),
        replace(NEAR_TIES, meaning="Maps with a number within 0.00001 of a threshold that their class hangs on."),
        number("threshold", "Value that a sieve must exceed; missing where nothing was tested."),
        replace(P, meaning="One-sided p-value that the value exceeds the threshold; missing where nothing was tested."),
        replace(P_LABEL, meaning="p corrected for all heads (step-down maximum); missing where nothing was tested."),
        replace(P_ADJUSTED, meaning="p corrected for all heads and sieves; missing where nothing was tested."),
    ),
    _check,
)

SHAPE_TABLES: Final[Mapping[str, Table]] = {"shapes": SHAPES}
