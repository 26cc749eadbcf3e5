"""Numbers of a run on axes of Matplotlib that the caller owns, for figures of several panels."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
from matplotlib.colors import LinearSegmentedColormap

from reports.drawing.charts import BASELINE_ORANGE, HEAD_BLUE, RAMP_COLOURS


def plot_heads(rows: pd.DataFrame, title: str, axes: Any) -> Any:
    """Draw the accuracy of every head, layers as rows: the selected head framed, heads with a grade dotted."""
    table = rows.pivot(index="row", columns="column", values="accuracy")
    ramp = LinearSegmentedColormap.from_list("headscope", RAMP_COLOURS)
    axes.imshow(table.to_numpy(), cmap=ramp, vmin=0, vmax=1)
    axes.set_xticks(range(table.shape[1]), table.columns)
    axes.set_yticks(range(table.shape[0]), table.index)
    for row in rows.to_dict("records"):
        x, y = row["column"] - 1, row["row"] - 1
        if row["grade"] > 0:
            axes.plot(x, y, "o", markersize=3, color="white" if row["accuracy"] > 0.55 else "black")
        if row["selected"]:
            axes.plot(x, y, "s", markersize=14, fillstyle="none", color=BASELINE_ORANGE)
    axes.set(xlabel="head", ylabel="layer", title=title)
    return axes


def plot_best(rows: pd.DataFrame, title: str, axes: Any) -> Any:
    """Draw best heads with their 95 % intervals, and the strongest baselines as bars."""
    places = np.arange(len(rows))[::-1]
    reach = np.array([rows["accuracy"] - rows["ci_low"], rows["ci_high"] - rows["accuracy"]])
    axes.errorbar(rows["accuracy"], places, xerr=reach, fmt="o", color=HEAD_BLUE)
    axes.plot(rows["strongest_accuracy"], places, "|", markersize=11, markeredgewidth=2.5, color=BASELINE_ORANGE)
    axes.set_yticks(places, rows["role"])
    axes.set(xlabel="accuracy on the report split", xlim=(0, 1), title=title)
    return axes
