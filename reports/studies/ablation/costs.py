"""What a set of heads costs, as a page tells it: one measure of one behaviour, with heads switched off in one way."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any, Final

import numpy as np
import numpy.typing as npt
import pandas as pd

from reports.formats import MISSING
from reports.studies.ablation.tables import MEASURES

Grid = npt.NDArray[np.float64]

VALUE, ACCURACY, ATTRACTED = MEASURES

LEVEL: Final = 0.05

COSINE: Final = "cosine"
"What the unit of a behaviour begins with that is a distance from the intact model."


@dataclass(frozen=True)
class Costs:
    """What every set of heads costs: one measure of one behaviour, with heads switched off in one way."""

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

    @cached_property
    def scale(self) -> int:
        """What numbers are multiplied with to be written: 100 for accuracies, 1000 where all heads cost little."""
        if self.measure != VALUE or self.unit == ACCURACY:
            return 100
        most = float(self.heads["cost"].abs().max()) if len(self.heads) else 1.0
        return 1 if most >= 0.1 else 1000

    @property
    def told_unit(self) -> str:
        """The unit in which costs are written."""
        unit = self.unit.partition(" with ")[0]
        return {1: unit, 100: "percentage points", 1000: f"thousandths of {unit}"}[self.scale]

    @property
    def distance(self) -> bool:
        """Whether the behaviour is a distance, by which a head is tested against the median head."""
        return self.unit.startswith(COSINE)

    @property
    def sure(self) -> tuple[int, int]:
        """How many heads surely cost something (of a distance: more than the median head), and how many help."""
        found = self.heads[self.heads["p_adjusted"] < LEVEL]
        return int((found["cost"] > 0).sum()), int((found["cost"] < 0).sum())

    def written(self, value: float) -> str:
        """Write a cost in `told_unit`."""
        if np.isnan(value):
            return MISSING
        digits = 2 if self.scale == 1 else 1
        rounded = round(self.scale * value, digits) or 0.0  # no -0.0
        return f"{rounded:.{digits}f}".replace("-", "−")

    def told(self, row: Any) -> str:
        """Write the cost of a row with its interval."""
        low, high = self.written(row["ci_low"]), self.written(row["ci_high"])
        return self.written(row["cost"]) + (f" [{low}, {high}]" if low != MISSING else "")

    def grid(self, column: str, shape: tuple[int, int]) -> Grid:
        """Return a column of the heads as [layer, head]; NaN for those that have no part in the behaviour."""
        found = np.full(shape, np.nan)
        heads = self.heads
        found[heads["layer"].astype(int), heads["head"].astype(int)] = heads[column]
        return found
