"""Static figures for Markdown and print: heat maps and best heads, as PNG and PDF."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final

import matplotlib
import numpy as np
from matplotlib.axes import Axes
from matplotlib.colors import LinearSegmentedColormap
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle

from reports.scores.best_heads import BestHead

INK, MUTED, LINE = "#1a1d21", "#59626d", "#d5dae0"
HEAD_BLUE, BASELINE_ORANGE = "#0072b2", "#d55e00"
"Okabe and Ito's blue and vermilion, which stay apart for every kind of colour vision."
RAMP_COLOURS: Final = ("#f3f6f9", "#a9cbe6", "#4a90c9", "#0f4f8f", "#06264d")
"Light to dark in one hue, so that it survives grey print."
RAMP: Final = LinearSegmentedColormap.from_list("headscope", RAMP_COLOURS)
_STYLE: Final[dict[Any, Any]] = {
    "font.size": 8,
    "font.family": "sans-serif",
    "axes.edgecolor": LINE,
    "axes.labelcolor": MUTED,
    "text.color": INK,
    "xtick.color": MUTED,
    "ytick.color": INK,
    "pdf.fonttype": 42,
    "svg.hashsalt": "headscope",
    "text.parse_math": False,
}


def save_heat_maps(maps: Sequence[dict[str, Any]], layers: int, heads: int, title: str, path: Path) -> None:
    """Write one panel a map (entries of `heat_map_data`), two beside each other, to `path`.png and `path`.pdf."""
    _save(draw_heat_maps(maps, layers, heads, title), path)


def draw_heat_maps(maps: Sequence[dict[str, Any]], layers: int, heads: int, title: str) -> Figure:
    """Draw one panel a map (entries of `heat_map_data`), two beside each other."""
    columns = min(2, len(maps))
    rows = -(-len(maps) // columns)
    numbers = layers * heads <= 200  # more would be too small to read, and slow to draw
    cell = 0.30 if numbers else 0.2
    width, height = heads * cell, layers * cell
    page_width, page_height = columns * (width + 0.55) + 0.75, rows * (height + 0.72) + 0.42
    with _styled():
        figure = Figure(figsize=(page_width, page_height))
        figure.text(0.4 / page_width, 1 - 0.12 / page_height, title, fontsize=10.5, va="top")
        for i, one in enumerate(maps):
            left = 0.4 + (i % columns) * (width + 0.55)
            bottom = page_height - 0.68 - height - (i // columns) * (height + 0.72)
            axes = _axes(figure, left, bottom, width, height)
            _heat_map(axes, one, layers, heads, numbers=numbers)
        bar = _axes(figure, page_width - 0.66, page_height - 0.68 - height, 0.1, height)
        bar.pcolormesh(np.linspace(0, 100, 101)[:, None], cmap=RAMP)
        bar.yaxis.tick_right()
        bar.set(xticks=[], yticks=[0, 50, 100], yticklabels=["0", "50", "100 %"])
        _bare(bar)
        if any(any(one["grade"]) for one in maps):
            text = "framed: the selected head; dotted: heads with a grade"
            figure.text(0.4 / page_width, 0.08 / page_height, text, fontsize=7.5, color=MUTED)
    return figure


def _heat_map(axes: Axes, one: dict[str, Any], layers: int, heads: int, *, numbers: bool) -> None:
    """Draw one map with layers as rows and heads as columns, the chosen head framed and heads with a grade dotted."""
    accuracy = np.array([np.nan if v is None else v / 10 for v in one["accuracy"]]).reshape(layers, heads)
    axes.pcolormesh(accuracy, cmap=RAMP, vmin=0, vmax=100, edgecolors="white", linewidth=0.6)
    axes.set_title(f"{one['label']} · {one['variant']}", fontsize=8.5, loc="left", pad=4)
    head_axes(axes, layers, heads)
    for (layer, head), value in np.ndenumerate(accuracy):
        if numbers and not np.isnan(value):
            colour = "white" if value > 55 else INK
            axes.text(head + 0.5, layer + 0.53, f"{value:.0f}", ha="center", va="center", fontsize=6, color=colour)
    for layer, head in (divmod(place, heads) for place, grade in enumerate(one["grade"]) if grade):
        colour = "white" if accuracy[layer, head] > 55 else INK
        axes.plot(head + 0.85, layer + 0.16, "o", color=colour, ms=2, mew=0, zorder=4)
    if one["selected"] is not None:
        layer, head = divmod(one["selected"], heads)
        axes.add_patch(
            Rectangle((head, layer), 1, 1, fill=False, edgecolor=BASELINE_ORANGE, lw=1.8, zorder=3, clip_on=False)
        )


def save_best_heads(rows: Sequence[BestHead], title: str, path: Path, *, verdicts: bool = True) -> None:
    """Write accuracy with interval and baselines of every row to `path`.png and `path`.pdf."""
    _save(draw_best_heads(rows, title, verdicts=verdicts), path)


def draw_best_heads(rows: Sequence[BestHead], title: str, *, verdicts: bool = True) -> Figure:
    """Draw accuracy with interval and baselines of every row.

    With `verdicts` the dots of heads with a grade are filled and all others hollow; without, all are filled.
    """
    names = [f"{shortened(row.label)} · {shortened(row.variant)}  {row.name}" for row in rows]
    left, width, height = 0.2 + 0.064 * max(map(len, names)), 4.2, 0.21 * len(rows)
    with _styled():
        figure = Figure(figsize=(left + width + 0.25, height + 1.1))
        axes = _axes(figure, left, 0.48, width, height)
        y = np.arange(len(rows))
        for label, (marker, colour, values, more) in _series(rows, verdicts=verdicts).items():
            if not np.isnan(values).all():
                axes.plot(100 * np.array(values), y, marker, color=colour, label=label, clip_on=False, **more)
        low, high = 100 * np.array([[row.ci_low for row in rows], [row.ci_high for row in rows]])
        axes.hlines(y, low, high, color=HEAD_BLUE, lw=1.6, zorder=3)
        axes.set_yticks(y, names)
        axes.set(xlim=(0, 100), ylim=(len(rows) - 0.4, -0.6), xlabel="accuracy on the report split, %")
        axes.grid(axis="x", color=LINE, lw=0.5)
        axes.set_axisbelow(True)
        _bare(axes)
        figure.text(0.01, 1 - 0.1 / (height + 1.1), title, fontsize=10.5, va="top")
        edge = ((0.02 - left) / width, 1.0)  # of the figure: its entries are wider than the axes
        axes.legend(
            ncols=5, loc="lower left", bbox_to_anchor=edge, frameon=False,
            fontsize=7.5, handletextpad=0.3, columnspacing=1.2,
        )  # fmt: skip
    return figure


def _series(rows: Sequence[BestHead], *, verdicts: bool) -> dict[str, tuple[str, str, list[float], dict[str, Any]]]:
    """Return what a figure of best heads shows: label -> marker, colour, a value a row, options of the marker."""
    filled = [row.accuracy if row.grade or not verdicts else np.nan for row in rows]
    hollow = [np.nan if row.grade or not verdicts else row.accuracy for row in rows]
    dot = {"ms": 5, "zorder": 4}
    return {
        "graded head, 95 % interval" if verdicts else "selected head, 95 % interval": ("o", HEAD_BLUE, filled, dot),
        "no grade": ("o", HEAD_BLUE, hollow, dot | {"mfc": "white", "mew": 1.2}),
        "baseline or control": ("|", BASELINE_ORANGE, [row.baseline_accuracy for row in rows], {"ms": 9, "mew": 2}),
        "lexical table": ("D", MUTED, [row.lexical_accuracy for row in rows], {"ms": 4.2, "mew": 1, "mfc": "none"}),
        "rule of grammar": ("^", MUTED, [row.rule_accuracy for row in rows], {"ms": 4.6, "mew": 1, "mfc": "none"}),
    }


def shortened(text: str, most: int = 28) -> str:
    """Cut a label that would not fit beside a figure."""
    return text if len(text) <= most else f"{text[: most - 1]}…"


def _axes(figure: Figure, left: float, bottom: float, width: float, height: float) -> Axes:
    """Add axes at a place in inches; a layout engine would draw everything several times to find it."""
    across, up = figure.get_size_inches()
    return figure.add_axes((left / across, bottom / up, width / across, height / up))


def head_axes(axes: Axes, layers: int, heads: int) -> None:
    """Make the axes those of a map of all heads: layers are rows from the top, heads columns, both from 1."""
    axes.set_xlabel("head", labelpad=1)
    axes.set_ylabel("layer", labelpad=1)
    axes.set_xticks(np.arange(heads) + 0.5, [str(i + 1) for i in range(heads)], fontsize=7)
    axes.set_yticks(np.arange(layers) + 0.5, [str(i + 1) for i in range(layers)], fontsize=7)
    axes.invert_yaxis()
    _bare(axes)


def _bare(axes: Axes) -> None:
    """Take away ticks and frame."""
    axes.tick_params(length=0)
    axes.spines[:].set_visible(False)


@contextmanager
def _styled() -> Iterator[None]:
    """Draw in the report's style, whatever the user's matplotlibrc says."""
    with matplotlib.rc_context():
        matplotlib.rcdefaults()
        for name, value in _STYLE.items():
            matplotlib.rcParams[name] = value
        yield


def _save(figure: Figure, path: Path) -> None:
    """Write PNG and PDF."""
    for ending in (".png", ".pdf"):
        save_figure(figure, path.with_suffix(ending))


def save_figure(figure: Figure, path: Path) -> None:
    """Write a figure as the ending of `path` says, in our style and without a date: the same numbers, the same file."""
    undated = {
        ".png": {"Software": None},
        ".pdf": {"CreationDate": None, "Creator": "headscope"},
        ".svg": {"Date": None},
    }
    with _styled():
        figure.savefig(path, dpi=170, metadata=undated[path.suffix])
