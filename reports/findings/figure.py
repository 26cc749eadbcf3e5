"""Figures of findings for Markdown and print, one panel a model."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from textwrap import fill
from typing import Any, Self

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from reports.drawing.figures import BASELINE_ORANGE, INK, LINE, RAMP, _axes, _bare, _save, _styled
from reports.findings.charts import axes_of, column_names, row_names, series_of

WIDTH, HEIGHT, GAP = 2.7, 1.75, 0.75
"Of a panel and between panels, in inches."

LETTER, ROW, UPRIGHT = 0.05, 0.11, 24
"Width of a letter of a label and height of its line, in inches; letters of a line that stands upright."

TITLE_LETTER, TITLE_ROW = 0.08, 0.19
"The same of the title."


@dataclass(frozen=True)
class Labels:
    """The names below a panel, so written that none lies over another."""

    names: Sequence[str]
    turned: bool = False
    "Whether they stand upright."

    @classmethod
    def of(cls, names: Sequence[object]) -> Self:
        """Return names as they are where there is room, else in up to three lines, else upright."""
        plain = [str(name) for name in names]
        letters = int(WIDTH / max(len(plain), 1) / LETTER)
        if all(len(name) <= letters for name in plain):
            return cls(plain)
        lines = [fill(name, max(letters, 1), break_long_words=False) for name in plain]
        if all(name.count("\n") < 3 and max(map(len, name.split("\n"))) <= letters for name in lines):
            return cls(lines)
        return cls([fill(name, UPRIGHT) for name in plain], turned=True)

    @property
    def room(self) -> float:
        """What they take up below a single line, in inches."""
        lines = [name.split("\n") for name in self.names] or [[""]]
        if self.turned:
            return LETTER * max(len(line) for name in lines for line in name)
        return ROW * (max(map(len, lines)) - 1)

    def put(self, axes: Axes, places: Sequence[float]) -> None:
        """Write them below a panel."""
        axes.set_xticks(places, self.names, fontsize=6.5, rotation=90 if self.turned else 0)


def _labels(figure: Mapping[str, Any]) -> Labels:
    return Labels.of(column_names(figure) if figure["kind"] == "matrix" else figure["names"] or ())


def save_finding_figure(panels: Sequence[tuple[str, Mapping[str, Any]]], path: Path) -> None:
    """Write a panel for each pair of model and figure (of the record) to `path`.png and `path`.pdf."""
    title, keys = panels[0][1]["title"], max(len(figure["series"]) for _, figure in panels)
    legend = 0.17 * -(-(keys + 1) // 2) + 0.15
    room = max(_labels(figure).room for _, figure in panels)
    width = len(panels) * (WIDTH + GAP) + 0.25
    title = fill(title, int((width - 0.3) / TITLE_LETTER))
    height = HEIGHT + legend + room + TITLE_ROW * title.count("\n") + 1.0
    with _styled():
        page = Figure(figsize=(width, height))
        page.text(0.15 / width, 1 - 0.1 / height, title, fontsize=10.5, va="top")
        for place, (model, figure) in enumerate(panels):
            axes = _axes(page, 0.6 + place * (WIDTH + GAP), legend + room + 0.38, WIDTH, HEIGHT)
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
        _labels(figure).put(axes, range(len(figure["names"])))
    axes.set_xlim(along.low, along.high)
    axes.set_ylim(upward.low, upward.high)
    axes.grid(axis="y", color=LINE, lw=0.5)
    axes.set_axisbelow(True)
    if len(several) > 1 or figure["level_name"]:
        axes.legend(
            loc="upper left",
            bbox_to_anchor=(-0.02, -0.2 - _labels(figure).room / HEIGHT),
            frameon=False,
            fontsize=7,
            ncols=2,
        )


def _matrix(axes: Axes, figure: Mapping[str, Any]) -> None:
    cells = np.array([[np.nan if value is None else value for value in row] for row in figure["matrix"]])
    axes.pcolormesh(cells, cmap=RAMP, edgecolors="white", linewidth=0.6)
    _labels(figure).put(axes, [place + 0.5 for place in range(cells.shape[1])])
    axes.set_yticks(np.arange(len(cells)) + 0.5, row_names(figure), fontsize=6.5)
    axes.invert_yaxis()
