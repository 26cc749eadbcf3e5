"""Gradient importance: how much behaviours change with the gates of heads, beside what heads truly cost."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Final

import pandas as pd
from pydantic import Field

from experiments.run.measure import BehaviourMeasure, Frames, Read, tables_of
from reports.blocks.block import Block, Heading, HeadMap, Paragraph, TableBlock, Terms
from reports.formats import count, decimal, decimal3
from reports.measures.reported import Method
from reports.run.folder import RunFolder
from reports.scores.best_heads import FEW_CLUSTERS
from reports.scores.effects import GATE, NumberScale, highest
from reports.scores.verdicts import Verdicts
from reports.tables.column import Column
from reports.tables.effects import OF_BEHAVIOUR
from reports.tables.shared_columns import (
    CORRELATIONS,
    FRACTIONS,
    ITEMS,
    NOT_NEGATIVE,
    ONE_HEAD,
    VALUE,
    correlation,
    ends,
    number,
    run_table,
    text,
    whole,
)
from reports.tables.text_table import TextTable

if TYPE_CHECKING:
    from experiments.run.context import RunContext

MOST: Final = 8
"Heads that a table has at the most."


def _correlation(name: str, meaning: str) -> tuple[Column, ...]:
    return (
        correlation(name, meaning, name),
        *ends(name, f"the {name.capitalize()} correlation", decimal, CORRELATIONS),
    )


IMPORTANCE: Final = run_table(
    "One row for each behaviour and head.",
    ("behaviour", "layer", "head"),
    (
        *OF_BEHAVIOUR,
        *ONE_HEAD,
        *ITEMS,
        number(
            "importance", "Mean over items of |d value / d gate|, in the unit; higher matters more.", NOT_NEGATIVE, "ci"
        ),
        *ends("ci", "importance", decimal3, NOT_NEGATIVE),
        number("of_layer", "Importance over the length (L2) of that of the whole layer.", FRACTIONS, write=decimal),
        number("predicted", "Cost of ablating the head that its Taylor series predicts, in the unit."),
        number("cost", "Measured cost of ablating the head with zero, in the unit; missing where it was not measured."),
    ),
)

TAYLOR: Final = run_table(
    "One row for each behaviour: how well predicted costs agree with measured ones over heads.",
    ("behaviour",),
    (
        *OF_BEHAVIOUR,
        text("series", "Terms of the Taylor series that predict, such as first order."),
        whole("heads", "Number of heads that are compared."),
        *ITEMS,
        *_correlation("spearman", "Rank correlation over heads of predicted and measured cost."),
        *_correlation("pearson", "Linear correlation over heads of predicted and measured cost."),
    ),
)

TERMS: Final = {
    **GATE,
    "importance": "The mean over items of |d value / d gate| at gates of 1 (Michel et al. 2019, equation 2): every "
    "item has gates, and so a gradient, of its own; the absolute value is taken item by item, nothing adds up from "
    "batch to batch, and no gradient is taken of a weight. The value is that of the behaviour: log-probability of "
    "masked word pieces, or by how much the correct sentence is preferred (the margin itself, not a loss of it, so "
    "that importance and cost have one unit). A sentence embedding is as near to itself as it can be, so its distance "
    "has no slope: there importance is the length of the derivative of the embedding of length 1, from random "
    "directions. Intervals are of resampled clusters.",
    "scaled by layer": "Divided by the length (L2) of the numbers of the layer, as Michel et al. 2019 do before they "
    "compare layers.",
    "predicted cost": "What Taylor’s series predicts that the behaviour loses without the head: its slope (first "
    "order), or of an embedding half the squared length of the derivative (second order). Cost is what it loses when "
    "the output of the head is replaced by zero.",
}


class ImportanceMeasure(BehaviourMeasure):
    """How much behaviours change with the gates of heads: gradient importance (Michel et al. 2019)."""

    name = "importance"
    title = "Gradient importance of heads"
    place = 124
    tables = {"importance": IMPORTANCE, "taylor": TAYLOR}
    methods = (
        Method(
            "The mean absolute derivative of a behaviour with respect to a gate on each head (Michel et al. 2019) was "
            "taken over at most {items} items of each behaviour: {behaviours}; embeddings were followed in "
            "{directions} random directions.",
            title="Gradient importance",
        ),
    )

    directions: int = Field(default=8, ge=1)
    "Random directions in which sentence embeddings are followed."
    taylor: bool = True
    "Whether every head is also ablated by zero, to say how far Taylor's series tells what that costs."

    def measure(self, run: RunContext, read: Read) -> Frames:
        """Return the importance of every head, and how far Taylor's series agrees with ablation."""
        from probes.causal.gradients import importance_table, taylor_table

        told, checks, shape = [], [], (run.model.layers, run.model.heads)
        for one in self.opened(run).weighed():
            slopes, values = one.slopes(self.directions), one.singles if self.taylor else None
            told.append(importance_table(one.behaviour, slopes, values, shape, run.effort))
            if values is not None:
                checks.append(taylor_table(one.behaviour, slopes, values, run.effort))
        return tables_of(importance=told, taylor=checks)

    @classmethod
    def page(cls, run: RunFolder) -> Iterator[Block]:
        """Yield a map of all heads, and of each behaviour the most important ones."""
        every = run.last("importance")
        taylor = {row["behaviour"]: row for row in run.last("taylor").to_dict("records")}
        yield Paragraph(
            "Every head has a gate, a factor on its output. Importance is how much a behaviour changes with the gate. "
            "The grid of all heads can be coloured by it. An item of a behaviour is a sentence, a minimal pair or a "
            "row."
        )
        for behaviour, rows in every.groupby("behaviour", sort=False):
            yield Heading(str(behaviour))
            yield Paragraph(_summary(rows, taylor.get(behaviour)))
            yield TableBlock(_most_important(rows))
        yield Terms(TERMS.items())

    @classmethod
    def maps(cls, run: RunFolder) -> Iterator[HeadMap]:
        """Yield the importance for each behaviour, as it is and scaled by layer."""
        for _, rows in run.last("importance").groupby("behaviour", sort=False):
            yield from _maps(rows, run)

    @classmethod
    def effects(cls, run: RunFolder, verdicts: Verdicts) -> Iterator[str]:
        """Yield how many of the heads with the largest importance are specialised in a linguistic role."""
        every, specialised = run.last("importance"), verdicts.specialised
        if not verdicts.tests_language:
            yield (
                "Gradient importance was measured; no linguistic role was tested, so no head can be specialised in one."
            )
            return
        known = []
        for behaviour, rows in every.groupby("behaviour", sort=False):
            top = highest(rows, "importance")["name"].head(MOST)
            known.append(f"{sum(name in specialised for name in top)} of {len(top)} ({behaviour})")
        yield (
            "Heads with the largest gradient importance that are specialised in a linguistic role: "
            f"{', '.join(known)}; of all heads {len(specialised)} of {run.layers * run.heads}."
        )


def _scale(rows: pd.DataFrame) -> NumberScale:
    return NumberScale.of(str(rows["unit"].iloc[0]), VALUE)


def _maps(rows: pd.DataFrame, run: RunFolder) -> Iterator[HeadMap]:
    one, scale, shape = rows.iloc[0], _scale(rows), (run.layers, run.heads)
    about = f"n\u00a0{count(int(one['n']))} · clusters\u00a0{count(int(one['clusters']))}"
    yield HeadMap.of(
        f"importance for {one['behaviour']}",
        rows,
        "importance",
        shape,
        group="effect",
        unit=scale.unit,
        factor=scale.factor,
        text=lambda row: scale.with_interval(row["importance"], row["ci_low"], row["ci_high"]),
        about=about,
    )
    scaled = f"importance for {one['behaviour']}, each layer scaled to length 1"
    yield HeadMap.of(scaled, rows, "of_layer", shape, group="effect", about=about)


def _most_important(rows: pd.DataFrame) -> TextTable:
    scale = _scale(rows)
    columns = (
        IMPORTANCE["name"].shown("Head", "row"),
        replace(IMPORTANCE["importance"], write=scale.cost).shown_beside(css=lambda row: "strong"),
        IMPORTANCE["of_layer"].shown("Scaled by layer"),
        replace(IMPORTANCE["predicted"], write=scale.cost).shown("Predicted cost"),
        replace(IMPORTANCE["cost"], write=scale.cost).shown(),
    )
    title = f"The most important heads for {rows['behaviour'].iloc[0]}, in {scale.unit}; 95 % intervals"
    return TextTable.of(title, columns, highest(rows, "importance").head(MOST).to_dict("records"))


def _summary(rows: pd.DataFrame, taylor: Mapping[Any, Any] | None) -> str:
    first = rows.iloc[0]
    few = f" ⚠ Only {count(int(first['clusters']))} clusters." if first["clusters"] < FEW_CLUSTERS else ""
    about = f"n = {count(int(first['n']))}, in {_scale(rows).unit}."
    if taylor is None:
        return about + few
    rho, r = (
        f"{decimal(taylor[name])} [{decimal(taylor[f'{name}_low'])}, {decimal(taylor[f'{name}_high'])}]"
        for name in ("spearman", "pearson")
    )
    return (
        f"{about} What Taylor’s series ({taylor['series']}) predicts and what ablation by zero costs agree over "
        f"{taylor['heads']} heads with a rank correlation of {rho} and a Pearson correlation of {r}.{few}"
    )
