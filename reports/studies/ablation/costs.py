"""What a set of heads costs, as a page tells it: one measure of one behaviour, with heads ablated in one way."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final

import numpy as np
import numpy.typing as npt
import pandas as pd

from reports.scales import NumberScale
from reports.studies.ablation.tables import MEASURES

Grid = npt.NDArray[np.float64]

VALUE, ACCURACY, ATTRACTED = MEASURES

LEVEL: Final = 0.05

COSINE: Final = "cosine"
"What the unit of a behaviour begins with that is a distance from the intact model."


@dataclass(frozen=True)
class Costs:
    """What every set of heads costs: one measure of one behaviour, with heads ablated in one way."""

    behaviour: str
    unit: str
    way: str
    measure: str
    rows: pd.DataFrame
    "As ablations.parquet."

    @property
    def heads(self) -> pd.DataFrame:
        """The rows of single heads."""
        return self.rows[self.rows["kind"] == "head"]

    @property
    def layers(self) -> pd.DataFrame:
        """The rows of whole layers."""
        return self.rows[self.rows["kind"] == "layer"]

    @property
    def n(self) -> int:
        """Items that costs are told of."""
        return int(self.rows["n"].iloc[0])

    @property
    def clusters(self) -> int:
        """Documents, or templates, of these items."""
        return int(self.rows["clusters"].iloc[0])

    @property
    def title(self) -> str:
        """Behaviour, and the measure where it is not its value."""
        return self.behaviour if self.measure == VALUE else f"{self.behaviour}, {self.measure}"

    @property
    def scale(self) -> NumberScale:
        """How costs are written."""
        return NumberScale.of(self.unit, self.measure)

    @property
    def distance(self) -> bool:
        """Whether the behaviour is a distance, by which a head is tested against the median head."""
        return self.unit.startswith(COSINE)

    @property
    def significant(self) -> tuple[int, int]:
        """How many heads significantly cost something (of a distance: more than the median head), and how many help."""
        found = self.heads[self.heads["p_adjusted"] < LEVEL]
        return int((found["cost"] > 0).sum()), int((found["cost"] < 0).sum())

    def with_interval(self, row: Any) -> str:
        """Write the cost of a row with its interval."""
        return self.scale.with_interval(row["cost"], row["ci_low"], row["ci_high"])

    def grid(self, column: str, shape: tuple[int, int]) -> Grid:
        """Return a column of the heads as [layer, head]; NaN for those that have no part in the behaviour."""
        found = np.full(shape, np.nan)
        heads = self.heads
        found[heads["layer"].astype(int), heads["head"].astype(int)] = heads[column]
        return found
