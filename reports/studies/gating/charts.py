"""The curves of pruning, as charts of the page and as a figure beside maps of importance and gates."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

import altair as alt
import numpy as np

from reports.drawing.charts import COLOURS, Chart, SeriesStyle, curves
from reports.drawing.figures import INK, LINE, MUTED, RAMP, _axes, _bare, _save, _styled, head_axes
from reports.formats import compact
from reports.studies.gating.measures import AT_RANDOM, BY_COST, BY_IMPORTANCE, ORDER_NAMES, Curve
from reports.studies.gating.section import Gating

ORDER_COLOURS: Final = {BY_IMPORTANCE: COLOURS[0], BY_COST: COLOURS[3], AT_RANDOM: "#808890"}
"Order -> colour."

PANELS: Final = 8
"Maps of the figure at the most."


def gating_charts(gating: Gating) -> list[Chart]:
    """Return one chart a behaviour and measure."""
    return [_chart(curve) for curve in gating.curves]


def _ends(curve: Curve) -> tuple[float, float]:
    """Return where the axis of values begins and ends."""
    values = curve.scale.factor * curve.rows["value"]
    low, high = float(values.min()), float(values.max())
    room = 0.05 * (high - low) or 1.0
    return low - room, high + room


def _chart(curve: Curve) -> Chart:
    x = alt.X("left:Q", title="heads left, %").scale(domain=[100, 0], nice=False)
    y = alt.Y("value:Q", title=None).scale(domain=list(_ends(curve)), nice=False)
    orders = {_named(order): SeriesStyle(colour, order == AT_RANDOM) for order, colour in ORDER_COLOURS.items()}
    drawn = curves([row for order in ORDER_COLOURS for row in _rows(curve, order)], orders, x, y)
    text = "The behaviour while heads are ablated; pruning.csv has the numbers."
    return Chart(f"{curve.title} ({curve.scale.unit})", text, drawn.properties(height=180))


def _named(order: str) -> str:
    return f"{ORDER_NAMES[order]}{', with range' if order == AT_RANDOM else ''}"


def _rows(curve: Curve, order: str) -> Iterator[dict[str, Any]]:
    """Yield the points of an order; random orders have a range."""
    bounds = ["low", "high"] if order == AT_RANDOM else []
    for row in curve.line(order).to_dict("records"):
        text = f"{ORDER_NAMES[order]}, {row['left']:.0f} % of heads left: {row['written']}"
        yield {name: row[name] for name in ("left", "value", *bounds)} | {"series": _named(order), "text": text}


def save_gating(gating: Gating, about: str, folder: Path) -> list[str]:
    """Write maps to head-gates and curves to pruning, each as PNG and PDF in `folder`; return the names."""
    names = []
    if gating.heat["maps"]:
        _save_maps(gating, about, folder / "head-gates")
        names.append("head-gates")
    if gating.curves:
        _save_curves(gating, about, folder / "pruning")
        names.append("pruning")
    return names


def _save_maps(found: Gating, about: str, path: Path) -> None:
    from matplotlib.figure import Figure

    maps = [one for one in found.heat["maps"] if "scaled" not in one["title"]][:PANELS]
    layers, heads = found.shape
    columns = min(2, len(maps))
    rows, cell = -(-len(maps) // columns), 0.3 if layers * heads <= 200 else 0.2
    width, height = max(heads * cell, 2.4), layers * cell
    page_width, page_height = columns * (width + 0.7) + 0.2, rows * (height + 0.75) + 0.45
    with _styled():
        figure = Figure(figsize=(page_width, page_height))
        figure.text(0.02, 1 - 0.1 / page_height, f"{about}: importance and gates of heads", fontsize=10.5, va="top")
        for number, one in enumerate(maps):
            left = 0.5 + (number % columns) * (width + 0.7)
            bottom = page_height - 0.72 - height - (number // columns) * (height + 0.75)
            axes = _axes(figure, left, bottom, width, height)
            values = np.array(one["value"]).reshape(layers, heads)
            top = float(values.max()) or 1.0
            axes.pcolormesh(values, cmap=RAMP, vmin=0, vmax=top, edgecolors="white", linewidth=0.6)
            unit = f" ({one['unit']})" if one["unit"] else ""
            axes.set_title(f"{one['title']}{unit}", fontsize=7, loc="left", pad=4)
            head_axes(axes, layers, heads)
            if layers * heads <= 200:
                for (layer, head), value in np.ndenumerate(values):
                    colour, text = "white" if value > 0.55 * top else INK, compact(value, top)
                    axes.text(head + 0.5, layer + 0.55, text, ha="center", va="center", fontsize=5.5, color=colour)
        _save(figure, path)


def _save_curves(found: Gating, about: str, path: Path) -> None:
    from matplotlib.figure import Figure

    columns = min(2, len(found.curves))
    rows, width, height = -(-len(found.curves) // columns), 3.4, 2.0
    page_width, page_height = columns * (width + 0.75) + 0.15, rows * (height + 0.85) + 0.5
    with _styled():
        figure = Figure(figsize=(page_width, page_height))
        figure.text(0.02, 1 - 0.1 / page_height, f"{about}: heads ablated", fontsize=10.5, va="top")
        for number, curve in enumerate(found.curves):
            left = 0.62 + (number % columns) * (width + 0.75)
            axes = _axes(
                figure, left, page_height - 0.8 - height - (number // columns) * (height + 0.85), width, height
            )
            for order, colour in ORDER_COLOURS.items():
                line, style = curve.line(order), "--" if order == AT_RANDOM else "-"
                if order == AT_RANDOM:
                    axes.fill_between(line["left"], line["low"], line["high"], color=colour, alpha=0.18, lw=0)
                (curve_drawn,) = axes.plot(line["left"], line["value"], style, marker="o", ms=2.6, lw=1.4)
                curve_drawn.set(color=colour, label=ORDER_NAMES[order])
            axes.set(xlim=(101, -1), ylim=_ends(curve))
            axes.set_title(f"{curve.title} ({curve.scale.unit})", fontsize=8, loc="left", pad=5, color=INK)
            axes.set_xlabel("heads left, %", labelpad=1, color=MUTED)
            axes.grid(axis="y", color=LINE, lw=0.5)
            axes.legend(frameon=False, fontsize=6.5, loc="lower left")
            _bare(axes)
        _save(figure, path)
