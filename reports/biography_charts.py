"""The figure of head biographies: loss, behaviour, concentration and the best heads' margins over one axis of steps."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pandas as pd

from reports.biographies import HeadBiographies
from reports.figures import INK, LINE, MUTED, _axes, _bare, _save, _styled
from reports.formats import count
from reports.sandbox_charts import Chart, Key, Shape

COLOURS = ("#0072b2", "#e69f00", "#009e73", "#d55e00", "#cc79a7", "#56b4e9")
"Okabe and Ito's colours without black and yellow, which vanish on one of the two grounds."

LEFT, RIGHT, WIDTH = 46, 14, 720


@dataclass(frozen=True)
class Line:
    """One line of a panel."""

    name: str
    steps: tuple[int, ...]
    values: tuple[float, ...]
    colour: str
    dashed: bool = False
    low: tuple[float, ...] = ()
    high: tuple[float, ...] = ()
    "Bounds of the band around it; empty for none."


@dataclass(frozen=True)
class Panel:
    """Lines that share an axis of numbers."""

    title: str
    unit: str
    lines: tuple[Line, ...]
    height: int
    percent: bool
    "Whether numbers are fractions that are written in percent."

    @property
    def range(self) -> tuple[float, float]:
        """The lowest and the highest number, with some room; never empty."""
        values = [v for line in self.lines for part in (line.values, line.low, line.high) for v in part]
        known = [value for value in values if math.isfinite(value)]
        low, high = min(known), max(known)
        room = 0.06 * (high - low) or 0.05 * (abs(high) or 1)
        return low - room, high + room


def panels(found: HeadBiographies) -> list[Panel]:
    """Return the panels that have numbers, from the top: loss, behaviour, margins, effective roles."""
    progress = found.progress
    losses = [_line(progress, "loss", "training loss", COLOURS[0])]
    losses.append(_line(progress, "evaluation_loss", "evaluation loss", COLOURS[3], dashed=True))
    behaviour = [_line(progress, "behaviour", "behaviour", COLOURS[2])]
    effective = [_line(progress, "effective", "median over heads", COLOURS[4])]
    margins = [_curve(rows, role, place) for place, (role, rows) in enumerate(found.curves.groupby("role", sort=False))]
    every = (
        Panel("Loss", "nats", tuple(losses), 120, percent=False),
        Panel("Behaviour", "accuracy, %", tuple(behaviour), 100, percent=True),
        Panel(
            "Best head of each role: margin over the strongest baseline", "points", tuple(margins), 240, percent=True
        ),
        Panel("Effective number of roles of a head", "roles", tuple(effective), 100, percent=False),
    )
    told = [Panel(one.title, one.unit, tuple(filter(_known, one.lines)), one.height, one.percent) for one in every]
    return [panel for panel in told if panel.lines]


def _known(line: Line) -> bool:
    return any(math.isfinite(value) for value in line.values)


def _line(progress: pd.DataFrame, column: str, name: str, colour: str, *, dashed: bool = False) -> Line:
    rows = progress[progress[column].notna()]
    return Line(name, tuple(rows["step"].tolist()), tuple(rows[column].tolist()), colour, dashed)


def _curve(rows: pd.DataFrame, role: object, place: int) -> Line:
    rows = rows[rows["margin"].notna()]
    numbers = [tuple(rows[column].tolist()) for column in ("step", "margin", "low", "high")]
    colour, dashed = COLOURS[place % len(COLOURS)], place >= len(COLOURS)
    return Line(str(role), numbers[0], numbers[1], colour, dashed, numbers[2], numbers[3])


def ticks(last: int) -> list[int]:
    """Return the steps that are written on the axis: 0, and powers of ten up to the last step, which closes it."""
    powers = [10**power for power in range(len(str(last)))]
    return [0, *(one for one in powers if math.log1p(one) < 0.93 * math.log1p(last)), last]


def biography_charts(found: HeadBiographies) -> list[Chart]:
    """Return one chart a panel, all with the same axis of steps, log(step + 1)."""
    return [_chart(panel, found.steps) for panel in panels(found)]


def _chart(panel: Panel, steps: Sequence[int]) -> Chart:
    height, bottom = panel.height + 34, 8 + panel.height
    (low, high), last = panel.range, math.log1p(steps[-1])

    def across(step: float) -> float:
        return LEFT + (WIDTH - LEFT - RIGHT) * math.log1p(step) / last

    def up(value: float) -> float:
        return bottom - panel.height * (value - low) / (high - low)

    shapes = []
    for value in _marks(low, high):
        text = f"{100 * value:.0f}" if panel.percent else f"{value:.6g}"
        shapes.append(Shape("path", "axis", d=f"M{LEFT} {up(value):.1f}H{WIDTH - RIGHT}"))
        shapes.append(Shape("text", "tick end", LEFT - 6, up(value) + 3.5, text=text.replace("-", "−")))
    for step in ticks(steps[-1]):
        shapes.append(Shape("text", "tick middle", across(step), bottom + 15, text=count(step)))
    shapes.append(Shape("text", "name middle", (LEFT + WIDTH - RIGHT) / 2, height - 5, text="step (log scale)"))
    for line in panel.lines:
        points = [f"{across(step):.1f} {up(value):.1f}" for step, value in zip(line.steps, line.values, strict=True)]
        if line.low:
            bounds = [f"{across(s):.1f} {up(v):.1f}" for s, v in zip(line.steps, line.high, strict=True) if v == v]
            bounds += [
                f"{across(s):.1f} {up(v):.1f}" for s, v in [*zip(line.steps, line.low, strict=True)][::-1] if v == v
            ]
            shapes.append(Shape("path", "band", d=f"M{'L'.join(bounds)}z", colour=line.colour))
        look = "curve unfound" if line.dashed else "curve"
        shapes.append(Shape("path", look, d=f"M{'L'.join(points)}", colour=line.colour))
        for step, value in zip(line.steps, line.values, strict=True):
            number = f"{100 * value:.1f}" if panel.percent else f"{value:.3g}"
            said = f"{line.name}, step {count(step)}: {number} {panel.unit}".replace("-", "−")
            shapes.append(Shape("dot", "point", across(step), up(value), text=said, colour=line.colour))
    keys = tuple(Key(line.name, "unfound" if line.dashed else "found", line.colour) for line in panel.lines)
    title = f"{panel.title} ({panel.unit})"
    return Chart(title, "Over training steps on a log scale.", height, tuple(shapes), keys, WIDTH, "lines")


def _marks(low: float, high: float) -> list[float]:
    """Return two to six round numbers between `low` and `high`."""
    step = 10 ** math.floor(math.log10(high - low))
    step = next(one for one in (step / 5, step / 2, step, 2 * step) if (high - low) / one <= 6)
    first = math.ceil(low / step)
    return [round(number * step, 10) for number in range(first, math.floor(high / step) + 1)]


def save_biographies(found: HeadBiographies, title: str, path: Path) -> None:
    """Write all panels, one above the other, to `path`.png and `path`.pdf."""
    from matplotlib.figure import Figure

    drawn = panels(found)
    heights = [panel.height / 72 for panel in drawn]
    page = 0.5 + sum(height + 0.36 for height in heights) + 0.35
    with _styled():
        figure = Figure(figsize=(9.6, page))
        figure.text(0.02, 1 - 0.12 / page, title, fontsize=10.5, va="top")
        top = page - 0.45
        for panel, height in zip(drawn, heights, strict=True):
            top -= height + 0.36
            axes = _axes(figure, 0.65, top + 0.05, 6.1, height)
            for line in panel.lines:
                x, scale = np.log1p(line.steps), 100 if panel.percent else 1
                style = "--" if line.dashed else "-"
                axes.plot(
                    x,
                    scale * np.array(line.values),
                    style,
                    marker="o",
                    ms=2.6,
                    lw=1.5,
                    color=line.colour,
                    label=line.name,
                )
                if line.low:
                    low, high = (scale * np.array(bound) for bound in (line.low, line.high))
                    axes.fill_between(x, low, high, color=line.colour, alpha=0.13, lw=0)
            shown = ticks(found.steps[-1])
            axes.set_xticks(np.log1p(shown), [count(step) for step in shown])
            axes.set_xlim(0, np.log1p(found.steps[-1]))
            axes.set_title(f"{panel.title} ({panel.unit})", fontsize=8.5, loc="left", pad=3, color=INK)
            axes.grid(axis="y", color=LINE, lw=0.5)
            axes.legend(loc="center left", bbox_to_anchor=(1.01, 0.5), frameon=False, fontsize=7.5)
            _bare(axes)
        figure.text(0.65 / 9.6, 0.06 / page, "training step, on an axis of log(step + 1)", fontsize=7.5, color=MUTED)
        _save(figure, path)
