"""The static figure of the weights alone: positional kernels layer by layer, and measures against those on text."""

from __future__ import annotations

from pathlib import Path
from typing import Final

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.colors import to_rgba
from matplotlib.figure import Figure

from reports.drawing.figures import BASELINE_ORANGE, HEAD_BLUE, LINE, MUTED, _axes, _bare, _save, _styled
from reports.formats import decimal
from reports.studies.circuits.section import NAMES, CircuitParts

ACROSS: Final = 4
"Panels in a row."

WIDTH, HEIGHT, BESIDE, BETWEEN, TOP = 1.55, 1.1, 0.5, 0.62, 0.72
"Inches."


def save_circuits(circuits: CircuitParts, about: str, folder: Path) -> list[str]:
    """Write the kernels of every layer, and below them a panel a link, to circuits.png and circuits.pdf in `folder`.

    Returns that name.
    """
    kernels, heads, links = (circuits.tables[name] for name in ("circuit_kernels", "circuits", "circuit_links"))
    links = links[links["relation"] == ""]
    layers = int(heads["layer"].max()) + 1
    above, below = (-(-panels // ACROSS) for panels in (layers, len(links)))
    width = BESIDE + ACROSS * (WIDTH + BESIDE)
    height = TOP + (above + below) * (HEIGHT + BETWEEN) + 0.1
    with _styled():
        figure = Figure(figsize=(width, height))
        figure.text(0.01, 1 - 0.1 / height, f"{about}: circuits from the weights alone", fontsize=10.5, va="top")
        text = "Upper rows: attention to each offset by position embeddings alone, a line a head; of the head with the "
        figure.text(
            0.01, 1 - 0.33 / height, text + "highest peak, text too (orange).", fontsize=7.5, color=MUTED, va="top"
        )
        for layer in range(layers):
            axes = _panel(figure, layer // ACROSS, layer % ACROSS, height)
            _draw_kernels(axes, kernels[kernels["layer"] == layer], layer)
        for number, link in enumerate(links.to_dict("records")):
            axes = _panel(figure, above + number // ACROSS, number % ACROSS, height)
            _draw_link(axes, heads, str(link["weights"]), str(link["text"]), float(link["rho"]))
        _save(figure, folder / "circuits")
    return ["circuits"]


def _panel(figure: Figure, row: int, column: int, height: float) -> Axes:
    left = BESIDE + column * (WIDTH + BESIDE)
    axes = _axes(figure, left, height - TOP - (row + 1) * HEIGHT - row * BETWEEN, WIDTH, HEIGHT)
    axes.tick_params(labelsize=6)
    return axes


def _draw_kernels(axes: Axes, rows: pd.DataFrame, layer: int) -> None:
    """Draw the kernels of one layer; the head with the highest is named and drawn with its attention on text."""
    top = str(rows["name"].iloc[int(rows["attention"].argmax())])
    for name, of_head in rows.groupby("name"):
        colour, line = (HEAD_BLUE, 1.6) if name == top else (LINE, 0.8)
        axes.plot(of_head["offset"], 100 * of_head["attention"], color=colour, lw=line, zorder=3 if name == top else 2)
    best = rows[rows["name"] == top]
    axes.plot(best["offset"], 100 * best["text_attention"], color=BASELINE_ORANGE, lw=1.2, zorder=4)
    axes.set_title(f"layer {layer + 1}: head {top}", fontsize=7.5, loc="left", pad=3)
    axes.set(ylim=(0, 100), yticks=[0, 50, 100])
    axes.set_xlabel("offset, pieces" if layer == 0 else "", fontsize=6.5, labelpad=1)
    axes.set_ylabel("% of attention" if layer == 0 else "", fontsize=6.5, labelpad=1)
    axes.grid(axis="y", color=LINE, lw=0.4)
    axes.set_axisbelow(True)
    _bare(axes)


def _draw_link(axes: Axes, heads: pd.DataFrame, weights: str, text: str, rho: float) -> None:
    """Draw a measure of the weights alone against one on text, a dot a head, darker in higher layers."""
    shade = 0.25 + 0.75 * heads["layer"] / max(int(heads["layer"].max()), 1)
    colours = [to_rgba(HEAD_BLUE, alpha) for alpha in shade.tolist()]
    axes.scatter(heads[weights], heads[text], s=8, c=colours, linewidths=0)
    axes.set_title(f"rho {decimal(rho)}", fontsize=7.5, loc="left", pad=3)
    axes.set_xlabel(NAMES[weights], fontsize=6.5, labelpad=1)
    axes.set_ylabel(NAMES[text], fontsize=6.5, labelpad=1)
    axes.grid(color=LINE, lw=0.4)
    axes.set_axisbelow(True)
    _bare(axes)
