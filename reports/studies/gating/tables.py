"""The tables of gates: importance, pruning, functions that migrate, and gates that are learned."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Final

import pandas as pd

from reports.formats import decimal, decimal3, signed
from reports.studies.ablation.tables import MEASURE
from reports.tables.column import Column
from reports.tables.shared_columns import (
    BEHAVIOUR,
    CORRELATIONS,
    FRACTIONS,
    ITEMS,
    NOT_NEGATIVE,
    ONE_HEAD,
    QUESTION,
    RUN,
    UNIT,
    correlation,
    difference,
    ends,
    flag,
    fraction,
    number,
    text,
    whole,
)
from reports.tables.table import Refuse, Table

ORDERS: Final = ("importance", "cost", "random")
"In which order heads are taken out."

_ABOUT: Final = ("model", "step", "behaviour")
_RUN: Final = (*RUN, BEHAVIOUR, UNIT)
_HEADS: Final = whole("heads", "Number of heads of the model.")
_ORDER: Final = text(
    "order", "Order in which heads are ablated, the least first: by importance, cost or chance.", ORDERS
)
_REMOVED: Final = whole("removed", "Number of heads that are ablated.")
_PRICE: Final = number("price", "What an open head costs while gates are learned, in the unit.")
_WEIGHTS: Final = flag("weights", "Whether the model's weights were trained along with the gates.")


def _check_removed(frame: pd.DataFrame, refuse: Refuse) -> None:
    refuse(frame["removed"] > frame["heads"], "`removed` is not between 0 and `heads`")


def _check_left(frame: pd.DataFrame, refuse: Refuse) -> None:
    refuse(frame["left"] > frame["heads"], "`left` is not between 0 and `heads`")


def _correlation(name: str, meaning: str) -> tuple[Column, ...]:
    """Return the columns of a correlation and its interval."""
    return (
        correlation(name, meaning, name),
        *ends(name, f"the {name.capitalize()} correlation", decimal, CORRELATIONS),
    )


IMPORTANCE: Final = Table(
    "One row for each behaviour and head.",
    (*_ABOUT, "layer", "head"),
    (
        *_RUN,
        *ONE_HEAD,
        *ITEMS,
        number(
            "importance", "Mean over items of |d value / d gate|, in the unit; higher matters more.", NOT_NEGATIVE, "ci"
        ),
        *ends("ci", "importance", decimal3, NOT_NEGATIVE),
        number(
            "of_layer",
            "Importance over the length (L2) of that of the whole layer.",
            FRACTIONS,
            write=decimal,
        ),
        number("predicted", "Cost of ablating the head that its Taylor series predicts, in the unit."),
        number("cost", "Measured cost of ablating the head with zero, in the unit; missing where it was not measured."),
    ),
)

TAYLOR: Final = Table(
    "One row for each behaviour: how well predicted costs agree with measured ones over heads.",
    _ABOUT,
    (
        *_RUN,
        text("series", "Terms of the Taylor series that predict, such as first order."),
        replace(_HEADS, meaning="Number of heads that are compared."),
        *ITEMS,
        *_correlation("spearman", "Rank correlation over heads of predicted and measured cost."),
        *_correlation("pearson", "Linear correlation over heads of predicted and measured cost."),
    ),
)

PRUNING: Final = Table(
    "One row for each behaviour, measure, order and number of heads that are ablated.",
    (*_ABOUT, "measure", "order", "draw", "removed"),
    (
        *_RUN,
        MEASURE,
        _ORDER,
        whole("draw", "Number of the random order, from 1; 0 for the others."),
        _REMOVED,
        _HEADS,
        *ITEMS,
        number("value", "The measure with the heads that are left, in the unit."),
        number("cost", "The measure with all heads minus value, in the unit.", None, "ci"),
        *ends("ci", "the cost"),
    ),
    _check_removed,
)

AREAS: Final = Table(
    "One row for each behaviour, measure and order that is not random.",
    (*_ABOUT, "measure", "order"),
    (
        *_RUN,
        MEASURE,
        _ORDER,
        *ITEMS,
        number("area", "Area under the curve of value against the share of heads that are left, in the unit."),
        whole("draws", "Number of random orders."),
        number("random_area", "Mean area of the random orders, in the unit; missing without any."),
        number("random_least", "Least area of a random order, in the unit."),
        number("random_most", "Largest area of a random order, in the unit."),
        number("gain", "Area minus random area, in the unit; above 0 where the order beats chance.", None, "ci"),
        *ends("ci", "the gain"),
    ),
)

MIGRATION: Final = Table(
    "One row for each behaviour, label and direction, after some heads were ablated; heads are selected on the "
    "selection split and evaluated on the report split.",
    (*_ABOUT, "probe", "label", "variant"),
    (
        *RUN,
        BEHAVIOUR,
        _REMOVED,
        _HEADS,
        *QUESTION,
        *ITEMS,
        text("best", "Best head of all, before pruning."),
        fraction("best_accuracy", "Accuracy of the best head before pruning."),
        flag("stays", "Whether pruning leaves that head."),
        text("kept", "Best head, before pruning, of those that pruning leaves."),
        fraction("kept_accuracy", "Accuracy of the kept head before pruning."),
        text("after", "Best head after pruning."),
        fraction("after_accuracy", "Accuracy of the best head after pruning."),
        difference("change", "Accuracy after pruning minus kept accuracy.", "ci"),
        *ends("ci", "the change", signed, CORRELATIONS),
    ),
)

GATES: Final = Table(
    "One row for each behaviour, price and head.",
    (*_ABOUT, "price", "layer", "head"),
    (
        *_RUN,
        _PRICE,
        _WEIGHTS,
        *ONE_HEAD,
        number("gate", "What the head's output is multiplied by once gates are learned.", FRACTIONS, write=decimal),
        fraction("open", "Probability that the gate is not 0."),
    ),
)

PATHS: Final = Table(
    "One row for each behaviour, measure and price: the model with its learned gates, on held-out items.",
    (*_ABOUT, "measure", "price"),
    (
        *_RUN,
        MEASURE,
        _PRICE,
        _WEIGHTS,
        whole("left", "Number of heads whose gate is open."),
        _HEADS,
        *ITEMS,
        number("intact", "The measure with all heads, in the unit."),
        number("value", "The measure with the gates, in the unit."),
        number("cost", "Intact minus value, in the unit.", None, "ci"),
        *ends("ci", "the cost"),
    ),
    _check_left,
)

GATE_TABLES: Final[Mapping[str, Table]] = {
    "importance": IMPORTANCE,
    "taylor": TAYLOR,
    "pruning": PRUNING,
    "pruning_areas": AREAS,
    "migration": MIGRATION,
    "gates": GATES,
    "gate_paths": PATHS,
}
