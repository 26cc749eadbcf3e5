"""Charts of the sandbox as shapes for inline SVG, which take the colours of the page in light and dark."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Literal

from reports.formats import count, percent, signed
from reports.sandbox_claims import COVERAGE_GOAL, SLACK
from reports.sandbox_record import Coverage, FalseFinds, Power, Rate, rate_names, sizes

Scale = Callable[[float], float]

WIDTH = 340
LEFT, RIGHT, TOP = 40, 14, 10


@dataclass(frozen=True)
class Shape:
    """One path, dot or text of a chart."""

    kind: Literal["path", "dot", "text"]
    look: str
    "Classes of the style sheet."
    x: float = 0
    y: float = 0
    d: str = ""
    text: str = ""
    "What is written, or what is said where one points at it."
    colour: str = ""


@dataclass(frozen=True)
class Key:
    """An entry of a legend."""

    text: str
    look: str
    colour: str


@dataclass(frozen=True)
class Chart:
    """One panel."""

    title: str
    said: str
    "What the panel shows, for those who do not see it."
    height: float
    shapes: tuple[Shape, ...]
    keys: tuple[Key, ...] = ()
    width: float = WIDTH
    keys_said: str = "true margin of the lines, in points"
    "What the entries of the legend are, for those who do not see it."


def shade(place: int, of: int, *, found: bool) -> str:
    """Return the colour of one of several lines: blues for heads that can be found, oranges for others."""
    part = round(100 * (place + 1) / of)
    return (
        f"color-mix(in oklab,var({'--ramp2' if found else '--wrong'}) {part}%,var({'--ramp1' if found else '--other'}))"
    )


def margin_looks(margins: Sequence[float], threshold: float) -> dict[float, tuple[str, str]]:
    """Return class and colour of the line of each margin; those not above the threshold are dashed."""
    below, above = ([one for one in margins if (one > threshold + 1e-9) == found] for found in (False, True))
    return {
        margin: ("found" if found else "unfound", shade(place, len(part), found=found))
        for found, part in ((False, below), (True, above))
        for place, margin in enumerate(part)
    }


def power_charts(power: Sequence[Power], threshold: float) -> list[Chart]:
    """Return one panel a role: the share of runs that call its head specialised, by size."""
    looks = margin_looks(sorted({row.margin for row in power}), threshold)
    return [
        _power_chart(role, [row for row in power if row.role == role], looks)
        for role in dict.fromkeys(row.role for row in power)
    ]


def _power_chart(role: str, rows: Sequence[Power], looks: dict[float, tuple[str, str]]) -> Chart:
    height, bottom = 236.0, 52
    at, up = _by_size(sizes(rows)), _linear((0, 1), (height - bottom, TOP))
    shapes = [*_frame_y((0, 0.25, 0.5, 0.75, 1), up)]
    for size in sizes(rows):
        items = [row.items for row in rows if row.documents == size]
        shapes += _tick(at(size), height - bottom, count(size), count(round(sum(items) / len(items))))
    shapes.append(Shape("text", "name middle", (LEFT + WIDTH - RIGHT) / 2, height - 6, text="documents, scored words"))
    keys = []
    for margin, (look, colour) in looks.items():
        line = [row for row in rows if row.margin == margin]
        if line:
            points = [(at(row.documents), row.specialised) for row in line]
            shapes += [replace_colour(shape, colour) for shape in _curve(points, up, look)]
            shapes += [_power_dot(row, at(row.documents), up, colour) for row in line]
            keys.append(Key(signed(line[0].true_margin), look, colour))
    said = f"Share of runs that call the head for “{role}” specialised, by documents; the table below has all numbers."
    return Chart(role, said, height, tuple(shapes), tuple(keys))


def _power_dot(row: Power, x: float, up: Scale, colour: str) -> Shape:
    text = (
        f"true margin {signed(row.true_margin)}, {row.documents} documents: specialised in {row.specialised} % of runs"
    )
    return Shape("dot", "point", x, up(row.specialised.value), text=text, colour=colour)


def false_charts(nulls: Sequence[FalseFinds], level: float) -> list[Chart]:
    """Return one panel a null hypothesis: every rate at every size beside the nominal level and the goal."""
    highs = [rate.high for row in nulls for rate in row.rates.values() if not math.isnan(rate.high)]
    right = max(2 * level, math.ceil(20 * max(highs, default=0)) / 20)
    return [
        _false_chart(name, [row for row in nulls if row.where == name], level, right)
        for name in dict.fromkeys(row.where for row in nulls)
    ]


def _false_chart(name: str, rows: Sequence[FalseFinds], level: float, right: float) -> Chart:
    left, across, shown = 44, _linear((0, right), (44, WIDTH - 22)), sizes(rows)
    step, y, shapes = 13, 6.0, []
    for key in rate_names(rows):
        shapes.append(Shape("text", "name", 2, y + 10, text=key))
        y += 22
        for row in rows:
            rate = row.rates.get(key, Rate())
            shapes.append(Shape("text", "tick end", left - 8, y + 3.5, text=count(row.documents)))
            if rate.known:
                colour = shade(shown.index(row.documents), len(shown), found=True)
                said = f"{key}, {row.documents} documents: {rate} %"
                d = f"M{across(rate.low):.1f} {y:.1f}H{across(rate.high):.1f}"
                shapes.append(Shape("path", "reach", d=d, colour=colour))
                shapes.append(Shape("dot", "point", across(rate.value), y, text=said, colour=colour))
            y += step
        y += 2
    lines = [
        Shape("path", look, d=f"M{across(value):.1f} 4V{y:.1f}")
        for look, value in (("nominal", level), ("goal", level + SLACK), ("axis", 0))
    ]
    ticks = [Shape("text", "tick middle", across(part * right), y + 14, text=percent(part * right)) for part in (0, 1)]
    ticks.append(Shape("text", "tick middle", across(level), y + 14, text=percent(level)))
    said = (
        f"Rates of false positives under the null hypothesis “{name}”, by documents; the table below has all numbers."
    )
    return Chart(name, said, y + 20, (*lines, *shapes, *ticks))


def coverage_charts(coverage: Sequence[Coverage]) -> list[Chart]:
    """Return one panel a quantity: how often its 95 % intervals hold the true value, by size."""
    values = [rate.value for row in coverage for _, rate in row.cells]
    least = min(0.9, math.floor(20 * min(values, default=1)) / 20)
    return [
        _coverage_chart(name, [row for row in coverage if row.quantity == name], least)
        for name in dict.fromkeys(row.quantity for row in coverage)
    ]


def _coverage_chart(quantity: str, rows: Sequence[Coverage], least: float) -> Chart:
    height, bottom = 220.0, 40
    documents = sorted({row.documents for row in rows})
    at, up = _by_size(documents), _linear((least, 1), (height - bottom, TOP))
    (low, high), end = COVERAGE_GOAL, WIDTH - RIGHT
    band = f"M{LEFT} {up(low):.1f}H{end}V{up(high):.1f}H{LEFT}z"
    shapes = [Shape("path", "goalband", d=band), *_frame_y(_steps(least), up)]
    shapes.append(Shape("path", "nominal", d=f"M{LEFT} {up(0.95):.1f}H{end}"))
    for size in documents:
        shapes += _tick(at(size), height - bottom, count(size))
    shapes.append(Shape("text", "name middle", (LEFT + end) / 2, height - 6, text="documents"))
    for row in rows:
        for cell, rate in row.cells:
            text = f"{cell.role}, true margin {signed(cell.true_margin)}, {row.documents} documents: {rate} %"
            shapes.append(Shape("dot", "cell", at(row.documents), up(rate.value), text=text))
    curve = _curve([(at(row.documents), row.pooled) for row in rows], up, "found")
    shapes += [replace_colour(shape, "var(--right)") for shape in curve]
    for row in rows:
        text = f"all cells, {row.documents} documents: {row.pooled} %"
        shapes.append(Shape("dot", "point", at(row.documents), up(row.pooled.value), text=text, colour="var(--right)"))
    said = (
        f"Share of 95 % intervals of the {quantity} that hold the true value, by documents; numbers are in the table."
    )
    return Chart(quantity, said, height, tuple(shapes))


def replace_colour(shape: Shape, colour: str) -> Shape:
    """Return the shape in another colour."""
    return Shape(shape.kind, shape.look, shape.x, shape.y, shape.d, shape.text, colour)


def _curve(points: Sequence[tuple[float, Rate]], up: Scale, look: str) -> list[Shape]:
    """Return the band of the Monte-Carlo intervals and the line in it; a single point has a bar."""
    known = [(x, rate) for x, rate in points if rate.known]
    if len(known) == 1:
        ((x, rate),) = known
        return [Shape("path", "reach", d=f"M{x:.1f} {up(rate.low):.1f}V{up(rate.high):.1f}")]
    there = [f"{x:.1f} {up(rate.high):.1f}" for x, rate in known]
    back = [f"{x:.1f} {up(rate.low):.1f}" for x, rate in reversed(known)]
    line = [f"{x:.1f} {up(rate.value):.1f}" for x, rate in known]
    if not known:
        return []
    band = Shape("path", "band", d=f"M{'L'.join(there + back)}z")
    return [band, Shape("path", f"curve {look}", d=f"M{'L'.join(line)}")]


def _by_size(documents: Sequence[int]) -> Scale:
    """Return the place of a size on a logarithmic axis; a single size is in the middle."""
    inner = (LEFT + 14, WIDTH - RIGHT - 14)
    if len(documents) < 2:
        return lambda _: sum(inner) / 2
    along = _linear((math.log(documents[0]), math.log(documents[-1])), inner)
    return lambda size: along(math.log(size))


def _linear(numbers: tuple[float, float], places: tuple[float, float]) -> Scale:
    return lambda value: places[0] + (value - numbers[0]) / (numbers[1] - numbers[0]) * (places[1] - places[0])


def _steps(least: float) -> list[float]:
    """Return where an axis of coverage has its ticks."""
    step = 0.05 if least >= 0.8 else 0.1 if least >= 0.5 else 0.25
    return [1 - step * number for number in range(int((1 - least) / step + 1e-9) + 1)]


def _frame_y(values: Iterable[float], up: Scale) -> list[Shape]:
    """Return grid lines with their percentages at the left."""
    shapes = []
    for value in values:
        shapes.append(Shape("path", "axis", d=f"M{LEFT} {up(value):.1f}H{WIDTH - RIGHT}"))
        shapes.append(Shape("text", "tick end", LEFT - 6, up(value) + 3.5, text=f"{100 * value:.0f}"))
    return shapes


def _tick(x: float, floor: float, *lines: str) -> list[Shape]:
    """Return the lines of a tick below the axis."""
    return [Shape("text", "tick middle", x, floor + 14 + 12 * number, text=text) for number, text in enumerate(lines)]
