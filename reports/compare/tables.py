"""The tables of a comparison of two runs."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Final

from reports.formats import percent, signed
from reports.tables.column import Column
from reports.tables.shared_columns import (
    CORRELATIONS,
    FRACTIONS,
    P_ADJUSTED,
    QUESTION,
    N,
    difference,
    ends,
    flag,
    fraction,
    number,
    p_column,
    text,
    whole,
)
from reports.tables.table import Table

_RUNS: Final = (text("one", "Name of the first run."), text("other", "Name of the second run."))


def _best_head(side: str, run: str) -> tuple[Column, ...]:
    """Return the columns on the head that a run selected."""
    return (
        text(f"{side}_head", f"Head that the {run} run selected, as layer-head counted from 1."),
        fraction(f"{side}_accuracy", f"Its accuracy in the {run} run.", side),
        *ends(side, f"its accuracy in the {run} run", percent, FRACTIONS),
        difference(f"{side}_margin", f"Its accuracy minus that of the strongest baseline or control of the {run} run."),
        flag(f"{side}_graded", f"Whether it has a grade in the {run} run."),
    )


COMPARED: Final = Table(
    "One row for each pair of runs, label and direction. Differences are the second run minus the first; the partner "
    "is the head of the second run that corresponds to the one that the first run selected.",
    ("one", "other", "probe", "label", "variant"),
    (
        *_RUNS,
        *QUESTION,
        N,
        *_best_head("one", "first"),
        *_best_head("other", "second"),
        difference("difference", "Accuracy of the second run's head minus that of the first run's.", "difference"),
        *ends("difference", "the difference", signed, CORRELATIONS),
        p_column("p", "Two-sided p-value of the difference, uncorrected; missing where nothing was tested."),
        replace(P_ADJUSTED, meaning="p corrected for all labels and directions; missing where nothing was tested."),
        flag("significant", "Whether the difference is significant: adjusted p below the threshold."),
        flag("paired", "Whether both runs were resampled at once, on the same words."),
        text("partner", "Head of the second run that corresponds to the first run's; empty without one."),
        fraction("partner_accuracy", "Accuracy of the partner in the second run; missing without one."),
        flag("partner_graded", "Whether the partner has a grade in the second run."),
        difference("partner_difference", "Accuracy of the partner minus that of the first run's head.", "partner"),
        *ends("partner", "the partner's difference", signed, CORRELATIONS),
        p_column(
            "partner_p_adjusted", "Corrected p-value of the partner's difference; missing where nothing was tested."
        ),
        text("change", "Change of the role between the runs; empty where neither has it."),
        flag("role", "Whether this is the direction in which the label is reported as a role."),
    ),
)

HEADS: Final = Table(
    "One row for each pair of runs and head of the first, and for each head of the second without a counterpart.",
    ("one", "other", "head", "partner"),
    (
        *_RUNS,
        text("head", "Head of the first run; empty without one."),
        text("partner", "Head of the second run that corresponds to it; empty without one."),
        number("distance", "Jensen-Shannon divergence of their maps, in nats; missing where maps were not matched."),
        text("one_role", "Main role of the head in the first run; empty without one."),
        text("other_role", "Main role of the partner in the second run; empty without one."),
        whole("one_roles", "Number of roles of the head in the first run."),
        whole("other_roles", "Number of roles of the partner in the second run."),
        text("change", "Change of the head between the runs."),
        text("largest", "Label and direction in which its accuracy differs most; empty without one."),
        fraction("largest_from", "Its accuracy there in the first run; missing without a counterpart."),
        fraction("largest_to", "The partner's accuracy there in the second run; missing without a counterpart."),
    ),
)

COMPARE_TABLES: Final[Mapping[str, Table]] = {"compare": COMPARED, "heads": HEADS}
"Name of the CSV file -> what it must hold."
