"""Pruning: what is left of behaviours without the least important heads, and of what heads attend to."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import TYPE_CHECKING, Final

import pandas as pd
from pydantic import Field

from experiments.run.measure import BehaviourMeasure, Frames, Read, tables_of
from reports.blocks.block import Block, Charts, Fold, Heading, Paragraph, TableBlock, Terms
from reports.formats import percent, signed
from reports.measures.reported import Method
from reports.run.folder import RunFolder
from reports.scores.effects import Row, behaviour_text, scale_of
from reports.statements.figure import Figure, Point
from reports.tables.effects import OF_BEHAVIOUR, ORDERS
from reports.tables.shared_columns import (
    BEHAVIOUR,
    CORRELATIONS,
    ITEMS,
    MEASURE,
    QUESTION,
    difference,
    ends,
    flag,
    fraction,
    number,
    run_table,
    text,
    whole,
)
from reports.tables.table import Refuse
from reports.tables.text_table import TextTable

if TYPE_CHECKING:
    from experiments.run.behaviours import Weighed
    from experiments.run.context import RunContext
    from experiments.run.scope import Scored
    from probes.causal.ablation import Heads
    from probes.causal.pruning import Order

RANDOM: Final = ORDERS[2]
ORDER_NAMES: Final = dict(zip(ORDERS, ("by importance", "by own cost", "at random"), strict=True))
"Order -> what a page calls it."

MOST: Final = 8
"Labels that a table has at the most."

_HEADS: Final = whole("heads", "Number of heads of the model.")
_ORDER: Final = text(
    "order", "Order in which heads are ablated, the least first: by importance, cost or chance.", ORDERS
)
_REMOVED: Final = whole("removed", "Number of heads that are ablated.")


def _check_removed(frame: pd.DataFrame, refuse: Refuse) -> None:
    refuse(frame["removed"] > frame["heads"], "`removed` is not between 0 and `heads`")


PRUNING: Final = run_table(
    "One row for each behaviour, measure, order and number of heads that are ablated.",
    ("behaviour", "measure", "order", "draw", "removed"),
    (
        *OF_BEHAVIOUR,
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

AREAS: Final = run_table(
    "One row for each behaviour, measure and order that is not random.",
    ("behaviour", "measure", "order"),
    (
        *OF_BEHAVIOUR,
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

MIGRATION: Final = run_table(
    "One row for each behaviour, label and direction, after some heads were ablated; heads are selected on the "
    "selection split and evaluated on the report split.",
    ("behaviour", "probe", "label", "variant"),
    (
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

TERMS: Final = {
    "order": "Heads go by importance (the least first), by their own cost (each ablated alone, once, with all others "
    "there), or at random. Orders are decided on one half of the documents, curves are of the other half; a curve has "
    "every head of the order before it off as well, by zero.",
    "area": "Under the curve of the value against the share of heads left: the mean value over all sizes. Gain: less "
    "the mean area of the random orders, with an interval as that of a cost.",
    "roles after pruning": "Heads are scored once more by the probes with the least important ones ablated. Best "
    "before, best before of those that stay, and best of these after: each is selected on the selection split and "
    "evaluated on the report split.",
}


class PruningMeasure(BehaviourMeasure):
    """What behaviours keep while heads are taken out: by importance, by their own cost, and at random."""

    name = "pruning"
    title = "Pruning of heads"
    place = 126
    tables = {"pruning": PRUNING, "pruning_areas": AREAS, "migration": MIGRATION}
    methods = (
        Method(
            "Heads were ablated by importance, by their own cost, and in {draws} random orders, a share of {step} of "
            "all heads at a time; orders were made on one half of at most {items} items of each behaviour "
            "({behaviours}) and evaluated on the other half.",
            title="Pruning",
        ),
        Method(
            "With the {left} of most important heads left, all heads were scored again.",
            title="Roles after pruning",
            tables=("migration",),
        ),
    )

    items: int = Field(default=500, ge=4)
    "Sentences, or pairs, at the most of each behaviour: heads are chosen on one half, and told of on the other."
    directions: int = Field(default=8, ge=1)
    "As in [importance]."
    step: float = Field(default=0.1, gt=0, le=1)
    "Share of all heads that goes from one point of the curve to the next."
    draws: int = Field(default=5, ge=1)
    "Random orders."
    left: float = Field(default=0.5, ge=0, lt=1)
    "Share of the heads, by importance, with which the probes score the heads once more; 0 for not at all."

    def of_part(self, run: RunContext, scored: Scored) -> Iterator[pd.DataFrame]:
        """Score heads once more without those that go first; yields a table a behaviour."""
        out = round(run.model.layers * run.model.heads * (1 - self.left)) if self.left else 0
        with run.journal.stage(self.name):
            for one, orders in self._orders(run) if out else ():
                yield self._migrated(run, scored, one.behaviour.name, orders[0].heads[:out])

    def _migrated(self, run: RunContext, scored: Scored, name: str, order: Heads) -> pd.DataFrame:
        import numpy as np

        from probes.causal.pruning import migration_table, score_without

        model, part = run.model, scored.part
        kept = np.ones((model.layers, model.heads), bool)
        kept[tuple(np.array(order).T)] = False
        run.progress(f"scored without {len(order)} heads, {name} ({part.scope}s)", 0, 1)
        after = score_without(model, part.texts, part.probes, order, part.settings)
        rows = migration_table(scored.splits, after, kept, run.effort)
        return rows.assign(behaviour=name, removed=len(order), heads=kept.size)

    def measure(self, run: RunContext, read: Read) -> Frames:
        """Return the curves, the areas under them, and which heads are best at what before and after."""
        from probes.causal.pruning import area_table, curve_table, curves, halves, removals, taken

        told, areas = [], []
        removed = removals(run.model.layers * run.model.heads, self.step)
        for one, orders in self._orders(run):
            told_of = taken(one.behaviour, halves(one.behaviour)[1])
            step = run.counter(f"pruning, {one.behaviour.name}", len(told_of.prompts))
            values = curves(told_of, orders, removed, step)
            told.append(curve_table(told_of, orders, removed, values, run.effort))
            areas.append(area_table(told_of, orders, removed, values, run.effort))
        return tables_of(pruning=told, pruning_areas=areas, migration=read.rows)

    def _orders(self, run: RunContext) -> Iterator[tuple[Weighed, list[Order]]]:
        """Yield each behaviour with the orders of heads, which one half of its items decides."""
        from probes.causal.gradients import value_of
        from probes.causal.pruning import COST, IMPORTANCE, halves, random_orders, ranked

        shape = (run.model.layers, run.model.heads)
        for one in self.opened(run).weighed():
            chosen_on, _ = halves(one.behaviour)
            importance = one.slopes(self.directions).importance[chosen_on].mean(0).numpy()
            singles = value_of(one.behaviour, one.singles).values[:, chosen_on].mean(1)
            orders = [ranked(IMPORTANCE, importance), ranked(COST, (singles[0] - singles[1:]).reshape(shape))]
            yield one, orders + random_orders(shape, self.draws, run.config.seed)

    @classmethod
    def page(cls, run: RunFolder) -> Iterator[Block]:
        """Yield the curves of each behaviour and measure with their areas, and labels whose best head changes."""
        from reports.statements.drawn import figure_chart

        pruned, areas, migration = (run.last(table) for table in cls.tables)
        yield Paragraph(
            "Lines fall from left to right as heads are ablated; the band is the range of random orders. The higher a "
            "line, the better its order identifies the heads that are not needed."
        )
        curves = pruned.groupby(["behaviour", "measure"], sort=False)
        yield Charts([figure_chart(_figure(rows)) for _, rows in curves])
        for _, rows in areas.groupby(["behaviour", "measure"], sort=False) if len(areas) else ():
            yield TableBlock(_areas(rows))
        if len(migration):
            yield Heading("Roles after pruning")
        for _, rows in migration.groupby("behaviour", sort=False) if len(migration) else ():
            yield Paragraph(_migration(rows))
            yield Fold("The labels whose change has an interval furthest from 0", [TableBlock(_changes(rows))])
        yield Terms(TERMS.items())


def _figure(rows: pd.DataFrame) -> Figure:
    """Return what is left by how many heads are ablated, the mean of an order's draws; random orders have a range."""
    one, scale, series = rows.iloc[0], scale_of(rows.iloc[0]), dict[str, list[Point]]()
    for order in ORDERS:
        name = f"{ORDER_NAMES[order]}{', with range' * (order == RANDOM)}"
        for removed, values in rows[rows["order"] == order].groupby("removed")["value"]:
            place, told = 100 * int(str(removed)) / int(one["heads"]), scale.factor * values
            ends = (told.min(), told.max()) if order == RANDOM else (math.nan, math.nan)
            series.setdefault(name, []).append((place, told.mean(), *ends))
    dashed = [name for name in series if name.endswith("range")]
    return Figure("lines", behaviour_text(one), "heads ablated, %", scale.unit, series, dashed=dashed)


def _areas(rows: pd.DataFrame) -> TextTable:
    one, scale = rows.iloc[0], scale_of(rows.iloc[0])

    def random(row: Row) -> str:
        mean, least, most = (scale.value(row[f"random_{name}"]) for name in ("area", "least", "most"))
        return f"{mean} ({least} to {most})"

    columns = (
        AREAS["order"].shown(kind="row", write=lambda row: ORDER_NAMES[row["order"]]),
        replace(AREAS["area"], write=scale.value).shown(css="strong"),
        AREAS["random_area"].shown("Random orders (range)", write=random),
        replace(AREAS["gain"], write=scale.cost).shown_beside("Gain over random"),
    )
    title = f"{behaviour_text(one)}: area under the curve, in {scale.unit}; 95 % intervals"
    return TextTable.of(title, columns, rows.to_dict("records"))


def _with_accuracy(name: str) -> Callable[[Row], str]:
    out = name == "best"
    return lambda row: f"{row[name]}{' (out)' * (out and not row['stays'])}, {percent(row[f'{name}_accuracy'])}"


LABELS: Final = (
    MIGRATION["label"].shown("Label", "row", write=lambda row: f"{row['probe']}: {row['label']}, {row['variant']}"),
    MIGRATION["n"].shown("n", css="strong"),
    MIGRATION["best"].shown("Best before", "num", write=_with_accuracy("best")),
    MIGRATION["kept"].shown("Best that stays, before", "num", write=_with_accuracy("kept")),
    MIGRATION["after"].shown("Best after", "num", write=_with_accuracy("after")),
    MIGRATION["change"].shown_beside("Change, points"),
)
"Of the table of labels whose best head changes."


def _migration(rows: pd.DataFrame) -> str:
    first, lost = rows.iloc[0], rows[~rows["stays"]]
    up, down = ((rows["ci_low"] > 0).sum(), (rows["ci_high"] < 0).sum())
    return (
        f"{first['behaviour']}: without the {first['removed']} least important of {first['heads']} heads, {len(lost)} "
        f"of {len(rows)} labels have lost their best head. Of the heads that stay, the best one of "
        f"{(rows['kept'] != rows['after']).sum()} labels is another than before; for {up} labels it is better than the "
        f"best of them was before, for {down} worse (by the 95 % interval of each, not corrected, so a few of these "
        "are chance)."
    )


def _changes(rows: pd.DataFrame) -> TextTable:
    sure = rows["ci_low"].combine(-rows["ci_high"], max)
    ordered = rows.reindex(sure.sort_values(ascending=False, kind="stable").index)
    title = "Best heads and their accuracy on the report split, in %"
    return TextTable.of(title, LABELS, ordered.head(MOST).to_dict("records"))
