"""The static figure of what the model does: accuracy on minimal pairs with intervals, and the line of chance."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from reports.drawing.figures import BASELINE_ORANGE, HEAD_BLUE, LINE, _axes, _bare, _save, _styled, shortened
from reports.studies.behaviour.section import CHANCE, Preference

ROW, WIDTH, TOP, BETWEEN, BOTTOM = 0.21, 4.2, 0.62, 0.34, 0.5
"Inches."


def save_behaviour(parts: Sequence[tuple[str, Sequence[Preference]]], title: str, path: Path) -> None:
    """Write one panel a corpus, below each other, to `path`.png and `path`.pdf."""
    left = 0.3 + 0.064 * max(len(shortened(row.name)) for _, rows in parts for row in rows)
    height = TOP + sum(ROW * len(rows) for _, rows in parts) + BETWEEN * (len(parts) - 1) + BOTTOM
    with _styled():
        figure = Figure(figsize=(left + WIDTH + 0.25, height))
        figure.text(0.01, 1 - 0.1 / height, title, fontsize=10.5, va="top")
        above = height - TOP
        for corpus, rows in parts:
            axes = _axes(figure, left, above - ROW * len(rows), WIDTH, ROW * len(rows))
            _draw(axes, corpus, rows)
            above -= ROW * len(rows) + BETWEEN
        for axes in figure.axes[:-1]:
            axes.tick_params(labelbottom=False)
        figure.axes[-1].set_xlabel("correct sentence preferred, % of pairs")
        figure.axes[0].legend(ncols=2, loc="lower right", bbox_to_anchor=(1.02, 0.98), frameon=False, fontsize=7.5)
        _save(figure, path)


def _draw(axes: Axes, corpus: str, rows: Sequence[Preference]) -> None:
    y = np.arange(len(rows))
    accuracy, low, high = (
        100 * np.array([getattr(row, name) for row in rows]) for name in ("accuracy", "ci_low", "ci_high")
    )
    axes.axvline(100 * CHANCE, color=BASELINE_ORANGE, lw=1.4, ls=(0, (4, 2)), label="chance")
    axes.hlines(y, low, high, color=HEAD_BLUE, lw=1.6, zorder=3)
    axes.plot(accuracy, y, "o", color=HEAD_BLUE, ms=5, zorder=4, clip_on=False, label="accuracy, 95 % interval")
    axes.set_yticks(y, [shortened(row.name) for row in rows])
    axes.set(xlim=(0, 100), ylim=(len(rows) - 0.4, -0.6))
    axes.set_title(corpus, fontsize=8.5, loc="left", pad=4)
    axes.grid(axis="x", color=LINE, lw=0.5)
    axes.set_axisbelow(True)
    _bare(axes)
