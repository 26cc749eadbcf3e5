"""Static figures of claims for Markdown and print, in the style of the report's."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from textwrap import fill

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from reports.claims.charts import along_axis, places_of, ticks, value_axis
from reports.claims.record import RecordedMeasure, drawn_factor
from reports.drawing.charts import series_styles
from reports.drawing.figures import HEAD_BLUE, INK, LINE, MUTED, _axes, _bare, _save, _styled
from reports.formats import minus

WIDTH, HEIGHT, ROW = 3.1, 1.75, 0.3
"Of a panel and of a row, in inches."

TITLE = 52
"Letters of a panel's title in a line."


def save_claim_figure(measures: Sequence[RecordedMeasure], title: str, path: Path) -> None:
    """Write one panel a measure, two beside each other, to `path`.png and `path`.pdf."""
    shown = [one for one in measures if one.cells]
    pairs = [shown[at : at + 2] for at in range(0, len(shown), 2)]
    heights = [max(_height(one) for one in pair) for pair in pairs]
    page = 0.35 + sum(height + 0.55 for height in heights)
    across = 2 * (WIDTH + 0.75)
    with _styled():
        figure = Figure(figsize=(across, page))
        figure.text(0.02, 1 - 0.1 / page, title, fontsize=10.5, va="top")
        top = page - 0.35
        for pair, height in zip(pairs, heights, strict=True):
            for place, one in enumerate(pair):
                own = _height(one)
                left = 0.6 + place * (WIDTH + 0.75)
                axes = _axes(figure, left, top - 0.22 - _plot_height(one), WIDTH, _plot_height(one))
                assert own <= height
                (_lines if one.axis else _rows)(axes, one)
            top -= height + 0.55
        _save(figure, path)


def _plot_height(measure: RecordedMeasure) -> float:
    return HEIGHT if measure.axis else ROW * len(measure.cells) + 0.15


def _height(measure: RecordedMeasure) -> float:
    """Return the height of a panel with the legend below it."""
    legend = 0.16 * -(-len(measure.conditions) // 2) + 0.15 if measure.axis else 0
    return _plot_height(measure) + 0.3 + legend


def _scaled(axes: Axes, measure: RecordedMeasure, *, upward: bool) -> None:
    """Give the axis of values its range, its scale and its marks."""
    axis = value_axis(measure)
    marks = axis.marks()
    labels = [_marked(mark) for mark in marks]
    if upward:
        axes.set_yscale("log" if axis.log else "linear")
        axes.set_ylim(axis.low, axis.high)
        axes.set_yticks(marks, labels)
        axes.set_yticks([], minor=True)
    else:
        axes.set_xscale("log" if axis.log else "linear")
        axes.set_xlim(axis.low, axis.high)
        axes.set_xticks(marks, labels)
        axes.set_xticks([], minor=True)
    axes.grid(axis="y" if upward else "x", color=LINE, lw=0.5)
    axes.set_axisbelow(True)
    axes.set_title(fill(measure.title, TITLE), fontsize=8.5, loc="left", pad=4, color=INK)
    _bare(axes)


def _lines(axes: Axes, measure: RecordedMeasure) -> None:
    places, along = places_of(measure)
    for condition, look in series_styles(measure.conditions).items():
        cells = [cell for cell in measure.cells if cell.condition == condition and cell.at is not None]
        at = [float(cell.at or 0) for cell in cells]
        value, low, high = np.array([cell.number.drawn for cell in cells]).T
        if len(cells) == 1:
            axes.vlines(at, low, high, color=look.colour, lw=1.2)
        axes.fill_between(at, low, high, color=look.colour, alpha=0.13, lw=0)
        line = "--" if look.dashed else "-"
        axes.plot(at, value, line, marker="o", ms=2.8, lw=1.4, color=look.colour, label=condition)
    axes.set_xscale("log" if along.log else "linear")
    axes.set_xlim(along.low, along.high)
    named = ticks(places, along)
    axes.set_xticks(named, [*map(along_axis, named)], fontsize=7)
    axes.set_xticks([], minor=True)
    axes.set_xlabel(measure.axis, labelpad=1)
    _scaled(axes, measure, upward=True)
    axes.legend(loc="upper left", bbox_to_anchor=(-0.02, -0.2), frameon=False, fontsize=7, labelspacing=0.25, ncols=2)


def _rows(axes: Axes, measure: RecordedMeasure) -> None:
    for place, cell in enumerate(measure.cells):
        singles = drawn_factor(measure.unit) * np.array(measure.repeats(cell.condition, cell.at))
        axes.plot(singles, [place] * len(singles), "o", ms=2.6, mec="none", color=MUTED, alpha=0.45)
        value, low, high = cell.number.drawn
        axes.hlines(place, low, high, color=HEAD_BLUE, lw=1.4)
        axes.plot([value], [place], "o", ms=4, color=HEAD_BLUE, clip_on=False)
        where = axes.get_yaxis_transform()
        axes.text(0.005, place - 0.27, cell.condition, fontsize=7, color=INK, va="center", transform=where)
    axes.set_yticks([])
    axes.set_ylim(len(measure.cells) - 0.6, -0.6)
    _scaled(axes, measure, upward=False)


def _marked(value: float) -> str:
    """Write a round number on an axis."""
    return minus(f"{value:,.0f}" if abs(value) >= 1000 and value == round(value) else f"{value:.4g}")
