"""Charts of head biographies: loss, behaviour, concentration and the best heads' margins over one axis of steps."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import altair as alt
import pandas as pd

from reports.biographies.section import HeadBiographies
from reports.drawing.charts import COLOURS, Chart, SeriesStyle, curves, layered, over
from reports.formats import count


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

    @property
    def in_percent(self) -> Line:
        """The line of fractions, in percent."""
        values, low, high = (tuple(100 * one for one in some) for some in (self.values, self.low, self.high))
        return replace(self, values=values, low=low, high=high)


@dataclass(frozen=True)
class TrajectoryPanel:
    """Lines that share an axis of numbers."""

    title: str
    unit: str
    lines: tuple[Line, ...]
    height: int
    percent: bool
    "Whether numbers are percentages; else they are as they were measured."


def panels(biographies: HeadBiographies) -> list[TrajectoryPanel]:
    """Return the panels that have numbers, from the top: loss, behaviour, margins, effective roles."""
    progress = biographies.progress
    losses = [_line(progress, "loss", "training loss", COLOURS[0])]
    losses.append(_line(progress, "evaluation_loss", "evaluation loss", COLOURS[3], dashed=True))
    behaviour = [_line(progress, "behaviour", "behaviour", COLOURS[2])]
    effective = [_line(progress, "effective", "median over heads", COLOURS[4])]
    margins = [
        _curve(rows, role, place) for place, (role, rows) in enumerate(biographies.curves.groupby("role", sort=False))
    ]
    every = (
        _panel("Loss", "nats", losses, 120),
        _panel("Behaviour", "accuracy, %", behaviour, 100, percent=True),
        _panel("Best head of each role: margin over the strongest baseline", "points", margins, 240, percent=True),
        _panel("Effective number of roles of a head", "roles", effective, 100),
    )
    return [panel for panel in every if panel.lines]


def _panel(title: str, unit: str, lines: Sequence[Line], height: int, *, percent: bool = False) -> TrajectoryPanel:
    """Return the panel of those lines that have numbers, with fractions in percent where it is said."""
    known = (line.in_percent if percent else line for line in lines if _known(line))
    return TrajectoryPanel(title, unit, tuple(known), height, percent)


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


def biography_charts(biographies: HeadBiographies) -> list[Chart]:
    """Return one chart a panel, all with the same axis of steps, log(step + 1), and a line where the slider stands."""
    return [_chart(panel, biographies.steps[-1]) for panel in panels(biographies)]


def _chart(panel: TrajectoryPanel, last: int) -> Chart:
    rows = [row for line in panel.lines for row in _rows(line, panel)]
    steps = alt.Axis(values=ticks(last), format=",d", title="step (log scale)")
    x = alt.X("step:Q", axis=steps).scale(type="symlog", constant=1, domain=[0, last], nice=False)
    y = alt.Y("value:Q", title=None).scale(zero=False).axis(minExtent=38, tickCount=max(panel.height // 40, 3))
    lines = curves(rows, {line.name: SeriesStyle(line.colour, line.dashed) for line in panel.lines}, x, y)
    step = alt.param("step", value=last)
    slider = over([{}]).transform_calculate(at=step.name).encode(alt.X("at:Q"))
    drawn = layered(slider.mark_rule(color="var(--other)", strokeDash=[2, 3]), lines).add_params(step)
    text = "Over training steps on a log scale; biographies.csv has the numbers."
    return Chart(f"{panel.title} ({panel.unit})", text, drawn.properties(height=panel.height))


def _rows(line: Line, panel: TrajectoryPanel) -> Iterator[dict[str, Any]]:
    """Yield the points of a line, with what is said of each."""
    unsure = (math.nan,) * len(line.steps)
    for step, value, *bounds in zip(line.steps, line.values, line.low or unsure, line.high or unsure, strict=True):
        low, high = (None if math.isnan(bound) else bound for bound in bounds)
        number = f"{value:.1f}" if panel.percent else f"{value:.3g}"
        text = f"{line.name}, step {count(step)}: {number} {panel.unit}".replace("-", "−")
        yield {"step": step, "value": value, "low": low, "high": high, "series": line.name, "text": text}
