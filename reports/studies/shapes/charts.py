"""The figure of attention statistics: entropy and attention by layer (Clark et al. 2019, figures 2 and 4)."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import altair as alt
import numpy as np

from reports.drawing.charts import COLOURS, Chart, SeriesStyle, curves, layered, over
from reports.drawing.figures import INK, LINE, MUTED, _axes, _bare, _save, _styled
from reports.studies.shapes.measures import ShapeMeasure
from reports.studies.shapes.section import HeadShapes

PANELS: Final = (
    ("Entropy of all rows", (("entropy", "all tokens", "heads"),)),
    ("Entropy of the [CLS] row", (("entropy", "[CLS]", "heads"),)),
    (
        "Attention to special tokens and punctuation",
        (
            ("attention", "[CLS]", "[CLS]"),
            ("attention", "[SEP]", "[SEP]"),
            ("attention", "period or comma", "period or comma"),
        ),
    ),
    (
        "Attention to [SEP]",
        (("attention", "[SEP] from [SEP]", "from [SEP]"), ("attention", "[SEP] from others", "from other tokens")),
    ),
)
"Title and series of each panel: kind, measure, name."

APART = 0.16
"How far the dots of two series stand apart, in layers."


@dataclass(frozen=True)
class ShapePanel:
    """Heads by layer, with means over the heads of each layer."""

    title: str
    series: tuple[tuple[str, ShapeMeasure], ...]

    @property
    def unit(self) -> str:
        """Unit of all series."""
        return self.series[0][1].unit

    @property
    def top(self) -> float:
        """Where the axis of numbers ends; it begins at 0."""
        if self.unit == "%":
            return 100.0
        return math.ceil(max(max(float(one.value.max()), one.even) for _, one in self.series) * 1.04 * 2) / 2

    def shifts(self) -> list[float]:
        """Return how far each series stands beside its layer."""
        return [APART * (place - (len(self.series) - 1) / 2) for place in range(len(self.series))]


def panels(shapes: HeadShapes) -> list[ShapePanel]:
    """Return the panels that have numbers."""
    made = []
    for title, wanted in PANELS:
        known = [(name, one) for kind, key, name in wanted if (one := shapes.measure(kind, key)) is not None]
        made += [ShapePanel(title, tuple(known))] if known else []
    return made


def shape_charts(shapes: HeadShapes) -> list[Chart]:
    """Return one chart a panel."""
    return [_chart(panel, shapes.layers) for panel in panels(shapes)]


def _chart(panel: ShapePanel, layers: int) -> Chart:
    x = alt.X("layer:Q", title="layer").scale(domain=[0.5, layers + 0.5], nice=False)
    x = x.axis(values=[layer + 1 for layer in _shown(layers)], format="d")
    y = alt.Y("value:Q", title=None).scale(domain=[0, panel.top], nice=False)
    drawn = dict(zip((name for name, _ in panel.series), map(SeriesStyle, COLOURS), strict=False))
    parts = list(zip(panel.shifts(), panel.series, strict=True))
    heads = over([row for shift, (name, one) in parts for row in _heads(name, one, shift)]).encode(tooltip="text:N")
    means = [row for shift, (name, one) in parts for row in _means(name, one, shift)]
    even = over([{"value": one.scale * one.even} for _, one in panel.series]).encode(alt.Y("value:Q"))
    lines = curves(
        *(means, drawn | {"uniform attention": SeriesStyle("var(--muted)", dashed=True)}, x, y),
        behind=[heads.mark_circle(size=28, cursor="pointer")],
    )
    rule = even.mark_rule(color="var(--muted)", strokeDash=[5, 3])
    text = "A dot a head, by layer, with means over heads; the tables below and shapes.csv have the numbers."
    return Chart(f"{panel.title} ({panel.unit})", text, layered(lines, rule).properties(height=190))


def _heads(name: str, one: ShapeMeasure, shift: float) -> Iterator[dict[str, Any]]:
    """Yield every head, `shift` beside its layer."""
    for (layer, head), value in np.ndenumerate(one.drawn):
        text = f"Head {layer + 1}-{head + 1}: {name} {value:.2f} {one.unit}"
        place = {"layer": layer + 1 + shift, "value": float(value), "head": f"{layer + 1}-{head + 1}"}
        yield place | {"series": name, "text": text}


def _means(name: str, one: ShapeMeasure, shift: float) -> Iterator[dict[str, Any]]:
    """Yield the means over the heads of each layer."""
    for layer, row in enumerate(one.drawn):
        yield {"layer": layer + 1 + shift, "value": float(row.mean()), "series": name}


def _shown(layers: int) -> Sequence[int]:
    """Return the layers that are written on the axis."""
    return range(0, layers, -(-layers // 12))


def save_shapes(shapes: HeadShapes, about: str, folder: Path) -> list[str]:
    """Write all panels, two beside each other, to shapes.png and shapes.pdf in `folder`; return that name."""
    from matplotlib.figure import Figure

    drawn = panels(shapes)
    rows, width, height = -(-len(drawn) // 2), 3.9, 2.1
    page = 0.45 + rows * (height + 0.75)
    with _styled():
        figure = Figure(figsize=(2 * (width + 0.75) + 0.1, page))
        figure.text(0.02, 1 - 0.12 / page, f"{about}: attention statistics", fontsize=10.5, va="top")
        for place, panel in enumerate(drawn):
            left, line = 0.55 + (place % 2) * (width + 0.75), place // 2
            axes = _axes(figure, left, page - 0.7 - height - line * (height + 0.75), width, height)
            for colour, shift, (name, one) in zip(COLOURS, panel.shifts(), panel.series, strict=False):
                layer = np.repeat(np.arange(1, shapes.layers + 1), shapes.heads)
                axes.plot(layer + shift, one.drawn.ravel(), "o", ms=2.6, mew=0, color=colour, alpha=0.75)
                axes.plot(layer[:: shapes.heads] + shift, one.drawn.mean(1), "-", lw=1.4, color=colour, label=name)
                axes.axhline(one.scale * one.even, color=MUTED, lw=0.9, ls=(0, (4, 3)))
            axes.plot([], [], color=MUTED, lw=0.9, ls=(0, (4, 3)), label="uniform attention")
            axes.set(xlim=(0.5, shapes.layers + 0.5), ylim=(0, panel.top))
            axes.set_xticks([layer + 1 for layer in _shown(shapes.layers)])
            axes.set_title(f"{panel.title} ({panel.unit})", fontsize=8.5, loc="left", pad=16, color=INK)
            axes.set_xlabel("layer", labelpad=1)
            axes.grid(axis="y", color=LINE, lw=0.5)
            axes.legend(ncols=4, loc="lower left", bbox_to_anchor=(-0.03, 0.98), frameon=False, fontsize=7)
            _bare(axes)
        _save(figure, folder / "shapes")
    return ["shapes"]
