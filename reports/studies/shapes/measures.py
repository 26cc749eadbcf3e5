"""The shapes of all heads as the report split tells them: one grid of heads a measure, with its name and unit."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
import numpy.typing as npt
import pandas as pd

from reports.formats import decimal, percent

SENTENCES = "sentence"

Numbers = npt.NDArray[np.float64]
Heads = npt.NDArray[np.bool_]
"[layer, head]"

TITLES: Final[Mapping[str, str]] = {
    "entropy": "Entropy",
    "confidence": "Confidence",
    "attention": "Attention to",
    "offset": "Attention by offset",
    "distance": "Distance",
    "sieve": "Sieves",
    "class": "Maps by class",
}
"Kind -> what a group of measures is called, in the order of a page."

UNITS: Final = {"entropy": "nats", "distance": "words", "sieve": "times uniform"}
"Kind -> unit; the others are fractions, written in percent."

NAMES: Final = {
    ("entropy", "all tokens"): "entropy of all rows",
    ("entropy", "[CLS]"): "entropy of the [CLS] row",
    ("confidence", "without [SEP]"): "mean maximum, without [SEP]",
    ("attention", "[SEP] from [SEP]"): "[SEP], from [SEP]",
    ("attention", "[SEP] from others"): "[SEP], from other tokens",
    ("attention", "punctuation"): "words tagged PUNCT",
    ("offset", "before -8"): "more than 8 before",
    ("offset", "-1"): "−1, the previous word",
    ("offset", "0"): "0, the word itself",
    ("offset", "+1"): "+1, the next word",
    ("offset", "beyond +8"): "more than 8 after",
    ("distance", "words"): "mean distance of attended words",
}
"Kind and measure -> how it is called where that is not its name."

LEVEL: Final = 0.05
"Of the corrected tests of sieves."


@dataclass(frozen=True)
class ShapeMeasure:
    """One measure of all heads on the report split."""

    kind: str
    name: str
    title: str
    scope: str
    unit: str
    n: int
    clusters: int
    even: float
    "Of a map that gives all tokens the same."
    threshold: float
    "What a sieve was tested against; NaN for others."
    value: Numbers
    "[layer, head]"
    low: Numbers
    high: Numbers
    p_adjusted: Numbers

    @property
    def scale(self) -> int:
        """Return 100 for what is written in percent, else 1."""
        return 100 if self.unit == "%" else 1

    @property
    def drawn(self) -> Numbers:
        """[layer, head] The values in the unit."""
        drawn: Numbers = self.scale * self.value
        return drawn

    @property
    def digits(self) -> int:
        """Return how many decimals are written."""
        return 1 if self.unit == "%" else 2

    def written(self, value: float) -> str:
        """Write a value in the unit, without it."""
        return percent(value) if self.unit == "%" else decimal(value)

    @property
    def passed(self) -> Heads:
        """[layer, head] Whether a sieve's score is significantly above its threshold."""
        passed: Heads = np.nan_to_num(self.p_adjusted, nan=1) < LEVEL
        return passed

    def names(self, selected: Heads) -> tuple[str, ...]:
        """Return the names of the chosen heads [layer, head], the highest value first."""
        ranked = sorted(np.argwhere(selected).tolist(), key=lambda place: -float(self.value[place[0], place[1]]))
        return tuple(f"{layer + 1}-{head + 1}" for layer, head in ranked)


def shape_grids(frame: pd.DataFrame, size: tuple[int, int]) -> Iterator[ShapeMeasure]:
    """Yield what was measured: classes on windows if they were read, for there are no blocks in a sentence."""
    for (kind, name), rows in frame.groupby(["kind", "measure"], sort=False):
        scopes = sorted(set(rows["scope"]), reverse=kind == "class")  # sentences come first, of classes windows do
        yield _measure(str(kind), str(name), rows[rows["scope"] == scopes[0]], size)


def _measure(kind: str, name: str, rows: pd.DataFrame, size: tuple[int, int]) -> ShapeMeasure:
    cell = (rows["layer"] * size[1] + rows["head"]).to_numpy()
    first = rows.iloc[0]

    def grid(column: str) -> Numbers:
        values = np.full(size[0] * size[1], np.nan)
        values[cell] = rows[column]
        return values.reshape(size)

    return ShapeMeasure(
        kind=kind,
        name=name,
        title=NAMES.get((kind, name), name.replace("-", "−") if kind == "offset" else name),
        scope=str(first["scope"]),
        unit=UNITS.get(kind, "%"),
        n=int(first["n"]),
        clusters=int(first["clusters"]),
        even=float(first["even"]),
        threshold=float(first["threshold"]),
        value=grid("value"),
        low=grid("ci_low"),
        high=grid("ci_high"),
        p_adjusted=grid("p_adjusted"),
    )


def heat_data(measure: ShapeMeasure) -> dict[str, Any]:
    """Return a measure for the page's script: numbers in their unit, null where missing."""

    def numbers(values: Numbers) -> list[float | None]:
        return [None if math.isnan(v) else round(measure.scale * v, measure.digits) for v in values.ravel().tolist()]

    return {
        "title": measure.title,
        "unit": measure.unit,
        "digits": measure.digits,
        "scope": measure.scope,
        "n": measure.n,
        "clusters": measure.clusters,
        "even": numbers(np.array([measure.even]))[0],
        "value": numbers(measure.value),
        "low": numbers(measure.low),
        "high": numbers(measure.high),
        "passed": [int(i) for i in np.flatnonzero(measure.passed)],
        "threshold": None if math.isnan(measure.threshold) else measure.threshold,
    }
