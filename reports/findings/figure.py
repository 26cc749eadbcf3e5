"""Figures of findings for Markdown and print, one panel a model."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from reports.drawing.figures import BASELINE_ORANGE, INK, LINE, RAMP, _axes, _bare, _save, _styled
from reports.findings.charts import axes_of, column_names, row_names, series_of

WIDTH, HEIGHT, GAP = 2.7, 1.75, 0.75
"Of a panel and between panels, in inches."


def save_finding_figure(panels: Sequence[tuple[str, Mapping[str, Any]]], path: Path) -> None:
    """Write a panel for each pair of model and figure (of the record) to `path`.png and `path`.pdf."""
    title, keys = panels[0][1]["title"], max(len(figure["series"]) for _, figure in panels)
    legend = 0.17 * -(-(keys + 1) // 2) + 0.15
    height = HEIGHT + legend + 1.0
    with _styled():
        page = Figure(figsize=(len(panels) * (WIDTH + GAP) + 0.25, height))
        page.text(0.15 / page.get_size_inches()[0], 1 - 0.1 / height, title, fontsize=10.5, va="top")
        for place, (model, figure) in enumerate(panels):
            axes = _axes(page, 0.6 + place * (WIDTH + GAP), legend + 0.38, WIDTH, HEIGHT)
            (_matrix if figure["kind"] == "matrix" else _plot)(axes, figure)
            axes.set_title(model, fontsize=8.5, loc="left", pad=4, color=INK)
            axes.set_xlabel(figure["across"], labelpad=1)
            if not place:
                axes.set_ylabel(figure["up"], labelpad=2)
            _bare(axes)
        _save(page, path)


def _plot(axes: Axes, figure: Mapping[str, Any]) -> None:
    along, upward = axes_of(figure)
    several = series_of(figure)
    for number, one in enumerate(several):
        aside = 0.16 * (number - (len(several) - 1) / 2) if figure["kind"] == "bars" else 0.0
        x, y, low, high = (np.array([point[end] for point in one.points]) for end in range(4))
        if figure["kind"] == "bars":
            axes.bar(x + aside, y, width=0.14, color=one.colour, label=one.name)
            axes.vlines(x + aside, low, high, color=INK, lw=0.8)
            continue
        axes.vlines(x, low, high, color=one.colour, lw=0.8)
        line = "-" if figure["kind"] == "lines" else ""
        axes.plot(x, y, line, marker="o", ms=2.8, lw=1.4, color=one.colour, label=one.name)
    if figure["level"] is not None:
        axes.axhline(figure["level"], color=BASELINE_ORANGE, lw=1, ls="--", label=figure["level_name"] or None)
    if figure["names"]:
        axes.set_xticks(range(len(figure["names"])), [str(one) for one in figure["names"]], fontsize=6.5)
    axes.set_xlim(along.low, along.high)
    axes.set_ylim(upward.low, upward.high)
    axes.grid(axis="y", color=LINE, lw=0.5)
    axes.set_axisbelow(True)
    if len(several) > 1 or figure["level_name"]:
        axes.legend(loc="upper left", bbox_to_anchor=(-0.02, -0.2), frameon=False, fontsize=7, ncols=2)


def _matrix(axes: Axes, figure: Mapping[str, Any]) -> None:
    cells = np.array([[np.nan if value is None else value for value in row] for row in figure["matrix"]])
    axes.pcolormesh(cells, cmap=RAMP, edgecolors="white", linewidth=0.6)
    axes.set_xticks(np.arange(cells.shape[1]) + 0.5, column_names(figure), fontsize=6.5)
    axes.set_yticks(np.arange(len(cells)) + 0.5, row_names(figure), fontsize=6.5)
    axes.invert_yaxis()
