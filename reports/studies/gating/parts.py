"""The parts of what a page says of gates: importance, curves of pruning, functions that migrate, learned gates."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from operator import itemgetter
from typing import Any, Final

import numpy as np
import numpy.typing as npt
import pandas as pd

from reports.formats import count, decimal, names, percent, signed
from reports.scales import NumberScale
from reports.scores.best_heads import FEW_CLUSTERS
from reports.studies.ablation.tables import MEASURES
from reports.studies.gating.tables import ORDERS
from reports.tables.cells import Cell, TextColumn, columns_of
from reports.tables.text_table import TextTable

Row = tuple[str | Cell, ...]
Grid = npt.NDArray[np.float64]

VALUE: Final = MEASURES[0]
IMPORTANCE, COST, RANDOM = ORDERS
TOLD: Final = {IMPORTANCE: "by importance", COST: "by own cost", RANDOM: "at random"}
"Order -> what a page calls it."

MOST: Final = 8
"Heads, and labels, that a table has at the most."

HEADS: Final = columns_of(("Head", "Importance", "Scaled by layer", "Predicted cost", "Cost"))
AREAS: Final = columns_of(("Order", "Area", "Random orders (range)", "Gain over random"))
LABELS: Final = columns_of(("Label", "n", "Best before", "Best that stays, before", "Best after", "Change, points"))
PRICES: Final = (
    *columns_of(
        ("Price", "Measure", "Heads left", "All heads", "With gates", "Cost, 95 % interval", "Unit"),
        ("Measure", "Unit"),
    ),
    TextColumn("Which", itemgetter(7), "text", "wrapping heads"),
)
SURVIVORS: Final = (*columns_of(("Head", "Gate")), TextColumn("Specialised in", itemgetter(2), "text", "wrapping"))


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
        return TextTable.of(title, HEADS, self._rows())

    def _rows(self) -> Iterator[Row]:
        top = self.rows.sort_values(["importance", "layer", "head"], ascending=[False, True, True], kind="stable")
        told = self.scale
        for row in top.head(MOST).to_dict("records"):
            importance = told.told(row["importance"], row["ci_low"], row["ci_high"])
            cells = (
                importance,
                decimal(row["of_layer"]),
                told.cost(row["predicted"]),
                told.cost(row["cost"]),
            )
            yield row["name"], Cell(cells[0], look="strong"), *cells[1:]

    @property
    def said(self) -> str:
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

    def line(self, order: str) -> tuple[Grid, Grid, Grid, Grid]:
        """Return the shares of heads left, and the mean, least and most value over the orders of that name."""
        rows = self.rows[self.rows["order"] == order]
        values = rows.groupby("removed")["value"].agg(["mean", "min", "max"])
        left = 1 - values.index.to_numpy(np.float64) / float(self.rows["heads"].iloc[0])
        mean, least, most = (values[column].to_numpy(np.float64) for column in ("mean", "min", "max"))
        return left, mean, least, most

    @property
    def told(self) -> TextTable:
        """Each order with its area, that of random orders and their range, and its gain over them."""
        title = f"{self.title}: area under the curve, in {self.scale.unit}; 95 % intervals"
        return TextTable.of(title, AREAS, self._rows())

    def _rows(self) -> Iterator[Row]:
        written = self.scale.value
        for row in self.areas.to_dict("records"):
            range_of = f"({written(row['random_least'])} to {written(row['random_most'])})"
            gain = self.scale.told(row["gain"], row["ci_low"], row["ci_high"])
            area = Cell(written(row["area"]), look="strong")
            yield TOLD[str(row["order"])], area, f"{written(row['random_area'])} {range_of}", gain


@dataclass(frozen=True)
class Migration:
    """Which head is the best at what, before and after heads were taken out, for one behaviour."""

    behaviour: str
    rows: pd.DataFrame
    "As migration.parquet."

    @property
    def said(self) -> str:
        """What came out, in a sentence."""
        rows, first = self.rows, self.rows.iloc[0]
        lost = rows[~rows["stays"]]
        up, down = ((rows["ci_low"] > 0).sum(), (rows["ci_high"] < 0).sum())
        other = int((rows["kept"] != rows["after"]).sum())
        return (
            f"{self.behaviour}: without the {first['removed']} least important of {first['heads']} heads, {len(lost)} "
            f"of {len(rows)} labels have lost their best head. Of the heads that stay, the best one of {other} labels "
            f"is another than before; it is surely better than the best of them was before for {up} labels, and surely "
            f"worse for {down} (each by its own 95 % interval, so a few of these are chance)."
        )

    @property
    def told(self) -> TextTable:
        """The labels that change most surely: n, three heads with their accuracy, and the change."""
        return TextTable.of("Best heads and their accuracy on the report split, in %", LABELS, self._rows())

    def _rows(self) -> Iterator[Row]:
        sure = self.rows["ci_low"].combine(-self.rows["ci_high"], max)
        ordered = self.rows.reindex(sure.sort_values(ascending=False, kind="stable").index)
        for row in ordered.head(MOST).to_dict("records"):
            yield (
                f"{row['probe']}: {row['label']}, {row['variant']}",
                Cell(count(row["n"]), look="strong"),
                f"{row['best']}{'' if row['stays'] else ' (out)'}, {percent(row['best_accuracy'])}",
                f"{row['kept']}, {percent(row['kept_accuracy'])}",
                f"{row['after']}, {percent(row['after_accuracy'])}",
                f"{signed(row['change'])} [{signed(row['ci_low'])}, {signed(row['ci_high'])}]",
            )


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
    def told(self) -> TextTable:
        """Each price and measure: heads left, value with all heads and with the gates, cost, and who survives."""
        return TextTable.of(f"{self.behaviour}: {self.learned}", PRICES, self._rows())

    def _rows(self) -> Iterator[Row]:
        for row in self.path.sort_values(["price", "measure"], ascending=[True, False]).to_dict("records"):
            scale = NumberScale.of(row["unit"], row["measure"])
            numbers = (scale.value(row["intact"]), scale.value(row["value"]))
            cost = scale.told(row["cost"], row["ci_low"], row["ci_high"])
            who = names(self.survivors(row["price"])["name"].tolist(), MOST)
            about = f"{row['left']} of {row['heads']}"
            yield f"{row['price']:g}", Cell(str(row["measure"]), look="strong"), about, *numbers, cost, scale.unit, who

    @property
    def dearest(self) -> float | None:
        """The highest price at which a head survives."""
        return next((price for price in reversed(self.prices) if len(self.survivors(price))), None)

    @property
    def last(self) -> TextTable:
        """Heads that survive the highest price that any does: name, gate, roles."""
        rows = self.survivors(self.dearest).head(2 * MOST) if self.dearest is not None else self.gates[:0]
        told = [
            (str(name), decimal(gate), self.roles.get(str(name), "no grade in a label of this run"))
            for name, gate in zip(rows["name"], rows["gate"], strict=True)
        ]
        return TextTable.of(f"{self.behaviour}: roles of survivors", SURVIVORS, told)
