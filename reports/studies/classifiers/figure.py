"""The static figure of classifiers: the best head of every task beside its controls, and what each layer adds."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import cycle
from pathlib import Path

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from reports.drawing.charts import COLOURS
from reports.drawing.figures import BASELINE_ORANGE, HEAD_BLUE, LINE, MUTED, _axes, _bare, _save, _styled
from reports.studies.classifiers.pairs import Row
from reports.studies.classifiers.section import Classifiers

ROW, WIDTH, TALL, TOP, BETWEEN, BOTTOM = 0.24, 4.2, 2.2, 0.62, 0.85, 0.5
"Inches."


def save_classifiers(classifiers: Classifiers, about: str, folder: Path) -> list[str]:
    """Save what there is of tasks, parsers and layers below each other, as PNG and PDF; return the figure's name."""
    if not classifiers.drawn:
        return []
    panels = [(ROW * len(rows), rows) for rows in (_tasks(classifiers.best), _parsers(classifiers.parsers)) if rows]
    height = TOP + sum(tall + BETWEEN for tall, _ in panels) + (TALL if classifiers.layers else 0) + BOTTOM
    left = 2.2
    with _styled():
        figure = Figure(figsize=(left + WIDTH + 1.6, height))
        figure.text(0.01, 1 - 0.1 / height, f"{about}: trained classifiers of its heads", fontsize=10.5, va="top")
        above = height - TOP
        for tall, rows in panels:
            _draw_rows(_axes(figure, left, above - tall, WIDTH, tall), rows)
            above -= tall + BETWEEN
        if classifiers.layers:
            _draw_layers(_axes(figure, left, above - TALL, WIDTH, TALL), classifiers)
        _save(figure, folder / "classifiers")
    return ["classifiers"]


Marks = dict[str, float]


def _tasks(rows: Sequence[Row]) -> list[tuple[str, Row, Marks]]:
    """Return name, row and further marks of every task."""
    marks = {"control task": "control_accuracy", "embedding": "embedding_accuracy", "random weights": "random_accuracy"}
    return [
        (f"{row['task']}  {row['name']}", row, {name: row[column] for name, column in marks.items()}) for row in rows
    ]


def _parsers(rows: Sequence[Row]) -> list[tuple[str, Row, Marks]]:
    return [
        (
            f"{row['parser']}{', random weights' if row['weights'] == 'random' else ''}",
            {**row, "accuracy": row["uas"]},
            {"control task": row["control_uas"]},
        )
        for row in rows
    ]


def _draw_rows(axes: Axes, rows: Sequence[tuple[str, Row, Marks]]) -> None:
    y = np.arange(len(rows))
    values = {name: [100 * row[name] for _, row, _ in rows] for name in ("accuracy", "ci_low", "ci_high")}
    styles = {
        "control task": ("|", BASELINE_ORANGE, 9),
        "embedding": ("D", MUTED, 4.2),
        "random weights": ("x", MUTED, 5),
    }
    axes.hlines(y, values["ci_low"], values["ci_high"], color=HEAD_BLUE, lw=1.6, zorder=3)
    axes.plot(values["accuracy"], y, "o", color=HEAD_BLUE, ms=5, zorder=4, label="accuracy or UAS, 95 % interval")
    for name in rows[0][2]:
        marker, colour, size = styles[name]
        given = [100 * marks[name] for _, _, marks in rows]
        axes.plot(given, y, marker, color=colour, ms=size, mew=1.5, mfc="none", label=name)
    axes.set_yticks(y, [name for name, _, _ in rows])
    axes.set(xlim=(0, 100), ylim=(len(rows) - 0.4, -0.6), xlabel="% of the report split")
    axes.grid(axis="x", color=LINE, lw=0.5)
    axes.set_axisbelow(True)
    _bare(axes)
    axes.legend(ncols=4, loc="lower left", bbox_to_anchor=(-0.3, 1.0), frameon=False, fontsize=7.5)


def _draw_layers(axes: Axes, found: Classifiers) -> None:
    for (task, values), colour in zip(found.layers.items(), cycle(COLOURS)):
        axes.plot(np.arange(len(values)), 100 * np.array(values), "o-", color=colour, ms=3, lw=1.2, label=task)
    most = max(map(len, found.layers.values()))
    axes.set(xlim=(0, most - 1), ylim=(0, 100), xlabel="layers 0 (embedding) to", ylabel="accuracy, %")
    axes.set_xticks(range(most))
    axes.grid(axis="y", color=LINE, lw=0.5)
    _bare(axes)
    axes.legend(loc="upper left", bbox_to_anchor=(1.01, 1.0), frameon=False, fontsize=7.5)
