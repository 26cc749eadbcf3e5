"""Attention statistics: what heads attend to and how broadly, which sieves they pass, and their types of maps.

Its tables are summaries of shapes: means, quantiles and numbers of heads, a layer, a sieve or a class a row.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Final

import numpy as np

from reports import formats
from reports.formats import count, decimal, percent
from reports.run.folder import RunFolder
from reports.scores.best_heads import FEW_CLUSTERS
from reports.studies.shapes.measures import SENTENCES, TITLES, ShapeMeasure, heat_data, shape_grids
from reports.tables.cells import TextColumn, columns_of
from reports.tables.table import last_step
from reports.tables.text_table import TextTable

PLACES: Final = {
    "[SEP]": ("attention", "[SEP]"),
    "[CLS]": ("attention", "[CLS]"),
    "periods and commas": ("attention", "period or comma"),
    "the previous word": ("offset", "-1"),
    "the next word": ("offset", "+1"),
    "the word itself": ("offset", "0"),
}
"What heads can give more than half of their attention to (Clark et al. 2019, sections 3.1 and 3.2)."

ROWS: Final = {"attention": "All tokens, special tokens included,", "offset": "Words"}
"Kind of a measure -> the tokens whose attention it averages."

AVERAGED: Final = "These are means over each text, then over texts; sinks are defined by the attention of words alone."
"How the attention to places is averaged."


@dataclass(frozen=True)
class SieveRow:
    """How many heads pass a sieve."""

    name: str
    scope: str
    n: int
    low: float
    median: float
    high: float
    "Over heads."
    passed: tuple[str, ...]
    "Names of heads."


@dataclass(frozen=True)
class ClassRow:
    """How many maps, and heads, are of a class."""

    name: str
    share: float
    "Of all maps."
    heads: tuple[str, ...]
    "Those whose maps are of this class more often than of any other."


SIEVES: Final = (
    TextColumn("Sieve", lambda row: row.name, "row"),
    TextColumn("n", lambda row: f"{count(row.n)} {row.scope}s"),
    TextColumn("Lowest head", lambda row: decimal(row.low)),
    TextColumn("Median", lambda row: decimal(row.median)),
    TextColumn("Highest", lambda row: decimal(row.high)),
    TextColumn("Heads above", lambda row: len(row.passed), css="strong"),
    TextColumn("Which", lambda row: formats.names(row.passed), "text", "wrapping heads"),
)
"Of the table of sieves."

CLASSES: Final = (
    TextColumn("Class", lambda row: row.name, "row"),
    TextColumn("All maps, %", lambda row: percent(row.share), css="strong"),
    TextColumn("Heads mostly so", lambda row: len(row.heads)),
    TextColumn("Which", lambda row: formats.names(row.heads), "text", "wrapping heads"),
)
"Of the table of classes."


@dataclass(frozen=True)
class HeadShapes:
    """What a page says about the attention statistics."""

    layers: int
    heads: int
    threshold: float
    measures: tuple[ShapeMeasure, ...]
    layer_means: TextTable
    sieves: tuple[SieveRow, ...]
    classes: tuple[ClassRow, ...]
    class_n: int
    class_scope: str
    near_ties: int
    "Maps whose class hangs on rounding, of all heads together."

    def measure(self, kind: str, name: str) -> ShapeMeasure | None:
        """Return a measure; None where no text has it."""
        return next((one for one in self.measures if (one.kind, one.name) == (kind, name)), None)

    @property
    def sieve_table(self) -> TextTable:
        """What sieves hold back."""
        return TextTable.of(f"Sieves: heads whose score is significantly above {self.threshold:g}", SIEVES, self.sieves)

    @property
    def class_table(self) -> TextTable:
        """The maps by class."""
        return TextTable.of(f"Maps by class: {count(self.class_n)} {self.class_scope}s", CLASSES, self.classes)

    @property
    def sentences(self) -> tuple[str, ...]:
        """What stands out, in a few sentences."""
        return tuple(_said(self))

    @property
    def heat(self) -> dict[str, Any]:
        """What the page's heat map shows, as plain values."""
        groups = {kind: title for kind, title in TITLES.items() if any(one.kind == kind for one in self.measures)}
        return {
            "layers": self.layers,
            "heads": self.heads,
            "groups": [
                {"title": title, "measures": [heat_data(one) for one in self.measures if one.kind == kind]}
                for kind, title in groups.items()
            ],
        }


def head_shapes(run: RunFolder) -> HeadShapes | None:
    """Return what the page says about the model's last step; None where the run measured no shapes."""
    if "shapes" not in run.studies or run.studies["shapes"].empty:
        return None
    frame = last_step(run.studies["shapes"].query("split == 'report'"))
    size = (int(frame["layer"].max()) + 1, int(frame["head"].max()) + 1)
    measures = tuple(shape_grids(frame[frame["n"] > 0], size))
    columns = [one for one in measures if (one.kind, one.name) in _COLUMNS]
    maps = [one for one in measures if one.kind == "class"]
    scope = maps[0].scope if maps else SENTENCES
    near = frame[(frame["kind"] == "class") & (frame["measure"] == "block") & (frame["scope"] == scope)]["near_ties"]
    return HeadShapes(
        *size,
        threshold=float(frame["threshold"].max()),
        measures=measures,
        layer_means=TextTable.of(
            "Means over the heads of a layer",
            columns_of(("Layer", *(f"{_COLUMNS[one.kind, one.name]}, {one.unit}" for one in columns))),
            [
                (layer + 1, *(one.written(float(one.value[layer].mean())) for one in columns))
                for layer in range(size[0])
            ],
        ),
        sieves=tuple(_sieve(one) for one in measures if one.kind == "sieve"),
        classes=tuple(_classes(maps)),
        class_n=maps[0].n if maps else 0,
        class_scope=scope,
        near_ties=int(near.sum()),
    )


_COLUMNS: Final = {
    ("entropy", "all tokens"): "entropy",
    ("entropy", "[CLS]"): "of the [CLS] row",
    ("confidence", "without [SEP]"): "confidence",
    ("attention", "[CLS]"): "to [CLS]",
    ("attention", "[SEP]"): "to [SEP]",
    ("attention", "period or comma"): "to periods and commas",
    ("offset", "-1"): "to the previous word",
    ("offset", "0"): "to itself",
    ("offset", "+1"): "to the next word",
    ("distance", "words"): "distance",
}
"What is told by layer, and how its column is called."


def _sieve(one: ShapeMeasure) -> SieveRow:
    low, median, high = np.quantile(one.value, [0, 0.5, 1]).tolist()
    return SieveRow(one.name, one.scope, one.n, low, median, high, one.names(one.passed))


def _classes(maps: Sequence[ShapeMeasure]) -> Iterator[ClassRow]:
    most = np.stack([one.value for one in maps]).argmax(0) if maps else np.zeros((0, 0))
    for place, one in enumerate(maps):
        yield ClassRow(one.name, float(one.value.mean()), one.names(most == place))


def _said(found: HeadShapes) -> Iterator[str]:
    """Yield what stands out, and where too few clusters are behind it."""
    clusters = max(one.clusters for one in found.measures)
    if clusters < FEW_CLUSTERS:
        yield f"⚠ Only {count(clusters)} clusters: intervals are rough, and sieves are tested with little power."
    entropy = found.measure("entropy", "all tokens")
    if entropy is not None:
        layers = entropy.value.mean(1)
        (narrow, broad), (least, most) = _ends(entropy), (int(layers.argmin()), int(layers.argmax()))
        yield (
            f"Entropies lie between {entropy.value.min():.2f} nats (head {narrow}) and {entropy.value.max():.2f} (head "
            f"{broad}); uniform attention has {entropy.even:.2f}. Layer {most + 1} is the broadest on average "
            f"({layers[most]:.2f}), layer {least + 1} the narrowest ({layers[least]:.2f})."
        )
    yield _most_attended(found)
    if found.classes:
        shares = ", ".join(f"{one.name} {percent(one.share)} %" for one in found.classes)
        yield f"Maps by class, all heads and {count(found.class_n)} {found.class_scope}s together: {shares}."


def _most_attended(found: HeadShapes) -> str:
    """Return which heads give a place more than half of their attention, and which rows that is averaged over."""
    places: dict[str, list[str]] = {kind: [] for kind in ROWS}
    for place, (kind, name) in PLACES.items():
        one = found.measure(kind, name)
        if one is not None and (one.value > 0.5).any():
            places[kind].append(f"to {place} in {_heads(one.names(one.value > 0.5))}")
    parts = [
        f"{rows} give more than half of their attention {'; '.join(places[kind])}."
        for kind, rows in ROWS.items()
        if places[kind]
    ]
    if not parts:
        return "No head gives more than half of its attention to a special token, a sign, a neighbour or itself."
    return " ".join((*parts, AVERAGED))


def _ends(one: ShapeMeasure) -> tuple[str, str]:
    """Return the heads with the smallest and the largest value."""
    ranked = one.names(np.ones(one.value.shape, bool))
    return ranked[-1], ranked[0]


def _heads(names: Sequence[str]) -> str:
    """Return how many heads there are, and which: "2 heads (3-1, 2-4)"."""
    return f"{len(names)} head{'' if len(names) == 1 else 's'} ({formats.names(names, 6)})"
