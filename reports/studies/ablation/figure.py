"""The static figure of ablation: what every head costs, a panel a behaviour."""

from __future__ import annotations

from pathlib import Path
from typing import Final

import numpy as np
from matplotlib.axes import Axes
from matplotlib.colors import LinearSegmentedColormap
from matplotlib.figure import Figure

from reports.drawing.figures import INK, MUTED, _axes, _save, _styled, head_axes
from reports.formats import compact
from reports.studies.ablation.costs import LEVEL, Costs
from reports.studies.ablation.section import Ablations

DIVERGING: Final = LinearSegmentedColormap.from_list(
    "costs", ["#8a3a00", "#d55e00", "#f2b48a", "#f3f6f9", "#a9cbe6", "#4a90c9", "#0f4f8f"]
)
"Vermilion where the model does better without a head, blue where it does worse."

MOST: Final = 8
"Panels at the most: those of the first way come first."


def save_ablation(ablations: Ablations, about: str, folder: Path) -> list[str]:
    """Write a panel a behaviour, measure and way to ablation.png and ablation.pdf in `folder`; returns that name."""
    shown = sorted(ablations.every, key=lambda one: one.way != ablations.every[0].way)[:MOST]
    layers, heads = ablations.shape
    columns = min(2, len(shown))
    rows, cell = -(-len(shown) // columns), 0.32 if layers * heads <= 200 else 0.2
    width, height = max(heads * cell, 2.2), layers * cell
    page_width, page_height = columns * (width + 0.75) + 0.2, rows * (height + 0.8) + 0.62
    with _styled():
        figure = Figure(figsize=(page_width, page_height))
        figure.text(0.02, 1 - 0.1 / page_height, f"{about}: what heads cost", fontsize=10.5, va="top")
        text = "Blue: the model does worse without the head; orange: better. Dotted: corrected p below 0.05."
        figure.text(0.02, 1 - 0.32 / page_height, text, fontsize=7, color=MUTED, va="top")
        for number, one in enumerate(shown):
            left = 0.5 + (number % columns) * (width + 0.75)
            bottom = page_height - 0.9 - height - (number // columns) * (height + 0.8)
            _draw(_axes(figure, left, bottom, width, height), one, ablations.shape, numbers=layers * heads <= 200)
        _save(figure, folder / "ablation")
    return ["ablation"]


def _draw(axes: Axes, one: Costs, shape: tuple[int, int], *, numbers: bool) -> None:
    cost, p = one.scale.factor * one.grid("cost", shape), one.grid("p_adjusted", shape)
    most = float(np.nanmax(np.abs(cost))) or 1.0
    axes.pcolormesh(cost, cmap=DIVERGING, vmin=-most, vmax=most, edgecolors="white", linewidth=0.6)
    axes.set_title(f"{one.title} ({one.way})\n{one.scale.unit}", fontsize=7.5, loc="left", pad=4)
    head_axes(axes, *shape)
    for (layer, head), value in np.ndenumerate(cost):
        colour = "white" if abs(value) > 0.6 * most else INK
        if numbers and not np.isnan(value):
            text = compact(value, most)
            axes.text(head + 0.5, layer + 0.55, text, ha="center", va="center", fontsize=5.5, color=colour)
        if p[layer, head] < LEVEL:
            axes.plot(head + 0.86, layer + 0.15, "o", color=colour, ms=1.8, mew=0)
