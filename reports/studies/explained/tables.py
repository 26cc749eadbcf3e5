"""The table of heads: what their roles explain of their attention."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from reports.formats import plain
from reports.tables.column import Column
from reports.tables.shared_columns import ONE_HEAD, RUN, fraction, text, whole
from reports.tables.table import Table

HEADS: Final = Table(
    "One row for each scope and head: how much of its attention between different words, over all words of the report "
    "split, its roles explain.",
    ("model", "step", "scope", "layer", "head"),
    (
        *RUN,
        text("scope", "Texts that are read, sentences or windows of several: the roles are those of this scope."),
        *ONE_HEAD,
        whole(
            "roles",
            "Labels and directions in which the head has a grade; labels that pool others (all, nsubj:*) do not count.",
        ),
        Column("grade", "int64", "Highest grade in a role of language, 0 without one.", plain, (0, 3)),
        fraction(
            "between",
            "Attention between different words as a share of all attention of words: the rest goes to special tokens "
            "and to the word itself.",
        ),
        fraction(
            "explained",
            "Share of the attention between different words that lies on pairs of words of any of the head's roles, "
            "those of position included; 0 without a role. A pair that stands in several roles counts once.",
        ),
        fraction(
            "explained_random",
            "The share that the same roles explain of the head in the same place of the first control with randomly "
            "initialised weights; missing without one.",
        ),
    ),
)

EXPLAINED_TABLES: Final[Mapping[str, Table]] = {"heads": HEADS}
