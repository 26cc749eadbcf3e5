"""The chart of an atlas as a figure for Markdown and print."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
from matplotlib.figure import Figure

from reports.atlas.charts import DrawnHead
from reports.drawing.charts import series_styles
from reports.drawing.figures import LINE, MUTED, _axes, _bare, _save, _styled, shortened

ROW, LETTERS, WIDTH = 0.12, 44, 4.2
"Height of a head in inches, letters of the name of a label, width of the axes in inches."


def save_recall(drawn: Sequence[DrawnHead], title: str, path: Path) -> None:
    """Write recall and strongest baseline of every head, a colour a model and corpus, to `path`.png and `path`.pdf."""
    rows, styles = [*dict.fromkeys(one.row for one in drawn)], series_styles(one.series for one in drawn)
    labels = [shortened(row, LETTERS) for row in rows]
    step = 1 + max(sum(one.row == row for one in drawn) for row in rows)
    left, height, below = 0.25 + 0.066 * max(map(len, labels)), ROW * step * len(rows), 0.75 + 0.17 * len(styles)
    with _styled():
        figure = Figure(figsize=(left + WIDTH + 0.25, height + below + 0.45))
        axes = _axes(figure, left, below, WIDTH, height)
        places = dict.fromkeys(rows, 0)
        for series, style in styles.items():
            for one in (one for one in drawn if one.series == series):
                y = step * rows.index(one.row) + places[one.row]
                places[one.row] += 1
                recall, baseline = 100 * one.accuracy, 100 * one.baseline_accuracy
                axes.plot(
                    [baseline, recall], [y, y], color=style.colour, lw=1, alpha=0.6, ls=":" if style.dashed else "-"
                )
                axes.plot(baseline, y, "|", color=style.colour, ms=7, mew=1.6, clip_on=False)
                fill = style.colour if one.graded else "white"
                axes.plot(recall, y, "o", color=style.colour, mfc=fill, ms=4.4, mew=1.1, clip_on=False, zorder=3)
            axes.plot([], [], "o", ls=":" if style.dashed else "-", color=style.colour, ms=4.4, lw=1, label=series)
        axes.set_yticks(step * np.arange(len(rows)) + (step - 2) / 2, labels)
        axes.set(xlim=(0, 100), ylim=(step * len(rows) - 0.5, -0.9), xlabel="recall on the report split, %")
        axes.grid(axis="x", color=LINE, lw=0.5)
        axes.set_axisbelow(True)
        _bare(axes)
        figure.text(0.01, 1 - 0.1 / (height + below + 0.45), title, fontsize=10.5, va="top")
        note = "stroke: strongest baseline; filled: a head with a grade"
        axes.legend(
            title=note, loc="upper left", bbox_to_anchor=(0, -0.38 / height), frameon=False, fontsize=7.5,
            title_fontproperties={"size": 7.5}, labelcolor=MUTED, alignment="left",
        )  # fmt: skip
        _save(figure, path)
