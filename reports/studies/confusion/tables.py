"""The table of confusion among noun groups."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from reports.formats import decimal
from reports.tables.shared_columns import ITEMS, LABEL, LAYER, NOT_NEGATIVE, RUN, SPLIT, ends, flag, number, place
from reports.tables.table import Table

CONFUSION: Final = Table(
    "One row for each label, split and head, and for each layer's heads averaged.",
    ("model", "step", "split", "label", "layer", "head"),
    (
        *RUN,
        SPLIT,
        LABEL,
        LAYER,
        place("head", "Head in its layer, counted from 0; -1 for the layer's heads averaged.", -1),
        *ITEMS,
        number(
            "confusion",
            "Confusion in bits; 0 where attention goes to the correct noun group alone.",
            NOT_NEGATIVE,
            "ci",
            decimal,
        ),
        *ends("ci", "confusion", decimal, NOT_NEGATIVE),
        number("chance", "Confusion of uniform attention to all noun groups, in bits.", NOT_NEGATIVE, write=decimal),
        flag("selected", "Whether it is the head, or the layer, of least confusion on the selection split."),
    ),
)

CONFUSION_TABLES: Final[Mapping[str, Table]] = {"confusion": CONFUSION}
