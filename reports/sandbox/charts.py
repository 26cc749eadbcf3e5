"""Charts of the sandbox: power by size, rates of false positives, and coverage of intervals."""

from __future__ import annotations

import json
import math
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import altair as alt

from reports.drawing.charts import Chart, SeriesStyle, curves, layered, over
from reports.formats import count, percent, points, signed
from reports.sandbox.claims import COVERAGE_GOAL, GRADES, allowed
from reports.sandbox.record import Coverage, FalseFinds, Power, Rate, drawn_rates, sizes

NOMINAL = 0.95
"The share of intervals that should hold the true value."

LINE = 13
"Pixels of a row of a chart of rates."

EVERY, SINGLE = "all cells", "single cells"


def _shade(place: int, of: int, *, planted: bool) -> str:
    """Return the colour of one of several series: blues for heads that can be found, oranges for others."""
    part = round(100 * (place + 1) / of)
    strong, weak = ("--ramp2", "--ramp1") if planted else ("--wrong", "--other")
    return f"color-mix(in oklab,var({strong}) {part}%,var({weak}))"


def margin_styles(margins: Sequence[float], threshold: float) -> dict[float, SeriesStyle]:
    """Return the look of the line of each margin; those not above the threshold are dashed."""
    kinds = ([one for one in margins if (one > threshold + 1e-9) == found] for found in (False, True))
    return {
        margin: SeriesStyle(_shade(place, len(kind), planted=bool(found)), dashed=not found)
        for found, kind in enumerate(kinds)
        for place, margin in enumerate(kind)
    }


def power_charts(power: Sequence[Power], threshold: float) -> list[Chart]:
    """Return one panel a grade and role: the share of runs in which its head has the grade, by size."""
    looks = margin_styles(sorted({row.margin for row in power}), threshold)
    known = [row for row in power if row.graded.known]
    return [
        _power_chart(role, grade, [row for row in known if (row.role, row.grade) == (role, grade)], looks)
        for role, grade in dict.fromkeys((row.role, row.grade) for row in known)
    ]


def _words_by_size(rows: Sequence[Power]) -> dict[int, str]:
    """Return how many words were scored at each size, on average over margins."""
    items = {size: [row.items for row in rows if row.documents == size] for size in sizes(rows)}
    return {size: count(round(sum(several) / len(several))) for size, several in items.items()}


def _power_chart(role: str, grade: int, rows: Sequence[Power], looks: Mapping[float, SeriesStyle]) -> Chart:
    names = _margin_names(rows)
    words = _words_by_size(rows)
    y = alt.Y("value:Q", title="runs, %").scale(domain=[0, 100], nice=False).axis(values=[0, 25, 50, 75, 100])
    drawn = curves(
        [_point(row.documents, row.graded, names[row.margin], _power_said(row)) for row in rows],
        {names[margin]: look for margin, look in looks.items() if margin in names},
        *(_by_size(list(words), "documents, scored words", words), y),
    )
    text = (
        f"Share of runs in which the head for “{role}” has grade {grade}, by documents; a line a true lead, in points. "
        "The table below has all numbers."
    )
    return Chart(f"{role}, {GRADES.get(grade, f'grade {grade}')}", text, drawn.properties(height=180))


def _margin_names(rows: Sequence[Power]) -> dict[float, str]:
    """Return margin -> true lead in points, with the lead that was wanted where two would be named alike."""
    names = {row.margin: signed(row.true_margin) for row in reversed(rows)}
    alike = Counter(names.values())
    return {margin: name if alike[name] == 1 else f"{name} (wanted {points(margin)})" for margin, name in names.items()}


def _power_said(row: Power) -> str:
    size = f"{count(row.documents)} documents"
    return f"true lead {signed(row.true_margin)}, {size}: grade {row.grade} in {row.graded} % of runs"


def false_charts(nulls: Sequence[FalseFinds], level: float) -> list[Chart]:
    """Return one panel a null hypothesis: every rate at every size beside the nominal level and the goal."""
    highs = [rate.high for row in nulls for name in drawn_rates([row]) if (rate := row.rates[name]).known]
    right = max(2 * level, math.ceil(20 * max(highs, default=0)) / 20)
    return [
        _false_chart(name, [row for row in nulls if row.where == name], level, right)
        for name in dict.fromkeys(row.where for row in nulls)
    ]


def _false_chart(name: str, rows: Sequence[FalseFinds], level: float, right: float) -> Chart:
    """Return a line of text a rate, below it a row a size, and a free line; places are lines, from 0 at the top."""
    shown, names, step = sizes(rows), drawn_rates(rows), len(rows) + 2
    lines = step * len(names) - 1
    place = alt.Y("place:Q", title=None).scale(domain=[lines - 0.5, -0.5], nice=False, zero=False)
    labels = {step * part + 1 + at: count(row.documents) for part in range(len(names)) for at, row in enumerate(rows)}
    place = place.axis(values=list(labels), labelExpr=_looked_up(labels), grid=False, minExtent=40, labelPadding=9)
    x = alt.X("value:Q", title="rate, %").scale(domain=[0, 100 * right], nice=False)
    x = x.axis(values=[0, 100 * level, 100 * right], format=".1f", grid=True)
    low, at = x.copy(), x.copy()
    low.shorthand, at.shorthand = "low:Q", "at:Q"
    size = alt.Color("documents:N", legend=None).scale(
        domain=[count(documents) for documents in shown],
        range=[_shade(number, len(shown), planted=True) for number in range(len(shown))],
    )
    dots = over([row for part, key in enumerate(names) for row in _rates(key, rows, step * part + 1)])
    headings = over([{"place": step * part, "rate": key} for part, key in enumerate(names)])
    headings = headings.encode(place, alt.Text("rate:N"), x=alt.value(-38))
    drawn = layered(
        *_marks(level, min(row.runs for row in rows), at),
        headings.mark_text(align="left", dy=-2, stroke="var(--bg)", strokeWidth=4, strokeJoin="round"),
        headings.mark_text(align="left", dy=-2),
        dots.mark_rule(strokeWidth=2).encode(low, alt.X2("high:Q"), place, size),
        dots.mark_circle(size=28, opacity=1).encode(x, place, size, tooltip="text:N"),
    )
    text = (
        f"Rates of false positives under the null hypothesis “{name}”, by documents; the table below has all numbers."
    )
    return Chart(name, text, drawn.properties(height=LINE * lines))


def _rates(key: str, rows: Sequence[FalseFinds], first: int) -> Iterator[dict[str, Any]]:
    """Yield the known values of a rate, the first row at the place `first`."""
    for place, row in enumerate(rows, first):
        rate = row.rates.get(key, Rate())
        if rate.known:
            text = f"{key}, {count(row.documents)} documents: {rate} %"
            yield _percents(rate) | {"place": place, "documents": count(row.documents), "text": text}


def _marks(level: float, runs: int, at: alt.X) -> Iterator[alt.Chart]:
    """Yield the lines of the nominal level and, dashed, of what is allowed for so many runs."""
    goal = allowed(level, runs)
    nominal = over([{"at": 100 * level, "text": f"nominal level: {percent(level)} %"}])
    yield nominal.mark_rule(color="var(--muted)", strokeWidth=1.2).encode(at, tooltip="text:N")
    wanted = over([{"at": 100 * goal, "text": f"goal: at most {percent(goal)} %"}])
    yield wanted.mark_rule(color="var(--wrong)", strokeWidth=1.2, strokeDash=[4, 3]).encode(at, tooltip="text:N")


def coverage_charts(coverage: Sequence[Coverage]) -> list[Chart]:
    """Return one panel a quantity: how often its 95 % intervals hold the true value, by size."""
    values = [rate.value for row in coverage for _, rate in row.cells]
    least = min(0.9, math.floor(20 * min(values, default=1)) / 20)
    return [
        _coverage_chart(name, [row for row in coverage if row.quantity == name], least)
        for name in dict.fromkeys(row.quantity for row in coverage)
    ]


def _coverage_chart(quantity: str, rows: Sequence[Coverage], least: float) -> Chart:
    x = _by_size(sorted({row.documents for row in rows}), "documents")
    y = alt.Y("value:Q", title="intervals that cover, %").scale(domain=[100 * least, 100], nice=False, zero=False)
    y = y.axis(values=_steps(least), format=".0f")
    band, line = y.copy(), y.copy()
    band.shorthand, line.shorthand = "low:Q", "at:Q"
    (low, high), tooltip = COVERAGE_GOAL, "text:N"
    goal = over([{"low": 100 * low, "high": 100 * high, "text": f"goal: {percent(low)} to {percent(high)} %"}])
    nominal = over([{"at": 100 * NOMINAL, "text": f"nominal: {percent(NOMINAL)} %"}])
    cells = over([cell for row in rows for cell in _cells(row)]).mark_circle(size=18).encode(tooltip=tooltip)
    pooled = [_point(row.documents, row.pooled, EVERY, _pooled_said(row)) for row in rows if row.pooled.known]
    drawn = layered(
        goal.mark_rect(color="var(--right)", opacity=0.12).encode(band, alt.Y2("high:Q"), tooltip=tooltip),
        nominal.mark_rule(color="var(--muted)", strokeWidth=1.2).encode(line, tooltip=tooltip),
        curves(pooled, {EVERY: SeriesStyle("var(--right)"), SINGLE: SeriesStyle("var(--other)")}, x, y, behind=[cells]),
    )
    text = (
        f"Share of 95 % intervals of the {quantity} that hold the true value, by documents; numbers are in the table."
    )
    return Chart(quantity, text, drawn.properties(height=170))


def _cells(row: Coverage) -> Iterator[dict[str, Any]]:
    """Yield the roles and margins of one size."""
    size = f"{count(row.documents)} documents"
    for cell, rate in row.cells:
        text = f"{cell.role}, grade {cell.grade}, true lead {signed(cell.true_margin)}, {size}: {rate} %"
        yield {"documents": row.documents, "value": 100 * rate.value, "series": SINGLE, "text": text}


def _pooled_said(row: Coverage) -> str:
    return f"{EVERY}, {count(row.documents)} documents: {row.pooled} %"


def _point(documents: int, rate: Rate, series: str, said: str) -> dict[str, Any]:
    return _percents(rate) | {"documents": documents, "series": series, "text": said}


def _percents(rate: Rate) -> dict[str, float | None]:
    """Return a known rate and its bounds in percent; None for a bound that is not known."""
    value, low, high = (None if math.isnan(end) else end for end in rate.drawn)
    return {"value": value, "low": low, "high": high}


def _by_size(documents: Sequence[int], title: str, below: Mapping[int, str] | None = None) -> alt.X:
    """Return the logarithmic axis of sizes, a tick at each, with what is written below them in a second line.

    A single size is in the middle.
    """
    labels = {size: [count(size), *([below[size]] if below else [])] for size in documents}
    axis = alt.Axis(values=list(documents), labelExpr=_looked_up(labels), title=title)
    ends = [documents[0] / 1.25, documents[-1] * 1.25]
    return alt.X("documents:Q", axis=axis).scale(type="log", domain=ends, nice=False)


def _looked_up(labels: Mapping[int, str | list[str]]) -> str:
    """Return the expression for the label of a tick, one of `labels` or lines of it."""
    return f"({json.dumps(labels, separators=(',', ':'))})[datum.value]"


def _steps(least: float) -> list[float]:
    """Return where an axis of coverage, which begins at `least`, has its ticks, in percent."""
    step = 5 if least >= 0.8 else 10 if least >= 0.5 else 25
    return [100 - step * number for number in range(int((100 - 100 * least) / step + 1e-9) + 1)]
