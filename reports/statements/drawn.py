"""Figures as charts of a page."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator, Mapping, Sequence
from textwrap import wrap
from typing import Any

import altair as alt

from reports.drawing.charts import COLOURS, Axis, Chart, Rows, SeriesStyle, curves, layered, legend, over, scaled
from reports.formats import count, decimal, minus
from reports.statements.figure import Figure

HEIGHT, CELL = 200, 28
"Of a panel and of a row of a matrix, in pixels."

ROOM = 44
"Letters of all names that stand level beside each other; where there are more, they are slanted."

LINE = 18
"Letters of a line of a slanted name."

PLACES = 10
"Places that have room for their names below a chart."


def figure_chart(figure: Figure, of: str = "") -> Chart:
    """Return the panel of a figure; `of` is whose numbers it has, such as those of a model."""
    return _matrix(figure, of) if figure.kind == "matrix" else _plot(figure, of)


def _axes(figure: Figure) -> tuple[Axis, Axis]:
    """Return the axes over x and y; the level that a figure is compared with is among y, and 0 among that of bars."""
    points = [point for several in figure.points.values() for point in several]
    level = [] if figure.level is None else [figure.level]
    up = [*(end for point in points for end in point[1:]), *level, *[0.0] * (figure.kind == "bars")]
    along = Axis.over([point[0] for point in points] or [0.0, 1.0], log="x" in figure.log)
    if figure.names:
        along = Axis(-0.6, len(figure.names) - 0.4, log=False)
    return along, Axis.over(up, log="y" in figure.log)


def _across(figure: Figure, along: Axis) -> alt.X:
    """Return the axis over x: names where places have them, and every place of a logarithmic one that has room."""
    if figure.names:
        return _named(figure.names, figure.across)
    places = sorted({point[0] for points in figure.points.values() for point in points})
    marks = {"values": places} if figure.log and len(places) <= PLACES else {}
    return scaled(alt.X("x:Q", title=figure.across or None), along, **marks)


def _plot(figure: Figure, of: str) -> Chart:
    several, (along, upward) = figure.points, _axes(figure)
    x, y = _across(figure, along), scaled(alt.Y("value:Q", title=None), upward, minExtent=_aside(figure.names))
    rows = [row for name in several for row in _rows(name, several[name], figure)]
    shown = {
        name: SeriesStyle(COLOURS[place % len(COLOURS)], place >= len(COLOURS) or name in figure.dashed)
        for place, name in enumerate(several)
    }
    if figure.level is not None and figure.level_name:
        shown[figure.level_name] = SeriesStyle("var(--wrong)", dashed=True)
    make = {"lines": curves, "dots": _dots, "bars": _bars}[figure.kind]
    drawn = make(rows, shown, x, y)
    if figure.level is not None:
        level = over([{"value": figure.level, "series": figure.level_name}]).encode(y)
        level = level.encode(_keyed(shown, "stroke")[0]) if figure.level_name else level
        drawn = layered(drawn, level.mark_rule(color="var(--wrong)", strokeDash=[4, 3]))
    text = " over ".join(filter(None, (figure.up or figure.title, figure.across))) + (f", {of}" if of else "")
    unit = f" ({figure.up})" if figure.up else ""
    return Chart(f"{_title(figure, of)}{unit}", f"{text}; a table has the numbers.", drawn.properties(height=HEIGHT))


def _title(figure: Figure, of: str) -> str:
    return f"{figure.title}: {of}" if of else figure.title


def _lines(names: Sequence[object]) -> list[list[str]]:
    """Return the lines of every name: one where all stand level."""
    return [[str(name)] if _level(names) else wrap(str(name), LINE) or [""] for name in names]


def _level(names: Sequence[object]) -> bool:
    return len(names) * max((len(str(name)) for name in names), default=0) <= ROOM


def _named(names: Sequence[object], across: str) -> alt.X:
    """Return the axis of names, which are slanted where they have no room beside each other."""
    lines, angle = f"{json.dumps(_lines(names))}[datum.value]", 0 if _level(names) else -40
    axis = alt.Axis(labelExpr=lines, labelAngle=angle, labelOverlap=False, labelLimit=230)
    return alt.X("x:O", title=across or None, axis=axis).scale(domain=list(range(len(names))))


def _aside(names: Sequence[object]) -> float:
    """Return how far slanted names reach beyond the left end of their axis, in pixels."""
    if _level(names):
        return 0
    ends = (240 * (place + 0.5) / len(names) for place in range(len(names)))
    longest = (4.6 * max(map(len, lines)) + 8 * len(lines) for lines in _lines(names))
    return max(0, *(length - end for length, end in zip(longest, ends, strict=True)))


def _rows(name: str, points: Sequence[tuple[float, ...]], figure: Figure) -> Iterator[dict[str, Any]]:
    """Yield the points of a series, with the ends of their intervals where these have a width."""
    for x, y, low, high in points:
        where = figure.names[int(x)] if figure.names else f"{figure.across} {x:.4g}"
        ends = f" [{low:.3g}, {high:.3g}]" if low < high else ""
        row = {"series": name, "x": x, "value": y, "text": f"{name}, {where}: " + minus(f"{y:.3g}{ends}")}
        yield row | ({"low": low, "high": high} if low < high else {})


def _dots(rows: Rows, shown: Mapping[str, SeriesStyle], x: alt.X, y: alt.Y) -> alt.LayerChart:
    """Return a dot a row, with a bar where there are bounds."""
    keys = _keyed(shown, "circle")
    dots = over(rows).encode(x, y, *keys, tooltip="text:N")
    return layered(_reach(rows, y).encode(x, keys[0]).mark_rule(strokeWidth=2), dots.mark_circle(size=28, opacity=1))


def _bars(rows: Rows, shown: Mapping[str, SeriesStyle], x: alt.X, y: alt.Y) -> alt.LayerChart:
    """Return a bar a row on 0, those of one place beside each other, with a stroke where there are bounds."""
    beside = alt.XOffset("series:N").scale(domain=[name for name, look in shown.items() if not look.dashed])
    bars = over(rows).encode(x, y.stack(None), *_keyed(shown, "square"), xOffset=beside, tooltip="text:N")
    return layered(bars.mark_bar(), _reach(rows, y).encode(x, xOffset=beside).mark_rule(color="var(--ink)"))


def _reach(rows: Rows, y: alt.Y) -> alt.Chart:
    low = y.copy()
    low.shorthand = "low:Q"
    return over([row for row in rows if "low" in row]).encode(low, alt.Y2("high:Q"))


def _keyed(shown: Mapping[str, SeriesStyle], symbol: str) -> tuple[alt.Color, alt.StrokeDash]:
    """Return the colours and dashes of series; where a level is among them, all are strokes in the legend."""
    names = list(shown)
    entries = legend(names, "stroke" if any(look.dashed for look in shown.values()) else symbol)
    colour = alt.Color("series:N", legend=entries).scale(domain=names, range=[look.colour for look in shown.values()])
    dashes = [[4, 3] if look.dashed else [1, 0] for look in shown.values()]
    return colour, alt.StrokeDash("series:N", legend=entries).scale(domain=names, range=dashes)


def _matrix(figure: Figure, of: str) -> Chart:
    wide = max(map(len, figure.matrix), default=0)
    columns = [str(name) for name in (*figure.names, *range(len(figure.names) + 1, wide + 1))]
    rows = list(figure.rows or map(str, range(1, len(figure.matrix) + 1)))
    x, y = _places("column", columns, figure.across, labelAngle=0), _places("row", rows, figure.up, grid=False)
    base = over(list(_cells(figure.matrix, rows, columns))).encode(x, y, tooltip="text:N")
    blocks = base.mark_rect(stroke="var(--bg)").encode(alt.Color("colour:N", scale=None))
    room = alt.expr(f"width < {24 * len(columns)} ? 0 : 1")
    numbers = base.mark_text(opacity=room, fontSize=11).encode(alt.Color("ink:N", scale=None), text="shown:N")
    text = f"{figure.title}: rows are {figure.up}, columns {figure.across}."
    drawn = layered(blocks, numbers).properties(height=CELL * len(rows))
    return Chart(_title(figure, of), text, drawn)


def _places(field: str, names: Sequence[str], title: str, **options: Any) -> Any:
    """Return the axis of the rows or columns of a matrix, with their names."""
    axis = alt.Axis(labelExpr=f"{json.dumps(names)}[datum.value]", **options)
    kind = alt.X if field == "column" else alt.Y
    return kind(f"{field}:O", title=title or None, axis=axis).scale(domain=list(range(len(names))))


def _cells(matrix: Sequence[Sequence[float]], rows: Sequence[str], columns: Sequence[str]) -> Iterator[dict[str, Any]]:
    """Yield the cells that have a number, coloured from the least of all to the largest."""
    known = [value for row in matrix for value in row if math.isfinite(value)]
    low, high, whole = min(known, default=0), max(known, default=1), all(value == int(value) for value in known)
    for row, values in enumerate(matrix):
        for column, value in enumerate(values):
            if math.isfinite(value):
                share, shown = (value - low) / ((high - low) or 1), count(int(value)) if whole else decimal(value)
                look = {"colour": _ramp(share), "ink": "var(--on-high)" if share > 0.55 else "var(--on-low)"}
                text = f"{rows[row]}, {columns[column]}: {shown}"
                yield {"row": row, "column": column, "value": value, "shown": shown, "text": text} | look


def _ramp(share: float) -> str:
    """Return the colour of a heat map's cell, as in the grids of a run (page.js)."""
    low = 0 if share < 0.5 else 1
    return f"color-mix(in oklab,var(--ramp{low + 1}) {200 * share - 100 * low:.1f}%,var(--ramp{low}))"
