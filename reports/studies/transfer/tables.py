"""The table of transfer."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Final

from reports.formats import cost, signed
from reports.tables.shared_columns import (
    BEHAVIOUR,
    CLUSTERS,
    ONE_HEAD,
    P_ADJUSTED,
    RUN,
    UNIT,
    P,
    difference,
    ends,
    flag,
    fraction,
    number,
    p_column,
    whole,
)
from reports.tables.table import Table

TRANSFER: Final = Table(
    "One row for each behaviour and head.",
    ("model", "step", "behaviour", "layer", "head"),
    (
        *RUN,
        BEHAVIOUR,
        UNIT,
        *ONE_HEAD,
        whole("n", "Number of sentences that receive outputs of others.", 1),
        CLUSTERS,
        fraction("matched", "Share of them whose donors have the same construction and as many attractors."),
        number("intact", "Mean margin of the correct verb form with the head's own output.", write=cost),
        number("same", "Mean margin with its output of a sentence with the same answer.", write=cost),
        number("other", "Mean margin with its output of a sentence with the other answer.", write=cost),
        number("mean", "Mean margin with its mean output; both answers weigh the same in it.", write=cost),
        number("transfer", "The margin with the same answer less that with the other.", None, "transfer", cost),
        *ends("transfer", "the transfer", cost),
        number("over_mean", "The margin with the same answer less that with the mean.", None, "over_mean", cost),
        *ends("over_mean", "that difference to the mean", cost),
        fraction("accuracy", "Share of sentences in which the correct form is preferred, with the head's own output."),
        fraction("accuracy_same", "The same with its output of a sentence with the same answer."),
        fraction("accuracy_other", "The same with its output of a sentence with the other answer."),
        fraction("accuracy_mean", "The same with its mean output."),
        difference("points", "Accuracy with the same answer minus that with the other.", "points"),
        *ends("points", "that difference of accuracies", signed),
        replace(P, meaning="p-value of the transfer for this row alone; missing where nothing was tested."),
        replace(P_ADJUSTED, meaning="p of the transfer, corrected for all heads; missing where nothing was tested."),
        p_column("p_over_mean", "p of the difference to the mean output, corrected for all heads."),
        flag(
            "transfers",
            "Whether the same answer keeps the margin significantly better than the other answer and the mean do.",
        ),
    ),
)

TRANSFER_TABLES: Final[Mapping[str, Table]] = {"transfer": TRANSFER}
