"""The table of drift: how far a training run moved the maps that it began with."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from reports.formats import coefficient
from reports.tables.shared_columns import FRACTIONS, ONE_HEAD, RUN, SPLIT, number, place
from reports.tables.table import Table

MAP_DRIFT: Final = Table(
    "One row for each sentence and head: its map before and after a training run.",
    ("model", "step", "text", "name"),
    (
        *RUN,
        SPLIT,
        place("text", "Number of the sentence."),
        *ONE_HEAD,
        number(
            "cosine",
            "Cosine of the head's map before and after training; 1 is the same map.",
            FRACTIONS,
            write=coefficient,
        ),
    ),
)

DRIFT_TABLES: Final[Mapping[str, Table]] = {"drift": MAP_DRIFT}
