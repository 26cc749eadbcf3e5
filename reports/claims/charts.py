"""Charts of claims: a measure over its axis, or its conditions one below the other."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import Any

import altair as alt

from reports.axes import Axis, scaled
from reports.claims.record import ConditionMean, RecordedMeasure, drawn_factor
from reports.drawing.charts import COLOURS, Chart, curves, layered, over, series_styles
from reports.formats import count, in_unit

ROW = 34
"Pixels of a condition, with its name."

TICKS = 10
"Places that have room for their names below a chart."


def claim_charts(measures: Sequence[RecordedMeasure]) -> list[Chart]:
    """Return one chart a measure: lines over its axis, or one row a condition where it has none."""
    return [_lines(one) if one.axis else _rows(one) for one in measures if one.cells]


def _value_axis(measure: RecordedMeasure) -> Axis:
    """Return the axis of all values: evenly where they have no unit, such as correlations."""
    singles = [drawn_factor(measure.unit) * value for _, at, value in measure.rows if at is None]
    ends = [end for cell in measure.cells for end in cell.number.drawn]
    return Axis.over([*ends, *singles], log=None if measure.unit else False)


def _said(cell: ConditionMean, measure: RecordedMeasure) -> str:
    at = cell.at
    where = "" if at is None else f", {measure.axis} {count(int(at) if at == int(at) else f'{at:g}')}"
    number = " ".join(filter(None, (cell.number.shown, measure.unit, cell.number.interval)))
    return f"{cell.condition}{where}: {number}"


def _lines(measure: RecordedMeasure) -> Chart:
    """Return lines over the axis of a measure, logarithmic where it spans a factor of 8 or more."""
    places = sorted({cell.at for cell in measure.cells if cell.at is not None})
    along = Axis.over(places, log=places[0] > 0 and places[-1] / places[0] >= 8)
    named = places if len(places) <= TICKS else along.marks()
    x = scaled(alt.X("at:Q", title=measure.axis), along, values=named)
    y = scaled(alt.Y("value:Q", title=None), _value_axis(measure))
    drawn = curves(list(_known(measure)), series_styles(measure.conditions), x, y)
    text = f"{measure.name} over {measure.axis}; the table below has all numbers."
    return Chart(measure.title, text, drawn.properties(height=190))


def _known(measure: RecordedMeasure) -> Iterator[dict[str, Any]]:
    """Yield every cell that has a value, with the ends of its interval where that has a width."""
    for cell in measure.cells:
        value, low, high = cell.number.drawn
        if not math.isnan(value):
            ends = {"low": low, "high": high} if low < high else {}
            yield {"series": cell.condition, "at": cell.at, "value": value} | ends | {"text": _said(cell, measure)}


def _rows(measure: RecordedMeasure) -> Chart:
    x = scaled(alt.X("value:Q", title=None), _value_axis(measure), grid=True)
    low = x.copy()
    low.shorthand = "low:Q"
    names, known = measure.conditions, list(_known(measure))
    above, y = (alt.Y("series:N", axis=None, bandPosition=part).scale(domain=names) for part in (0.2, 0.68))
    named = over([{"series": name} for name in names]).encode(y=above, x=alt.value(2), text="series:N")
    halo = named.mark_text(align="left", stroke="var(--bg)", strokeWidth=4, strokeJoin="round")
    singles = over(list(_singles(measure))).encode(x, y, tooltip="text:N")
    sure = over([row for row in known if "low" in row]).encode(low, y, alt.X2("high:Q"))
    means = over(known).encode(x, y, tooltip="text:N")
    drawn = layered(
        *(halo, named.mark_text(align="left"), singles.mark_circle(size=18, color="var(--other)", opacity=0.55)),
        *(sure.mark_rule(color=COLOURS[0], strokeWidth=2), means.mark_circle(size=32, color=COLOURS[0], opacity=1)),
    )
    text = f"{measure.name} by condition; grey dots are single {measure.repeat}s. The table below has all numbers."
    return Chart(measure.title, text, drawn.properties(height=ROW * len(names)))


def _singles(measure: RecordedMeasure) -> Iterator[dict[str, Any]]:
    """Yield every repeat of the conditions that have several."""
    for name in measure.conditions:
        for value in filter(math.isfinite, measure.repeats(name)):
            text = f"{name}: {in_unit(value, measure.unit)} {measure.unit}"
            yield {"series": name, "value": drawn_factor(measure.unit) * value, "text": text}
