"""Dots on a scale of percent in named groups, such as heads beside their baselines."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Final

import altair as alt

from reports.drawing.charts import Chart, layered, legend, over

NAME, LINE, GAP = 20, 13, 10
"Pixels of the name of a group, of a line of marks, and between groups."

RECALL: Final = "recall on the report split, %"

LETTERS: Final = 56
"Of the name of a group; a phone has no room for more."


@dataclass(frozen=True)
class Dot:
    """One mark of a chart."""

    group: str
    "Stands above its lines; dots of a group follow each other."
    line: str
    "Dots of one line of a group stand on the same height."
    series: str
    value: float
    "A fraction."
    text: str
    "Shown where one points."
    shape: str = "circle"
    "A shape of Vega: circle, or stroke, which stands upright."
    filled: bool = True


def dot_chart(
    title: str, description: str, dots: Sequence[Dot], colours: Mapping[str, str], *, axis: str = RECALL
) -> Chart:
    """Return the chart of the dots; `colours` are of the series, in the order of the legend, `axis` what x is."""
    names, marks, y = [], [], 0
    for group, own in groupby(dots, key=lambda dot: dot.group):
        short = group if len(group) <= LETTERS else f"{group[: LETTERS - 1]}…"
        names.append({"title": short, "y": y + NAME // 2})
        y += NAME
        for _, line in groupby(own, key=lambda dot: dot.line):
            marks += [_mark(dot, y + LINE // 2) for dot in line]
            y += LINE
        y += GAP
    scale = alt.Scale(domain=[0, 100])
    x = alt.X("value:Q", title=axis, scale=scale).axis(alt.Axis(grid=True, tickCount=6))
    place = alt.Y("y:Q", axis=None).scale(domain=[0, y], reverse=True, nice=False)
    colour = alt.Color("series:N", legend=legend(colours, "circle"))
    colour = colour.scale(domain=[*colours], range=[*colours.values()])
    above = over(names).encode(y=place, x=alt.value(2), text="title:N").mark_text(align="left", baseline="middle")
    looks = [alt.Shape("shape:N", scale=None), alt.Angle("angle:Q", scale=None)]
    points = [
        over([mark for mark in marks if mark["fill"] == fill]).encode(x, place, colour, *looks, tooltip="text:N")
        for fill in ("", "none", "full")
    ]
    strokes, hollow, full = points
    drawn = layered(
        strokes.mark_point(size=80, strokeWidth=2, opacity=1),
        hollow.mark_point(size=50, strokeWidth=2, opacity=1, fill="var(--bg)"),
        full.mark_point(size=60, opacity=1, filled=True),
        above,
    ).properties(height=y)
    return Chart(title, description, drawn)


def _mark(dot: Dot, y: int) -> dict[str, object]:
    fill = "" if dot.shape != "circle" else "full" if dot.filled else "none"
    mark = {"y": y, "series": dot.series, "value": 100 * dot.value, "text": dot.text, "shape": dot.shape, "fill": fill}
    return mark | {"angle": 90 if dot.shape == "stroke" else 0}
