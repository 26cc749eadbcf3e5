"""The table of attention between rated words."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Final

from reports.formats import decimal
from reports.tables.shared_columns import (
    CLUSTERS,
    CORRELATIONS,
    HEAD,
    LAYER,
    P_ADJUSTED,
    RUN,
    SPLIT,
    P,
    correlation,
    ends,
    text,
    whole,
)
from reports.tables.table import Table

RELATEDNESS: Final = Table(
    "One row for each set of ratings, split and head.",
    ("model", "step", "split", "ratings", "layer", "head"),
    (
        *RUN,
        SPLIT,
        text("ratings", "Set of human ratings of how related two words are."),
        LAYER,
        HEAD,
        whole("n", "Number of rated pairs of words in sentences."),
        whole("pairs", "Number of different pairs of words."),
        CLUSTERS,
        correlation(
            "correlation",
            "Rank correlation of attention with rating, within strata of distance.",
            "ci",
        ),
        *ends("ci", "the correlation", decimal, CORRELATIONS),
        replace(P, meaning="Two-sided p-value of the correlation, uncorrected; missing where nothing was tested."),
        replace(P_ADJUSTED, meaning="p corrected for all heads; missing where nothing was tested."),
    ),
)

RELATEDNESS_TABLES: Final[Mapping[str, Table]] = {"relatedness": RELATEDNESS}
