"""The tables that compare what heads attend to with their causal effect."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Final

from reports.formats import cost, decimal, percent, signed_percent
from reports.tables.shared_columns import (
    BEHAVIOUR,
    CORRELATIONS,
    FRACTIONS,
    NOT_NEGATIVE,
    ONE_HEAD,
    P_ADJUSTED,
    QUESTION,
    RUN,
    N,
    correlation,
    difference,
    ends,
    flag,
    fraction,
    number,
    text,
    whole,
)
from reports.tables.table import Table

VERDICTS: Final = (
    "attends, with effect",
    "attends, no effect",
    "effect without attention",
    "neither",
    "not known",
)

_ROLE: Final = (BEHAVIOUR, *QUESTION)
_KEY: Final = ("model", "step", *(column.name for column in _ROLE))

_UNMEASURED: Final = "missing where it was not measured, as without a masked-LM head or pairs of agreement."
_TRANSFER: Final = (
    number(
        "transfer",
        "Margin with the head's output of a sentence with the same answer, less that with one of the other answer, "
        f"in nats; {_UNMEASURED}",
        interval="transfer",
        write=cost,
    ),
    *ends("transfer", "the transfer", cost),
    flag("transfer_significant", "Whether the head transfers the answer (table transfer); no where not measured."),
)

LINK: Final = Table(
    "One row for each behaviour, label, direction and head of the report split.",
    (*_KEY, "layer", "head"),
    (
        *RUN,
        *_ROLE,
        *ONE_HEAD,
        N,
        fraction("accuracy", "Share of scored words whose most attended candidate is correct."),
        number("mass", "Mean attention to correct words.", FRACTIONS, write=percent),
        difference("margin", "Accuracy minus that of the strongest baseline or control."),
        number(
            "write_norm",
            "Mean length of the vector that the head writes; comparable within a layer.",
            NOT_NEGATIVE,
            write=decimal,
        ),
        number(
            "importance",
            "Mean |d value / d gate|, in the behaviour's unit; missing where it was not measured.",
            NOT_NEGATIVE,
            write=cost,
        ),
        number(
            "patching",
            "Share of the answer that patching the head restores; missing where it was not measured.",
            write=signed_percent,
        ),
        *_TRANSFER,
        number("cost", "What the behaviour loses without the head, in its unit.", None, "cost", cost),
        *ends("cost", "the cost", cost),
        replace(P_ADJUSTED, meaning="p of the cost, corrected for all heads; missing where nothing was tested."),
        flag("attends", "Whether the head attends: it has a grade in the label and direction."),
        flag("has_effect", "Whether the head has a causal effect: its cost is significantly above 0."),
        text("verdict", "Verdict of attention and ablation together.", VERDICTS),
    ),
)

LINK_CORRELATIONS: Final = Table(
    "One row for each behaviour, label, direction and pair of measures, over all heads.",
    (*_KEY, "one", "other"),
    (
        *RUN,
        *_ROLE,
        text("one", "First measure, a column of link."),
        text("other", "Second measure, a column of link."),
        whole("heads", "Number of heads."),
        correlation("rho", "Spearman's rank correlation of both over heads; missing where one is constant.", ""),
        *ends("", "rho", decimal, CORRELATIONS),
    ),
)

LINK_TABLES: Final[Mapping[str, Table]] = {"link": LINK, "link_correlations": LINK_CORRELATIONS}
