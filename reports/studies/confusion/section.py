"""Confusion among noun groups in bits, as a page tells it: by layer, and of the head of least confusion."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import Any, Final

import pandas as pd

from reports.formats import MISSING, decimal
from reports.run.folder import RunFolder
from reports.studies.confusion.tables import CONFUSION
from reports.tables.cells import TextColumn
from reports.tables.marks import clusters_shown
from reports.tables.text_table import TextTable

MEASURED: Final = (
    "A verb or reflexive agrees with one noun group of its sentence; the other groups are distractors. Its attention "
    "to each group is divided by that to all of them, and confusion is −log2 of the correct group’s share, a mean "
    "over items (Lin, Tan and Frank 2019, section 4): 0 bits where the correct group has all, one bit more for each "
    "halving of its share. By chance it is log2 of the number of groups. Of a layer the maps of its heads are "
    "averaged first, as published. Layer and head of least confusion were selected on the selection split; all "
    "numbers are of the report split, with 95 % intervals by cluster. In the published sentences (open-sesame) the "
    "correct group always stands first, so there a head that prefers early nouns has few bits too: see the baseline "
    "“first candidate” among the best heads."
)


@dataclass(frozen=True)
class Bits:
    """Confusion of a head, or of a layer’s heads averaged."""

    name: str
    value: float
    low: float
    high: float

    @property
    def text(self) -> str:
        """Name, bits and interval: "3-5 0.41 [0.38, 0.44]"."""
        between = f" [{decimal(self.low)}, {decimal(self.high)}]" if self.low == self.low else ""
        return f"{self.name} {decimal(self.value)}{between}"


@dataclass(frozen=True)
class Confused:
    """What is told of one label."""

    label: str
    n: int
    clusters: int
    chance: float
    layers: tuple[float, ...]
    "Bits of every layer's heads averaged."
    layer: Bits | None
    "The layer of least confusion; None where the selection split has no such item."
    head: Bits | None


@dataclass(frozen=True)
class Confusions:
    """What a page tells of confusion."""

    rows: tuple[Confused, ...]
    'One a label, "all" first.'
    measured: str = MEASURED

    @property
    def bits(self) -> TextTable:
        """Bits by label and layer."""
        layers = range(len(self.rows[0].layers))
        return TextTable.of(
            f"Confusion in bits; columns 1 to {len(layers)} are layers, their heads averaged",
            (
                TextColumn("Items", lambda row: row.label, "row"),
                CONFUSION["n"].shown(),
                clusters_shown(),
                CONFUSION["chance"].shown(),
                *(TextColumn(f"{place + 1}", partial(_bits, place)) for place in layers),
                TextColumn("Least confused layer", lambda row: row.layer.text if row.layer else MISSING, "text"),
                TextColumn("Least confused head", lambda row: row.head.text if row.head else MISSING, "text"),
            ),
            self.rows,
        )


def _bits(layer: int, row: Confused) -> str:
    return decimal(row.layers[layer])


def confusions(run: RunFolder) -> Confusions | None:
    """Return what the page says of every label; None where the run did not measure it, or found no item."""
    if "confusion" not in run.studies:
        return None
    table = run.studies["confusion"]
    told = table[table["split"] == "report"]
    labels = sorted(set(told["label"]), key=lambda label: (label != "all", label))
    return Confusions(tuple(_confused(label, told[told["label"] == label]) for label in labels)) if labels else None


def _confused(label: str, rows: pd.DataFrame) -> Confused:
    averaged = rows[rows["head"] < 0].sort_values("layer")
    first: Any = rows.iloc[0]
    return Confused(
        label,
        int(first["n"]),
        int(first["clusters"]),
        float(first["chance"]),
        tuple(averaged["confusion"]),
        _chosen(averaged),
        _chosen(rows[rows["head"] >= 0]),
    )


def _chosen(rows: pd.DataFrame) -> Bits | None:
    chosen = rows[rows["selected"]]
    if chosen.empty:
        return None
    row: Any = chosen.iloc[0]
    name = f"layer {row['layer'] + 1}" if row["head"] < 0 else f"{row['layer'] + 1}-{row['head'] + 1}"
    return Bits(name, *(float(row[column]) for column in ("confusion", "ci_low", "ci_high")))
