"""The static figures of relations between heads: the plane with the matrix of distances, and the ensembles."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from reports.drawing.figures import (
    BASELINE_ORANGE,
    HEAD_BLUE,
    INK,
    LINE,
    MUTED,
    RAMP,
    _axes,
    _bare,
    _save,
    _styled,
    shortened,
)
from reports.studies.headset.charts import WEIGHTS, apart, layer_colours, overlaps
from reports.studies.headset.section import COMPARED, Ensemble, HeadsTogether

MOST = 20
"Relations of the figure of ensembles."


def save_headset(headset: HeadsTogether, about: str, folder: Path) -> list[str]:
    """Write the figures that there are numbers for to `folder`; return their names without suffix."""
    saved, title = [], f"{about}: relations between heads"
    with _styled():
        if not headset.places.empty:
            _save(_plane(headset, title), folder / "heads-together")
            saved.append("heads-together")
        if headset.ensembles:
            _save(_ensembles(headset.ensembles[:MOST], title), folder / "ensembles")
            saved.append("ensembles")
    return saved


def _plane(found: HeadsTogether, title: str) -> Figure:
    figure = Figure(figsize=(9.6, 7.0))
    figure.text(0.02, 0.985, title, fontsize=10.5, va="top")
    _draw_places(_axes(figure, 0.25, 2.8, 4.4, 3.7), found.places)
    _draw_matrix(figure, _axes(figure, 5.1, 2.8, 3.7, 3.7), found)
    whats = [what for what in COMPARED if (found.subspaces["what"] == what).any()]
    for place, what in enumerate(whats):
        _draw_overlap(_axes(figure, 0.6 + 3.05 * place, 0.4, 2.6, 1.5), found.subspaces, what, first=not place)
    return figure


def _draw_places(axes: Axes, places: pd.DataFrame) -> None:
    colours = layer_colours(int(places["layer"].max()) + 1)
    for layer, rows in places.groupby("layer"):
        axes.plot(rows["x"], rows["y"], "o", ms=4, color=colours[int(str(layer))], label=f"layer {int(str(layer)) + 1}")
    axes.set_aspect("equal", adjustable="datalim")
    unit = 330 / max(float(np.ptp(places["x"])), 1e-9)
    named = places[places["role"] != ""]
    columns = (named["role"].tolist(), (named["x"] * unit).tolist(), (named["y"] * unit).tolist())
    for role, x, y in apart([*zip(*columns, strict=True)]):
        axes.annotate(role, (x / unit, y / unit), (4, -2), textcoords="offset points", fontsize=6.5, color=INK)
    axes.set_title("Heads on a plane, by the distance of their maps", fontsize=8.5, loc="left", pad=4)
    axes.legend(ncols=6, fontsize=6.5, frameon=False, loc="upper left", bbox_to_anchor=(-0.02, 0), handletextpad=0.1)
    axes.set(xticks=[], yticks=[])
    _bare(axes)


def _draw_matrix(figure: Figure, axes: Axes, found: HeadsTogether) -> None:
    heads = len(found.places)
    matrix = np.full((heads, heads), np.nan)
    matrix[np.triu_indices(heads, 1)] = found.distances["distance"]
    matrix = np.fmax(matrix, matrix.T)
    drawn = axes.pcolormesh(matrix, cmap=RAMP.reversed())
    drawn.set_rasterized(True)
    first = np.flatnonzero(found.places["head"] == 0)
    axes.set_xticks(first, [str(layer + 1) for layer in range(len(first))], fontsize=7, ha="left")
    axes.set_yticks(first, [str(layer + 1) for layer in range(len(first))], fontsize=7, va="top")
    axes.hlines(first[1:], 0, heads, color="white", lw=0.6)
    axes.vlines(first[1:], 0, heads, color="white", lw=0.6)
    axes.set(xlabel="layer", ylabel="layer", aspect="equal")
    axes.invert_yaxis()
    axes.set_title("Distance of maps, nats: dark is near", fontsize=8.5, loc="left", pad=4)
    _bare(axes)
    bar = figure.colorbar(drawn, cax=_axes(figure, 8.95, 2.95, 0.1, 3.4))
    bar.outline.set_visible(False)


def _draw_overlap(axes: Axes, subspaces: pd.DataFrame, what: str, *, first: bool) -> None:
    counted = overlaps(subspaces, what)
    colours = {"own": HEAD_BLUE, "random": BASELINE_ORANGE}
    for weights, shares in counted.shares.items():
        axes.stairs(shares, counted.edges, color=colours[weights], lw=1.4, label=WEIGHTS[weights][0])
    axes.set_title(COMPARED[what], fontsize=8.5, loc="left", pad=4)
    axes.set_ylabel("% of pairs" if first else "", color=MUTED)
    axes.grid(axis="y", color=LINE, lw=0.5)
    _bare(axes)
    if first:
        axes.legend(frameon=False, fontsize=7)


def _ensembles(rows: Sequence[Ensemble], title: str) -> Figure:
    names = [f"{shortened(one.label)} · {shortened(one.variant)}  {one.best.heads}" for one in rows]
    left, width, height = 0.2 + 0.064 * max(map(len, names)), 4.2, 0.24 * len(rows)
    figure = Figure(figsize=(left + width + 0.25, height + 1.15))
    axes = _axes(figure, left, 0.48, width, height)
    y = np.arange(len(rows))
    for place, one in enumerate(rows):
        axes.hlines(place, 100 * one.steps[0].accuracy, 100 * one.best.accuracy, color=HEAD_BLUE, lw=1.4)
    single = [100 * one.steps[0].accuracy for one in rows]
    axes.plot(single, y, "o", color=HEAD_BLUE, mfc="white", ms=5, mew=1.2, label="best head alone", zorder=3)
    together = [100 * one.best.accuracy for one in rows]
    axes.plot(together, y, "o", color=HEAD_BLUE, ms=5, label="selected ensemble", zorder=4)
    baseline = [100 * one.baseline_accuracy for one in rows]
    axes.plot(baseline, y, "|", color=BASELINE_ORANGE, ms=9, mew=2, label="strongest baseline or control")
    axes.set_yticks(y, names)
    axes.set(xlim=(0, 100), ylim=(len(rows) - 0.4, -0.6), xlabel="accuracy on the report split, %")
    axes.grid(axis="x", color=LINE, lw=0.5)
    axes.set_axisbelow(True)
    _bare(axes)
    figure.text(0.01, 1 - 0.1 / (height + 1.15), title, fontsize=10.5, va="top")
    edge = ((0.02 - left) / width, 1.0)  # of the figure: its entries are wider than the axes
    axes.legend(ncols=3, loc="lower left", bbox_to_anchor=edge, frameon=False, fontsize=7.5, handletextpad=0.3)
    return figure
