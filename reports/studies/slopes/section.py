"""What a page says of single attention weights: how much behaviours change with those on [SEP], [CLS] and words.

Its tables are summaries of slopes: means over the heads of a layer, a column a token.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Final

import pandas as pd

from reports.formats import count, decimal
from reports.run.folder import RunFolder
from reports.scores.best_heads import FEW_CLUSTERS
from reports.studies.slopes.tables import TOKENS
from reports.tables.cells import columns_of
from reports.tables.text_table import TextTable

OTHER: Final = TOKENS[-1]

SLOPES: Final = (
    (
        "slope",
        "By how much a behaviour changes where one attention weight does, and nothing else: the derivative of its "
        "value, without its sign; of a sentence embedding the length of the derivative of the embedding. Mean over the "
        "weights of a head on a kind of token, over texts, and over the heads of a layer.",
    ),
    (
        "special tokens and words",
        "The slope at a special token over that at the pieces of words in the same layer. 1 where a weight matters "
        "as much on either; where it is near 0, attention to the special token is a no-op (Clark et al. 2019): more "
        "or less attention to it makes no difference.",
    ),
)


@dataclass(frozen=True)
class Steepness:
    """The slopes of one behaviour."""

    behaviour: str
    n: int
    clusters: int
    layers: TextTable
    "Of each layer: its number, the slope at words, and of each special token how many times that it is there."

    @property
    def summary(self) -> str:
        """What was read."""
        rough = " So few documents make the numbers rough." if self.clusters < FEW_CLUSTERS else ""
        return f"{count(self.n)} items of {count(self.clusters)} documents.{rough}"


def slopes(run: RunFolder) -> tuple[Steepness, ...] | None:
    """Return what a page says of slopes, a behaviour each; None where the run has none."""
    table = run.studies.get("slopes")
    if table is None or not len(table):
        return None
    return tuple(_steepness(str(name), rows) for name, rows in table.groupby("behaviour", sort=False))


def _steepness(behaviour: str, table: pd.DataFrame) -> Steepness:
    layers = table.pivot_table(index="layer", columns="token", values="slope")
    tokens = tuple(token for token in TOKENS[:-1] if token in layers)
    rows = tuple(
        (str(layer + 1), f"{row[OTHER]:.2g}", *(_times(row[token], row[OTHER]) for token in tokens))
        for layer, (_, row) in enumerate(layers.iterrows())
    )
    first = table.iloc[0]
    columns = columns_of(("Layer", "At words", *(f"At {token}, times words" for token in tokens)))
    told = TextTable.of(f"Slopes by layer, of {first['unit']}", columns, rows)
    return Steepness(behaviour, int(first["n"]), int(first["clusters"]), told)


def _times(slope: float, other: float) -> str:
    return decimal(slope / other if other else math.nan)
