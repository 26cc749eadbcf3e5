"""What a page says of a model without some of its heads: what they cost, and chosen heads against random ones."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any, Final

import numpy as np
import pandas as pd

from reports.formats import count, decimal, escaped, names, p_value
from reports.run.folder import RunFolder
from reports.scores.best_heads import FEW_CLUSTERS
from reports.studies.ablation.costs import LEVEL, VALUE, Costs
from reports.studies.ablation.tables import ABLATION_CONTRASTS, SELECTED_BY
from reports.tables.cells import Cell, TextColumn
from reports.tables.table import last_step
from reports.tables.text_table import TextTable

COSTLY, HELPING = 8, 4
"Heads that a table has at the most: of those that cost most, and of those without which the model surely does better."


@dataclass(frozen=True)
class BehaviourCosts:
    """One behaviour: its heads, layers, and how alike the ways of ablation order the heads."""

    costs: tuple[Costs, ...]
    "All measures of the first way, then the value in the other ways."
    agreement: tuple[tuple[str, str, str], ...]
    "Two ways, and Spearman's correlation of what they make heads cost."

    @property
    def first(self) -> Costs:
        """The value in the first way."""
        return self.costs[0]

    @property
    def columns(self) -> tuple[str, ...]:
        """Names of the columns of numbers."""
        of_measures = [one for one in self.costs if one.way == self.first.way]
        ways = [f"Cost, {one.way}, {one.scale.unit}" for one in self.costs if one.way != self.first.way]
        told = [f"Cost, {one.scale.unit}" if one.measure == VALUE else f"{one.measure}, points" for one in of_measures]
        return (*told, *ways)

    @property
    def summary(self) -> str:
        """What stands out, in a few sentences."""
        one = self.first
        costly, helping = one.significant
        few = f" ⚠ Only {count(one.clusters)} clusters." if one.clusters < FEW_CLUSTERS else ""
        text = f"With all heads: {one.scale.value(one.rows['intact'].iloc[0])} {one.unit}, n = {count(one.n)}."
        if one.distance:
            text += f" Of {len(one.heads)} heads {costly} significantly cost more than the median head."
        else:
            text += (
                f" Ablated alone, {costly or 'none'} of {len(one.heads)} heads make the result significantly worse, "
                f"and {helping or 'none'} significantly better."
            )
        return text + few

    @property
    def heads(self) -> TextTable:
        """The heads that cost most, then those without which the model is significantly better, the best last."""
        ordered = self.first.heads.sort_values(["cost", "layer", "head"], ascending=[False, True, True], kind="stable")
        helping = ordered[(ordered["cost"] < 0) & (ordered["p_adjusted"] < LEVEL)].tail(HELPING)
        chosen = pd.concat([ordered.head(COSTLY), helping]).drop_duplicates("name")
        p = dict(zip(chosen["name"], chosen["p_adjusted"], strict=True))
        also = "" if self.first.distance else ", then those without which the model is significantly better"
        return TextTable.of(
            f"The heads that cost most{also} (way: {self.first.way}); 95 % intervals",
            (*self._columns("Head"), TextColumn("Corrected p", lambda name: p_value(p[name]))),
            chosen["name"],
        )

    @property
    def layers(self) -> TextTable:
        """Each layer with what it costs, one a column."""
        return TextTable.of("Whole layers", self._columns("Layer"), self.first.layers["name"])

    def _columns(self, about: str) -> tuple[TextColumn, ...]:
        """Return the columns of a table whose rows are names of heads or layers."""
        told = [{row["name"]: one.with_interval(row) for row in one.rows.to_dict("records")} for one in self.costs]
        named = zip(self.columns, told, strict=True)
        costs = [
            TextColumn(title, cells.__getitem__, css="strong" if about == "Head" and not place else "")
            for place, (title, cells) in enumerate(named)
        ]
        return (TextColumn(about, kind="row"), *costs)


@dataclass(frozen=True)
class Contrast:
    """Heads that a label selects against as many random heads."""

    costs: Costs
    row: dict[str, Any]

    @property
    def more(self) -> bool:
        """Whether the selected heads cost significantly more."""
        return bool(self.row["p"] < LEVEL and self.row["ci_low"] > 0)

    @property
    def cells(self) -> tuple[str, ...]:
        """Cost, mean cost of random heads and its range, difference with its interval."""
        told, row = self.costs.scale.cost, self.row
        ends = f"{told(row['random_least'])} to {told(row['random_most'])}"
        difference = f"{told(row['difference'])} [{told(row['ci_low'])}, {told(row['ci_high'])}]"
        return told(row["cost"]), f"{told(row['random_cost'])} ({ends})", difference

    @property
    def summary(self) -> str:
        """What came out, in a sentence."""
        row, one = self.row, self.costs
        heads = row["heads"].split()
        some = f"the {len(heads)} heads" if len(heads) > 1 else "the one head"
        largest = f"with the largest margin{'s' * (len(heads) > 1)} on"
        why = f"specialised in {row['name']}" if row["by"] == SELECTED_BY[0] else f"{largest} {row['name']}"
        which = f"{some} {why} ({names(heads, 8)})"
        moved = row["elsewhere"]
        other = f", {moved} of them of other layers, for theirs have too few" if moved else ""
        p = p_value(row["p"])
        verdict = "significantly more" if self.more else "not significantly more"
        return (
            f"{one.title}: without {which} the model loses {self.cells[0]} {one.scale.unit} (way: {one.way}), without "
            f"as many random heads of the same layers{other} {one.scale.cost(row['random_cost'])} on average over "
            f"{row['draws']} draws. That is {verdict} (difference {self.cells[2]}, p "
            f"{p if p.startswith('<') else f'= {p}'})."
        )


def _label(one: Contrast) -> Cell:
    name, by = one.row["name"], one.row["by"]
    return Cell(name, by, quiet="muted", markdown=escaped(f"{name}, {by}"))


CONTRASTS: Final = (
    TextColumn("Behaviour", lambda one: one.costs.title, "row"),
    ABLATION_CONTRASTS["way"].shown(within="row", css="muted"),
    TextColumn("Label", _label, "text"),
    TextColumn("Heads", lambda one: names(one.row["heads"].split()), "text", "wrapping heads"),
    TextColumn("Cost", lambda one: one.cells[0]),
    TextColumn("Random heads (range)", lambda one: one.cells[1]),
    TextColumn("Difference, 95 % interval", lambda one: Cell(one.cells[2], css="up" if one.more else "")),
    TextColumn("Unit", lambda one: one.costs.scale.unit, "text", "muted"),
    ABLATION_CONTRASTS["p"].shown(within="row"),
    ABLATION_CONTRASTS["elsewhere"].shown("Of other layers", within="row"),
)
"Of the table of `Contrast`."


@dataclass(frozen=True)
class Ablations:
    """All that a page says of a model without some of its heads."""

    shape: tuple[int, int]
    behaviours: tuple[BehaviourCosts, ...]
    every: tuple[Costs, ...]
    "All behaviours, ways and measures."
    contrasts: tuple[Contrast, ...]

    @property
    def compared(self) -> TextTable:
        """Chosen heads against random ones."""
        return TextTable.of("Selected heads against random heads", CONTRASTS, self.contrasts)

    @property
    def headlines(self) -> tuple[str, ...]:
        """One sentence a contrast of the first way: of pairs on accuracy, of those with attractors where there are."""
        best: dict[tuple[str, str], Contrast] = {}
        for one in self.contrasts:  # later measures are more telling
            if one.costs.way == self.every[0].way:
                best[one.costs.behaviour, one.row["name"]] = one
        return tuple(one.summary for one in best.values())

    @property
    def heat(self) -> dict[str, Any]:
        """What the page's heat map shows, as plain values."""
        return {"layers": self.shape[0], "heads": self.shape[1], "maps": [_map(one, self.shape) for one in self.every]}


def ablations(run: RunFolder) -> Ablations | None:
    """Return what the page says; None where nothing was ablated."""
    table = run.studies.get("ablations")
    if table is None or table.empty:
        return None
    table = last_step(table)
    every = tuple(
        Costs(str(behaviour), str(rows["unit"].iloc[0]), str(way), str(measure), rows)
        for (behaviour, way, measure), rows in table.groupby(["behaviour", "way", "measure"], sort=False)
    )
    shape = (int(run.scores["layer"].max()) + 1, int(run.scores["head"].max()) + 1)
    known = {(one.behaviour, one.way, one.measure): one for one in every}
    contrasts = run.studies.get("ablation_contrasts")
    rows = [] if contrasts is None else last_step(contrasts).to_dict("records")
    held = tuple(
        Contrast(known[row["behaviour"], row["way"], row["measure"]], {str(key): cell for key, cell in row.items()})
        for row in rows
    )
    return Ablations(shape, tuple(_behaviours(every)), every, held)


def _behaviours(every: Sequence[Costs]) -> Iterator[BehaviourCosts]:
    for behaviour in dict.fromkeys(one.behaviour for one in every):
        own = [one for one in every if one.behaviour == behaviour]
        values = [one for one in own if one.measure == VALUE]
        told = [one for one in own if one.way == values[0].way]
        yield BehaviourCosts((*told, *values[1:]), tuple(_agreement(values)))


def _agreement(values: Sequence[Costs]) -> Iterator[tuple[str, str, str]]:
    for one, other in combinations(values, 2):
        costs = [rows.set_index("name")["cost"] for rows in (one.heads, other.heads)]
        both = pd.concat(costs, axis=1, keys=["one", "other"]).rank()
        yield one.way, other.way, decimal(float(both["one"].corr(both["other"])))


def _map(one: Costs, shape: tuple[int, int]) -> dict[str, Any]:
    """Return one map for the page's script: costs in the told unit, null where there is none."""

    def numbers(column: str, scale: float = 1) -> list[float | None]:
        return [None if np.isnan(value) else float(f"{scale * value:.4g}") for value in one.grid(column, shape).ravel()]

    told = {(row["layer"], row["head"]): one.with_interval(row) for row in one.heads.to_dict("records")}
    return {
        "title": f"{one.title} ({one.way})",
        "unit": one.scale.unit,
        "about": f"with all heads {one.scale.value(one.rows['intact'].iloc[0])} ({one.unit}) · n\u00a0{count(one.n)} · "
        f"clusters\u00a0{count(one.clusters)}",
        "cost": numbers("cost", one.scale.factor),
        "text": [told.get(place) for place in np.ndindex(*shape)],
        "p": numbers("p_adjusted"),
    }
