"""The chart of an atlas: recall of the selected heads beside their strongest baselines, by model and corpus."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

import altair as alt

from reports.atlas.pooled import AtlasRow
from reports.drawing.charts import Chart, layered, legend, over, series_styles
from reports.drawing.figures import shortened
from reports.formats import percent

MOST: Final = 12
"Labels and directions that are drawn."

NAME, LINE, GAP = 20, 13, 10
"Pixels of the name of a label, of a head, and between labels."

LETTERS: Final = 52
"Of the name of a label; a phone has no room for more."


@dataclass(frozen=True)
class DrawnHead:
    """One mark of the chart: a label and direction in the runs of one model and corpus."""

    row: str
    series: str
    accuracy: float
    baseline_accuracy: float
    "NaN without a baseline."
    graded: bool
    text: str
    "Shown where one points."


def drawn_heads(rows: Sequence[AtlasRow]) -> list[DrawnHead]:
    """Return what is drawn of the first rows, row by row; what has no recall is left out."""
    return [
        DrawnHead(
            row.title,
            series := " · ".join(group),
            pooled.accuracy,
            pooled.strongest_accuracy,
            bool(pooled.grade),
            f"{row.title}, {series}: {pooled.head} {percent(pooled.accuracy)} %; {pooled.strongest} "
            f"{percent(pooled.strongest_accuracy)} %",
        )
        for row in rows[:MOST]
        for group, pooled in row.by_group.items()
        if not math.isnan(pooled.accuracy)
    ]


def recall_chart(drawn: Sequence[DrawnHead]) -> Chart:
    """Return the chart, a colour a model and corpus; heads without a grade are hollow."""
    styles = series_styles(one.series for one in drawn)
    names, marks, titles, height = [*styles], *_placed(drawn)
    scale = alt.Scale(domain=[0, 100])
    x = alt.X("value:Q", title="recall on the report split, %", scale=scale).axis(alt.Axis(grid=True, tickCount=6))
    y = alt.Y("y:Q", axis=None).scale(domain=[0, height], reverse=True, nice=False)
    entries = legend(names, "circle")
    colour = alt.Color("series:N", legend=entries)
    colour = colour.scale(domain=names, range=[style.colour for style in styles.values()])
    dash = alt.StrokeDash("series:N", legend=entries)
    dash = dash.scale(domain=names, range=[[2, 2] if style.dashed else [1, 0] for style in styles.values()])
    named = over(titles).encode(y=y, x=alt.value(2), text="title:N").mark_text(align="left", baseline="middle")
    both = over([mark for mark in marks if "baseline" in mark])
    apart = both.encode(x, y, colour, dash, alt.X2("baseline:Q")).mark_rule(strokeWidth=1.5, opacity=0.6)
    below = both.encode(alt.X("baseline:Q", scale=scale), y, colour)
    dots = [
        over([mark for mark in marks if mark["graded"] is graded]).encode(x, y, colour, tooltip="text:N")
        for graded in (True, False)
    ]
    filled, hollow = dots[0].mark_point(filled=True, size=60, opacity=1), dots[1].mark_point(fill="var(--bg)", size=50)
    text = "A stroke is the strongest baseline; filled: a head with a grade. The table below has all numbers."
    chart = layered(apart, below.mark_point(shape="stroke", angle=90, size=90, strokeWidth=2), filled, hollow, named)
    return Chart("Recall of the selected heads and their strongest baselines", text, chart.properties(height=height))


def _placed(drawn: Sequence[DrawnHead]) -> tuple[list[dict[str, Any]], list[dict[str, Any]], int]:
    """Return the marks and the names of the rows with their heights in pixels from the top, and the whole height."""
    marks: list[dict[str, Any]] = []
    titles: list[dict[str, Any]] = []
    y = 0
    for row in dict.fromkeys(one.row for one in drawn):
        titles.append({"title": shortened(row, LETTERS), "y": y + NAME // 2})
        y += NAME
        for one in (one for one in drawn if one.row == row):
            mark = {"y": y + LINE // 2, "series": one.series, "value": 100 * one.accuracy, "graded": one.graded}
            known = {} if math.isnan(one.baseline_accuracy) else {"baseline": 100 * one.baseline_accuracy}
            marks.append(mark | known | {"text": one.text})
            y += LINE
        y += GAP
    return marks, titles, y
