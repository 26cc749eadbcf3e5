"""The static figure of activation patching: heads by layer, and the strongest heads by role of the place."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Final

import numpy as np
import numpy.typing as npt
from matplotlib.axes import Axes
from matplotlib.colors import LinearSegmentedColormap
from matplotlib.figure import Figure

from reports.drawing.figures import BASELINE_ORANGE, HEAD_BLUE, INK, MUTED, _axes, _bare, _save, _styled
from reports.formats import whole_percent
from reports.studies.patching.section import Patched

RAMP: Final = LinearSegmentedColormap.from_list("restored", [BASELINE_ORANGE, "#f3f6f9", HEAD_BLUE])
"Taken away, nothing, restored."

CELL, LEFT, BETWEEN, TOP, BOTTOM = 0.34, 0.55, 0.85, 0.85, 0.75
"Inches."


def save_patching(patched: Patched, about: str, folder: Path) -> list[str]:
    """Write both panels to patching.png and patching.pdf in `folder`; returns that name."""
    shares, roles = patched.shares, patched.roles
    by_role = np.array([head.by_role for head in patched.strongest]).reshape(len(patched.strongest), len(roles))
    (layers, heads), rows = shares.shape, max(len(by_role), 1)
    width = max(LEFT + heads * CELL + BETWEEN + len(roles) * 2 * CELL + 0.3, 6.2)
    height = TOP + max(layers, rows) * CELL + BOTTOM
    with _styled():
        figure = Figure(figsize=(width, height))
        figure.text(0.01, 1 - 0.1 / height, f"{about}: activation patching of the answer", fontsize=10.5, va="top")
        text = "Percent of the difference between clean and corrupted answer. Blue: restored; orange: reduced."
        figure.text(0.01, 1 - 0.33 / height, text, fontsize=7.5, color=MUTED, va="top")
        axes = _axes(figure, LEFT, height - TOP - layers * CELL, heads * CELL, layers * CELL)
        _draw(axes, shares, [str(i + 1) for i in range(heads)], [str(i + 1) for i in range(layers)])
        axes.set(xlabel="head", ylabel="layer")
        if patched.strongest:
            left = LEFT + heads * CELL + BETWEEN
            beside = _axes(figure, left, height - TOP - rows * CELL, len(roles) * 2 * CELL, rows * CELL)
            _draw(beside, by_role, roles, [str(head.row["name"]) for head in patched.strongest])
            beside.tick_params(axis="x", labelrotation=30)
            beside.set_title("patched at these places alone", fontsize=7.5, loc="left", pad=3)
        _save(figure, folder / "patching")
    return ["patching"]


def _draw(axes: Axes, shares: npt.NDArray[np.float64], columns: Sequence[str], rows: Sequence[str]) -> None:
    """Draw a heat map of its own scale, with numbers; what is not known stays blank."""
    known = np.abs(shares[~np.isnan(shares)])
    most = float(known.max()) if known.size and known.max() > 0 else 1.0
    axes.pcolormesh(np.ma.masked_invalid(shares), cmap=RAMP, vmin=-most, vmax=most, edgecolors="white", linewidth=0.6)
    axes.set_xticks(np.arange(len(columns)) + 0.5, columns, fontsize=6.5)
    axes.set_yticks(np.arange(len(rows)) + 0.5, rows, fontsize=6.5)
    axes.invert_yaxis()
    _bare(axes)
    for (row, column), share in np.ndenumerate(shares):
        if not np.isnan(share):
            colour = "white" if abs(share) > 0.7 * most else INK
            axes.text(
                column + 0.5, row + 0.53, whole_percent(share), ha="center", va="center", fontsize=6, color=colour
            )
