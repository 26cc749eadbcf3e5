"""The parts of what a page says of gates: importance, curves of pruning, functions that migrate, learned gates."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Final

import numpy as np
import pandas as pd

from reports.formats import count, decimal, names, percent
from reports.scales import NumberScale
from reports.scores.best_heads import FEW_CLUSTERS
from reports.studies.ablation.tables import MEASURES
from reports.studies.gating.tables import AREAS, GATES, IMPORTANCE, MIGRATION, ORDERS, PATHS
from reports.tables.cells import TextColumn
from reports.tables.text_table import TextTable

Row = Mapping[Any, Any]
"A row of a table, by the names of its columns."


VALUE: Final = MEASURES[0]
BY_IMPORTANCE, BY_COST, AT_RANDOM = ORDERS
ORDER_NAMES: Final = {BY_IMPORTANCE: "by importance", BY_COST: "by own cost", AT_RANDOM: "at random"}
"Order -> what a page calls it."

MOST: Final = 8
"Heads, and labels, that a table has at the most."


def _strong(row: object) -> str:
    return "strong"


@dataclass(frozen=True)
class Importance:
    """The importance of all heads for one behaviour."""

    behaviour: str
    rows: pd.DataFrame
    "As importance.parquet."
    taylor: Mapping[Any, Any] | None
    "As taylor.parquet; None where heads were not ablated."

    @cached_property
    def scale(self) -> NumberScale:
        """How numbers are written."""
        return NumberScale.of(str(self.rows["unit"].iloc[0]), VALUE)

    @property
    def heads(self) -> TextTable:
        """The most important heads: name, and importance, share of its layer, predicted and true cost."""
        title = f"The most important heads for {self.behaviour}, in {self.scale.unit}; 95 % intervals"
        top = self.rows.sort_values(["importance", "layer", "head"], ascending=[False, True, True], kind="stable")
        columns = (
            IMPORTANCE["name"].shown("Head", "row"),
            replace(IMPORTANCE["importance"], write=self.scale.cost).shown_beside(css=_strong),
            IMPORTANCE["of_layer"].shown("Scaled by layer"),
            replace(IMPORTANCE["predicted"], write=self.scale.cost).shown("Predicted cost"),
            replace(IMPORTANCE["cost"], write=self.scale.cost).shown(),
        )
        return TextTable.of(title, columns, top.head(MOST).to_dict("records"))

    @property
    def summary(self) -> str:
        """How far predictions agree with ablation, in a sentence."""
        first = self.rows.iloc[0]
        few = f" ⚠ Only {count(int(first['clusters']))} clusters." if first["clusters"] < FEW_CLUSTERS else ""
        about = f"n = {count(int(first['n']))}, in {self.scale.unit}."
        if self.taylor is None:
            return about + few
        found = self.taylor
        rho, r = (
            f"{decimal(found[name])} [{decimal(found[f'{name}_low'])}, {decimal(found[f'{name}_high'])}]"
            for name in ("spearman", "pearson")
        )
        return (
            f"{about} What Taylor’s series ({found['series']}) predicts and what ablation by zero costs agree over "
            f"{found['heads']} heads with a rank correlation of {rho} and a Pearson correlation of {r}.{few}"
        )


@dataclass(frozen=True)
class Curve:
    """One behaviour and measure while heads are taken out."""

    behaviour: str
    measure: str
    unit: str
    rows: pd.DataFrame
    "As pruning.parquet."
    areas: pd.DataFrame
    "As pruning_areas.parquet."

    @property
    def title(self) -> str:
        """Behaviour, and the measure where it is not its value."""
        return self.behaviour if self.measure == VALUE else f"{self.behaviour}, {self.measure}"

    @cached_property
    def scale(self) -> NumberScale:
        """How numbers are written."""
        return NumberScale.of(self.unit, self.measure)

    def line(self, order: str) -> pd.DataFrame:
        """Return what is drawn of the orders of that name, a row a number of heads left.

        `left` is in percent of all heads; `value` is the mean over the orders, `low` and `high` are the least and the
        largest, in the unit; `written` is the mean with its unit.
        """
        rows = self.rows[self.rows["order"] == order]
        values = rows.groupby("removed")["value"].agg(value="mean", low="min", high="max")
        left = 100 * (1 - values.index.to_numpy(np.float64) / float(self.rows["heads"].iloc[0]))
        written = [f"{self.scale.value(value)} {self.scale.unit}" for value in values["value"]]
        told = pd.DataFrame(values * self.scale.factor)
        return told.assign(left=left, written=written).reset_index(drop=True)

    @property
    def table(self) -> TextTable:
        """Each order with its area, that of random orders and their range, and its gain over them."""
        title = f"{self.title}: area under the curve, in {self.scale.unit}; 95 % intervals"
        columns = (
            AREAS["order"].shown(kind="row", write=lambda row: ORDER_NAMES[row["order"]]),
            replace(AREAS["area"], write=self.scale.value).shown(css="strong"),
            AREAS["random_area"].shown("Random orders (range)", write=self._random),
            replace(AREAS["gain"], write=self.scale.cost).shown_beside("Gain over random"),
        )
        return TextTable.of(title, columns, self.areas.to_dict("records"))

    def _random(self, row: Row) -> str:
        """Write the mean area of the random orders, and the least and the largest."""
        mean, least, most = (self.scale.value(row[f"random_{name}"]) for name in ("area", "least", "most"))
        return f"{mean} ({least} to {most})"


def _with_accuracy(name: str) -> Callable[[Row], str]:
    """Return what writes the head of a column of migration, and its accuracy."""
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


@dataclass(frozen=True)
class Migration:
    """Which head is the best at what, before and after heads were taken out, for one behaviour."""

    behaviour: str
    rows: pd.DataFrame
    "As migration.parquet."

    @property
    def summary(self) -> str:
        """What came out, in a sentence."""
        rows, first = self.rows, self.rows.iloc[0]
        lost = rows[~rows["stays"]]
        up, down = ((rows["ci_low"] > 0).sum(), (rows["ci_high"] < 0).sum())
        other = int((rows["kept"] != rows["after"]).sum())
        return (
            f"{self.behaviour}: without the {first['removed']} least important of {first['heads']} heads, {len(lost)} "
            f"of {len(rows)} labels have lost their best head. Of the heads that stay, the best one of {other} labels "
            f"is another than before; for {up} labels it is better than the best of them was before, for {down} worse "
            "(by the 95 % interval of each, not corrected, so a few of these are chance)."
        )

    @property
    def table(self) -> TextTable:
        """The labels that change most significantly: n, three heads with their accuracy, and the change."""
        sure = self.rows["ci_low"].combine(-self.rows["ci_high"], max)
        ordered = self.rows.reindex(sure.sort_values(ascending=False, kind="stable").index)
        title = "Best heads and their accuracy on the report split, in %"
        return TextTable.of(title, LABELS, ordered.head(MOST).to_dict("records"))


def _scale(row: Row) -> NumberScale:
    """How the numbers of a row of gate_paths are written."""
    return NumberScale.of(row["unit"], row["measure"])


PRICES: Final = (
    PATHS["price"].shown("Price", "row", write=lambda row: f"{row['price']:g}"),
    PATHS["measure"].shown("Measure", css="strong"),
    PATHS["left"].shown("Heads left", write=lambda row: f"{row['left']} of {row['heads']}"),
    PATHS["intact"].shown("All heads", write=lambda row: _scale(row).value(row["intact"])),
    PATHS["value"].shown("With gates", write=lambda row: _scale(row).value(row["value"])),
    PATHS["cost"].shown(
        "Cost, 95 % interval", write=lambda row: _scale(row).with_interval(row["cost"], row["ci_low"], row["ci_high"])
    ),
    PATHS["unit"].shown("Unit", write=lambda row: _scale(row).unit),
)
"Of the table of what gates cost at every price, but for the names of the heads that are left."

SURVIVORS: Final = (
    GATES["name"].shown("Head", "row"),
    GATES["gate"].shown("Gate"),
    TextColumn("Specialised in", lambda row: row["roles"], "text", "wrapping"),
)
"Of the table of heads that are left at the highest price."


@dataclass(frozen=True)
class GatePath:
    """The gates of one behaviour at all prices."""

    behaviour: str
    gates: pd.DataFrame
    "As gates.parquet."
    path: pd.DataFrame
    "As gate_paths.parquet."
    roles: Mapping[str, str]
    "Head -> the labels that it has a grade in."

    @property
    def weights(self) -> bool:
        """Whether weights were trained along."""
        return bool(self.gates["weights"].any())

    @property
    def prices(self) -> list[float]:
        """All prices, the lowest first."""
        return sorted(self.gates["price"].unique().tolist())

    def survivors(self, price: float) -> pd.DataFrame:
        """Return the rows of the heads whose gate is not 0, the widest open first."""
        rows = self.gates[(self.gates["price"] == price) & (self.gates["gate"] > 0)]
        return rows.sort_values(["gate", "open", "layer", "head"], ascending=[False, False, True, True], kind="stable")

    @property
    def learned(self) -> str:
        """How the gates were learned."""
        return f"gates learned {'along with the weights of a copy' if self.weights else 'with the weights as they are'}"

    @property
    def table(self) -> TextTable:
        """Each price and measure: heads left, value with all heads and with the gates, cost, and who survives."""
        rows = self.path.sort_values(["price", "measure"], ascending=[True, False]).to_dict("records")
        which = TextColumn("Which", self._left, "text", "wrapping heads")
        return TextTable.of(f"{self.behaviour}: {self.learned}", (*PRICES, which), rows)

    def _left(self, row: Row) -> str:
        """Name the heads that are left at a price."""
        return names(self.survivors(row["price"])["name"].tolist(), MOST)

    @property
    def dearest(self) -> float | None:
        """The highest price at which a head survives."""
        return next((price for price in reversed(self.prices) if len(self.survivors(price))), None)

    @property
    def last(self) -> TextTable:
        """Heads that survive the highest price that any does: name, gate, roles."""
        rows = self.survivors(self.dearest).head(2 * MOST) if self.dearest is not None else self.gates[:0]
        roles = [self.roles.get(str(name), "no grade in a label of this run") for name in rows["name"]]
        told = rows.assign(roles=roles).to_dict("records")
        return TextTable.of(f"{self.behaviour}: roles of survivors", SURVIVORS, told)
