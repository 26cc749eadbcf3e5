"""How a page tells the effects of heads on behaviours: their numbers, and which heads come first.

Accuracies are written in percent, all else as it was measured.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Final

import pandas as pd

from reports.formats import cost, count, decimal3, percent
from reports.tables.marks import FEW_CLUSTERS, fewest_documents
from reports.tables.shared_columns import COSINE, LEVEL, LOGIT, SCORE, VALUE

Row = Mapping[Any, Any] | pd.Series
"A row of a table that is about a behaviour: it has behaviour, unit and measure."

GATE: Final = {
    "gate": "A factor on the output of a head, before W_O: 1 leaves the head as it is, 0 ablates it (Michel et al. "
    "2019, section 2.2).",
}
"A term and its definition."

ACCURACY = "accuracy"
"What the unit, or the name of the measure, of an accuracy begins with."


@dataclass(frozen=True)
class NumberScale:
    """How the numbers of one behaviour and measure are written, wherever they stand."""

    unit: str
    factor: float
    "What a number is multiplied with to be drawn."

    @classmethod
    def of(cls, unit: str, measure: str) -> NumberScale:
        """Return percentage points for accuracies, else the unit in which it was measured."""
        if ACCURACY in (unit, measure.partition(" ")[0]):
            return cls("percentage points", 100)
        return cls(unit.partition(" with ")[0], 1)

    def value(self, number: float) -> str:
        """Write a value of the behaviour."""
        return percent(number) if self.factor == 100 else decimal3(number)

    def cost(self, number: float) -> str:
        """Write a cost, or another difference of values."""
        return percent(number) if self.factor == 100 else cost(number)

    def with_interval(self, number: float, low: float, high: float) -> str:
        """Write a cost with its interval."""
        return self.cost(number) + self.interval(self.cost, low, high)

    @staticmethod
    def interval(write: Callable[[float], str], low: float, high: float) -> str:
        """Return the end of a cell that tells an interval; "" where there is none."""
        return "" if math.isnan(low) else f" [{write(low)}, {write(high)}]"


def scale_of(row: Row) -> NumberScale:
    """Return how the numbers of a row are written."""
    return NumberScale.of(str(row["unit"]), str(row["measure"]))


def cost_text(row: Row) -> str:
    """Write the cost of a row with its interval."""
    return scale_of(row).with_interval(row["cost"], row["ci_low"], row["ci_high"])


def behaviour_text(row: Row) -> str:
    """Return the behaviour, and the measure where it is not its value."""
    return str(row["behaviour"]) if row["measure"] == VALUE else f"{row['behaviour']}, {row['measure']}"


def deciding(rows: pd.DataFrame) -> pd.DataFrame:
    """Return the rows, of a behaviour, with the measure that says whether heads matter: of labels the logit difference.

    Their log-probability also gains where a classifier that knows nothing becomes less certain of any label. A score of
    one's own, which stands in its place, decides.
    """
    value, logit = (rows[rows["measure"] == one] for one in (VALUE, LOGIT))
    return value if logit.empty or (value["unit"] == SCORE).any() else logit


def is_distance(row: Row) -> bool:
    """Return whether the behaviour is a distance from the intact model, which is tested against the median head."""
    return str(row["unit"]).startswith(COSINE)


def too_few(heads: pd.DataFrame) -> str:
    """Say how many clusters it takes for some of `heads` to be significant, where there are fewer; else ""."""
    one = heads.iloc[0]
    needed = fewest_documents(len(heads) * (1 if is_distance(one) else 2), LEVEL)
    if needed <= one["clusters"]:
        return ""
    return f" With {count(int(one['clusters']))} clusters no head can be significant: at least {needed} are needed."


def highest(heads: pd.DataFrame, column: str = "cost") -> pd.DataFrame:
    """Return the rows of heads, the highest in a column first; of equals the lower head."""
    return heads.sort_values([column, "layer", "head"], ascending=[False, True, True], kind="stable")


def significant(heads: pd.DataFrame, column: str = "cost") -> tuple[pd.DataFrame, pd.DataFrame]:
    """Return the rows of heads whose effect is significantly above 0, and of those where it is below."""
    sure = heads[heads["p_adjusted"] < LEVEL]
    return sure[sure[column] > 0], sure[sure[column] < 0]


def of_single_heads(rows: pd.DataFrame) -> str:
    """Say how many heads have a significant effect when they are ablated alone."""
    one, heads = rows.iloc[0], rows[rows["kind"] == "head"]
    costly, helping = map(len, significant(heads))
    few = f" ⚠ Only {count(int(one['clusters']))} clusters." if one["clusters"] < FEW_CLUSTERS else ""
    few += too_few(heads)
    intact = f"with all heads {scale_of(one).value(one['intact'])} {one['unit']}, n = {count(int(one['n']))}"
    ablated, behaviour = f"Ablated alone, {costly or 'none'} of {len(heads)} heads", behaviour_text(one)
    if is_distance(one):
        effect = f"cost significantly more on {behaviour} than the median head"
    else:
        effect = f"make the result on {behaviour} significantly worse, and {helping or 'none'} significantly better"
    return f"{ablated} {effect} ({intact}).{few}"
