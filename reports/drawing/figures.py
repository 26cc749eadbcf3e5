"""What static figures of sections share: style, colours, axes, and how they are written as PNG and PDF."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final

import matplotlib
import numpy as np
from matplotlib.axes import Axes
from matplotlib.colors import LinearSegmentedColormap
from matplotlib.figure import Figure

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
