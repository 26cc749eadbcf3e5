"""Static figures of the sandbox for Markdown and print, in the style of the report's."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np
from matplotlib import colormaps
from matplotlib.axes import Axes
from matplotlib.colors import to_hex
from matplotlib.figure import Figure

from reports.drawing.figures import BASELINE_ORANGE, HEAD_BLUE, INK, LINE, MUTED, RAMP, _axes, _bare, _save, _styled
from reports.formats import count, signed
from reports.progress import Step, each, silent
from reports.sandbox.charts import NOMINAL, margin_places, panel_name, words_by_size
from reports.sandbox.claims import COVERAGE_GOAL, allowed
from reports.sandbox.record import Coverage, FalseFinds, Power, Rate, drawn_rates, sizes

WIDTH, HEIGHT = 2.5, 1.75
"Of a panel, in inches."


def save_figures(
    power: Sequence[Power],
    nulls: Sequence[FalseFinds],
    coverage: Sequence[Coverage],
    level: float,
    threshold: float,
    folder: Path,
    step: Step = silent,
) -> list[str]:
    """Save what can be drawn to `folder`; return the names of the files without suffix."""
    folder.mkdir(parents=True, exist_ok=True)
    drawings: dict[str, Callable[[], Figure]] = {}
    if power:
        drawings["power"] = lambda: _power_figure(power, threshold)
    if nulls:
        drawings["false-positives"] = lambda: _false_figure(nulls, level)
    if coverage:
        drawings["coverage"] = lambda: _coverage_figure(coverage)
    with _styled():
        for name, draw in each("page: figures", tuple(drawings.items()), step):
            _save(draw(), folder / name)
    return list(drawings)


def _panels(
    titles: Sequence[str],
    draw: Callable[[Axes, str], None],
    *,
    gap: float,
    height: float = HEIGHT,
    most: int = 2,
) -> Figure:
    """Draw one panel a title, at most `most` beside each other; `gap` is the room right of each."""
    columns = min(most, len(titles))
    rows = -(-len(titles) // columns)
    figure = Figure(figsize=(0.55 + columns * (WIDTH + gap), -0.02 + rows * (height + 0.85)))
    for i, title in enumerate(titles):
        left = 0.5 + (i % columns) * (WIDTH + gap)
        bottom = 0.55 + (rows - 1 - i // columns) * (height + 0.85)
        axes = _axes(figure, left, bottom, WIDTH, height)
        axes.set_title(title, fontsize=8.5, loc="left", pad=5)
        draw(axes, title)
        axes.set_axisbelow(True)
        _bare(axes)
    return figure


def _power_figure(power: Sequence[Power], threshold: float) -> Figure:
    places = margin_places(sorted({row.margin for row in power}), threshold)

    def draw(axes: Axes, panel: str) -> None:
        rows = [row for row in power if panel_name(row.role, row.grade) == panel]
        for margin in places:
            line = [row for row in rows if row.margin == margin]
            if not line:
                continue
            points = [(row.documents, row.graded) for row in line]
            _curve(axes, points, *_margin_look(*places[margin]), signed(line[0].true_margin))
        labels = [f"{count(size)}\n{words}" for size, words in words_by_size(rows).items()]
        _size_axis(axes, sizes(rows), labels, "documents, scored words")
        axes.set(ylim=(-2, 102), yticks=[0, 25, 50, 75, 100], ylabel="runs, %")
        axes.grid(axis="y", color=LINE, lw=0.5)
        axes.legend(
            loc="center left", bbox_to_anchor=(1.0, 0.5), frameon=False, fontsize=7, title="true lead",
            title_fontsize=7, reverse=True, handlelength=1.6,
        )  # fmt: skip

    return _panels(list(dict.fromkeys(panel_name(row.role, row.grade) for row in power)), draw, gap=1.2)


def _margin_look(found: bool, place: int, of: int) -> tuple[str, str]:
    """Return colour and dashes of a margin's line: blues above the threshold of the rule, dashed oranges below."""
    part = (place + 1) / of
    colour = RAMP(0.35 + 0.6 * part) if found else colormaps["Oranges"](0.3 + 0.45 * part)
    return to_hex(colour), "-" if found else "--"


def _false_figure(nulls: Sequence[FalseFinds], level: float) -> Figure:
    names, shown = drawn_rates(nulls), sizes(nulls)
    right = 100 * max(
        2 * level, *(rate.high for row in nulls for name in names if (rate := row.rates.get(name, Rate())).known)
    )
    step = 0.7 / max(len(shown), 1)

    def draw(axes: Axes, null: str) -> None:
        for row in (row for row in nulls if row.where == null):
            place = shown.index(row.documents)
            rates = [row.rates.get(name, Rate()) for name in names]
            y = np.arange(len(names)) + (place - (len(shown) - 1) / 2) * step
            colour = RAMP(0.35 + 0.6 * (place + 1) / len(shown))
            value, low, high = np.array([one.drawn for one in rates]).T
            axes.hlines(y, low, high, color=[colour], lw=1.2)
            label = f"{count(row.documents)} documents"
            axes.plot(value, y, "o", ms=3.2, color=colour, label=label, clip_on=False)
        axes.axvline(100 * level, color=MUTED, lw=0.8)
        axes.axvline(100 * allowed(level, min(row.runs for row in nulls)), color=BASELINE_ORANGE, lw=0.8, ls="--")
        left = axes.get_subplotspec() is None and axes.get_position().x0 < 0.5
        axes.set_yticks(range(len(names)), names if left else [""] * len(names), fontsize=7)
        axes.set(xlim=(0, right), ylim=(len(names) - 0.5, -0.5), xlabel="rate, %")
        axes.grid(axis="x", color=LINE, lw=0.5)

    figure = _panels(list(dict.fromkeys(row.where for row in nulls)), draw, gap=0.35, height=0.33 * len(names))
    return _with_margin(figure, 2.5)


def _with_margin(figure: Figure, more: float) -> Figure:
    """Make room at the left of all panels for long names, and a legend below."""
    width, height = figure.get_size_inches()
    places = [axes.get_position().bounds for axes in figure.axes]
    figure.set_size_inches(width + more, height + 0.25)
    for axes, (left, bottom, across, up) in zip(figure.axes, places, strict=True):
        axes.set_position(
            ((left * width + more) / (width + more), (bottom * height + 0.25) / (height + 0.25),
             across * width / (width + more), up * height / (height + 0.25))
        )  # fmt: skip
    handles, labels = figure.axes[0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="lower left", ncols=6, frameon=False, fontsize=7)
    return figure


def _coverage_figure(coverage: Sequence[Coverage]) -> Figure:
    lowest = min(rate.value for row in coverage for _, rate in row.cells)
    low, high = (100 * end for end in COVERAGE_GOAL)

    def draw(axes: Axes, quantity: str) -> None:
        rows = [row for row in coverage if row.quantity == quantity]
        documents = [row.documents for row in rows]
        axes.axhspan(low, high, color=HEAD_BLUE, alpha=0.1, lw=0)
        axes.axhline(100 * NOMINAL, color=MUTED, lw=0.8)
        for row in rows:
            values = [100 * rate.value for _, rate in row.cells]
            axes.plot([row.documents] * len(values), values, "o", ms=2.6, mec="none", color=MUTED, alpha=0.45)
        _curve(axes, [(row.documents, row.pooled) for row in rows], HEAD_BLUE, "-", "all cells")
        _size_axis(axes, documents, [count(size) for size in documents], "documents")
        axes.set(ylim=(min(90, 100 * lowest) - 1, 100.6), ylabel="intervals that cover, %")
        axes.grid(axis="y", color=LINE, lw=0.5)

    return _panels(list(dict.fromkeys(row.quantity for row in coverage)), draw, gap=0.6, most=3)


def _curve(axes: Axes, points: Sequence[tuple[int, Rate]], colour: str, dashes: str, label: str) -> None:
    """Draw a line through rates with their Monte-Carlo intervals as a band; a single point has a bar."""
    at = [documents for documents, _ in points]
    value, low, high = np.array([rate.drawn for _, rate in points]).T
    if len(points) == 1:
        axes.vlines(at, low, high, color=colour, lw=1.2)
    axes.fill_between(at, low, high, color=colour, alpha=0.15, lw=0)
    axes.plot(at, value, dashes, marker="o", ms=3, lw=1.4, color=colour, label=label, clip_on=False)


def _size_axis(axes: Axes, documents: Sequence[int], labels: Sequence[str], name: str) -> None:
    """Make the axis of sizes logarithmic, with a tick at every size."""
    axes.set_xscale("log")
    axes.set_xlim(documents[0] / 1.25, documents[-1] * 1.25)
    axes.set_xticks(documents, labels, fontsize=7, color=INK)
    axes.set_xticks([], minor=True)
    axes.set_xlabel(name, labelpad=2)
