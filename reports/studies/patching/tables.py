"""The table of activation patching."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Final

from reports.formats import signed_percent
from reports.tables.shared_columns import CLUSTERS, ONE_HEAD, P_ADJUSTED, P_LABEL, RUN, P, ends, number, text, whole
from reports.tables.table import Table

PATCHING: Final = Table(
    "One row for each role of places in the sentence and head.",
    ("model", "step", "role", "layer", "head"),
    (
        *RUN,
        text("role", "Places that are patched, such as the subject; all places is all of them at once."),
        *ONE_HEAD,
        whole("n", "Number of sentence pairs.", 1),
        CLUSTERS,
        number(
            "share",
            "Share of the answer that the head restores; 1 is all of it, below 0 it hurts.",
            None,
            "ci",
            signed_percent,
        ),
        *ends("ci", "the share", signed_percent),
        number("estimate", "The same share to first order, by gradients.", write=signed_percent),
        number(
            "direct",
            "Share that the head writes straight into the logits; missing where that is not defined.",
            write=signed_percent,
        ),
        replace(P, meaning="p-value of the share for this row alone; missing where nothing was tested."),
        replace(P_LABEL, meaning="p corrected for all heads of the role."),
        replace(P_ADJUSTED, meaning="p corrected for all heads and roles; missing where nothing was tested."),
    ),
)

PATCHING_TABLES: Final[Mapping[str, Table]] = {"patching": PATCHING}
