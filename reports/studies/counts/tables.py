"""The table of hits by groups of texts."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

import pandas as pd

from reports.tables.shared_columns import QUESTION, RUN, place, whole
from reports.tables.table import Refuse, Table


def _check(frame: pd.DataFrame, refuse: Refuse) -> None:
    hits = frame[[column for column in frame.columns if column not in COUNTS.dtypes]]
    refuse(
        (hits.min(axis=1) < 0) | (hits.max(axis=1) > frame["n"] + 1e-3), "a head has fewer than 0 or more than n hits"
    )


COUNTS: Final = Table(
    "One row for each label and direction of the report split and group of texts that has items of it. A further "
    "column for each head, such as 3-5, holds its hits among the n items, a tie of k candidates counting as 1 / k.",
    ("model", "step", "probe", "label", "variant", "group"),
    (
        *RUN,
        *QUESTION,
        place("group", "Number of the group of texts; the bootstrap resamples groups."),
        whole("n", "Number of items that were scored in the group.", 1),
    ),
    _check,
    csv=False,
)

COUNT_TABLES: Final[Mapping[str, Table]] = {"counts": COUNTS}
