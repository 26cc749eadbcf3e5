"""Charts of claims as shapes for inline SVG, which take the colours of the page in light and dark."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from reports.charts import COLOURS
from reports.claims_record import Cell, Measure, written
from reports.formats import count
from reports.sandbox_charts import Chart, Key, Shape

WIDTH, LEFT, RIGHT, TOP, TALL = 420, 58, 16, 10, 190

Scale = Callable[[float], float]


@dataclass(frozen=True)
class Axis:
    """Where numbers lie on an axis: evenly, or by their logarithms where they span more than a factor of 20."""

    low: float
    high: float
    log: bool

    @classmethod
    def over(cls, values: Sequence[float], *, log: bool | None = None) -> Axis:
        """Return the axis that shows all of `values`, with some room."""
        known = [value for value in values if math.isfinite(value)] or [0.0, 1.0]
        low, high = min(known), max(known)
        logarithmic = low > 0 and high / low > 20 if log is None else log and low > 0
        if logarithmic:
            room = (high / low) ** 0.06 if high > low else 1.1
            return cls(low / room, high * room, True)
        gap = 0.07 * (high - low) or 0.05 * (abs(high) or 1)
        return cls(low - gap, high + gap, False)

    def part(self, value: float) -> float:
        """Return where a number lies between both ends, in [0, 1]."""
        low, high, at = (math.log(one) if self.log else one for one in (self.low, self.high, value))
        return (at - low) / (high - low)

    def marks(self) -> list[float]:
        """Return a few round numbers on the axis."""
        if not self.log:
            return _marks(self.low, self.high)
        powers = range(math.ceil(math.log10(self.low)), math.floor(math.log10(self.high)) + 1)
        every = [10.0**power for power in powers]
        if len(every) >= 2:
            return every[:: -(-len(every) // 6)]
        steps = [part * 10.0**power for power in range(powers.start - 1, powers.stop) for part in (1, 2, 5)]
        return [step for step in steps if self.low <= step <= self.high]


def colours(measure: Measure) -> dict[str, tuple[str, bool]]:
    """Return the colour of every condition, and whether its line is dashed."""
    return {
        condition: (COLOURS[place % len(COLOURS)], place >= len(COLOURS))
        for place, condition in enumerate(measure.conditions)
    }


def values_of(measure: Measure) -> list[float]:
    """Return every number that a chart of the measure shows."""
    ends = [end for cell in measure.cells for end in (cell.number.value, cell.number.low, cell.number.high)]
    return [*ends, *(value for _, at, value in measure.rows if at is None)]


def claim_charts(measures: Sequence[Measure]) -> list[Chart]:
    """Return one chart a measure: lines over its axis, or one row a condition where it has none."""
    return [_lines(one) if one.axis else _rows(one) for one in measures if one.cells]


def _said(cell: Cell, measure: Measure) -> str:
    where = "" if cell.at is None else f", {measure.axis} {count(_whole(cell.at))}"
    number = " ".join(filter(None, (cell.number.shown, measure.unit, cell.number.interval)))
    return f"{cell.condition}{where}: {number}"


def _whole(number: float) -> object:
    return int(number) if number == int(number) else f"{number:g}"


def _lines(measure: Measure) -> Chart:
    places = sorted({cell.at for cell in measure.cells if cell.at is not None})
    along = Axis.over(places, log=places[0] > 0 and places[-1] / places[0] >= 8)
    upward, bottom = Axis.over(values_of(measure)), TOP + TALL

    def across(at: float) -> float:
        return LEFT + (WIDTH - LEFT - RIGHT) * along.part(at)

    def up(value: float) -> float:
        return bottom - TALL * upward.part(value)

    shapes = []
    for mark in upward.marks():
        shapes.append(Shape("path", "axis", d=f"M{LEFT} {up(mark):.1f}H{WIDTH - RIGHT}"))
        shapes.append(Shape("text", "tick end", LEFT - 6, up(mark) + 3.5, text=marked(mark, measure.unit)))
    for place in places:
        shapes.append(Shape("text", "tick middle", across(place), bottom + 16, text=count(_whole(place))))
    shapes.append(Shape("text", "name middle", (LEFT + WIDTH - RIGHT) / 2, bottom + 33, text=measure.axis))
    keys = []
    for condition, (colour, dashed) in colours(measure).items():
        cells = [cell for cell in measure.cells if cell.condition == condition]
        shapes += _curve(cells, measure, across, up, colour, dashed)
        keys.append(Key(condition, "unfound" if dashed else "found", colour))
    said = f"{measure.name} over {measure.axis}; the table below has all numbers."
    return Chart(measure.title, said, bottom + 40, tuple(shapes), tuple(keys), WIDTH, "conditions")


def _curve(cells: Sequence[Cell], measure: Measure, across: Scale, up: Scale, colour: str, dashed: bool) -> list[Shape]:
    """Return the line of a condition with the band of its intervals, a bar where it has a single point."""
    known = [cell for cell in cells if cell.at is not None and not math.isnan(cell.number.value)]
    points = [(across(cell.at or 0), cell.number) for cell in known]
    sure = [(x, number) for x, number in points if number.known and number.low < number.high]
    shapes = []
    if len(sure) > 1:
        there = [f"{x:.1f} {up(number.high):.1f}" for x, number in sure]
        back = [f"{x:.1f} {up(number.low):.1f}" for x, number in reversed(sure)]
        shapes.append(Shape("path", "band", d=f"M{'L'.join(there + back)}z", colour=colour))
    elif sure:
        ((x, number),) = sure
        shapes.append(Shape("path", "reach", d=f"M{x:.1f} {up(number.high):.1f}V{up(number.low):.1f}", colour=colour))
    line = "L".join(f"{x:.1f} {up(number.value):.1f}" for x, number in points)
    shapes.append(Shape("path", "curve unfound" if dashed else "curve", d=f"M{line}", colour=colour))
    for cell, (x, number) in zip(known, points, strict=True):
        shapes.append(Shape("dot", "point", x, up(number.value), text=_said(cell, measure), colour=colour))
    return shapes


def _rows(measure: Measure) -> Chart:
    axis, step = Axis.over(values_of(measure)), 34
    bottom = TOP + step * len(measure.cells)

    def across(value: float) -> float:
        return 12 + (WIDTH - 24) * axis.part(value)

    shapes = []
    for mark in axis.marks():
        shapes.append(Shape("path", "axis", d=f"M{across(mark):.1f} {TOP}V{bottom}"))
        shapes.append(Shape("text", "tick middle", across(mark), bottom + 15, text=marked(mark, measure.unit)))
    for place, cell in enumerate(measure.cells):
        y, colour = TOP + step * place + 24, COLOURS[0]
        shapes.append(Shape("text", "name", 4, y - 12, text=cell.condition))
        singles = [value for condition, at, value in measure.rows if (condition, at) == (cell.condition, cell.at)]
        for value in singles if len(singles) > 1 else ():
            if math.isfinite(value):
                shapes.append(Shape("dot", "cell", across(value), y, text=written(value, measure.unit)))
        if cell.number.known:
            low, high = across(cell.number.low), across(cell.number.high)
            shapes.append(Shape("path", "reach", d=f"M{low:.1f} {y:.1f}H{high:.1f}", colour=colour))
        if not math.isnan(cell.number.value):
            at = across(cell.number.value), y
            shapes.append(Shape("dot", "point", *at, text=_said(cell, measure), colour=colour))
    said = f"{measure.name} by condition; grey dots are single {measure.repeat}s. The table below has all numbers."
    return Chart(measure.title, said, bottom + 22, tuple(shapes), (), WIDTH)


def marked(value: float, unit: str) -> str:
    """Write a round number on an axis; of fractions the percentage."""
    shown = 100 * value if unit in ("%", "points") else value
    text = f"{shown:,.0f}" if abs(shown) >= 1000 and shown == round(shown) else f"{shown:.4g}"
    return text.replace("-", "−")


def _marks(low: float, high: float) -> list[float]:
    """Return two to six round numbers between `low` and `high`."""
    step = 10 ** math.floor(math.log10(high - low))
    step = next(one for one in (step / 5, step / 2, step, 2 * step) if (high - low) / one <= 6)
    first = math.ceil(low / step)
    return [round(number * step, 10) for number in range(first, math.floor(high / step) + 1)]
