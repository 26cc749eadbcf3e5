"""Figures of findings as shapes for inline SVG, one panel a model, in the colours of the page."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from reports.charts import COLOURS
from reports.claims_charts import Axis, Scale, marked
from reports.formats import decimal
from reports.sandbox_charts import Chart, Key, Shape

WIDTH, LEFT, RIGHT, TOP, TALL = 420, 52, 16, 10, 200


@dataclass(frozen=True)
class Curve:
    """One series of a figure."""

    name: str
    points: tuple[tuple[float, float, float, float], ...]
    "x, y and the ends of y's interval, which are y where there is none."
    colour: str


def curves(figure: Mapping[str, Any]) -> list[Curve]:
    """Return the series of a figure with their colours; points without a value are left out."""
    found = []
    for place, (name, points) in enumerate(figure["series"].items()):
        known = [point for point in points if None not in point[:2]]
        full = tuple(
            (
                point[0],
                point[1],
                *((point[2], point[3]) if len(point) > 3 and None not in point else (point[1], point[1])),
            )
            for point in known
        )
        found.append(Curve(name, full, COLOURS[place % len(COLOURS)]))
    return found


def axes_of(figure: Mapping[str, Any]) -> tuple[Axis, Axis]:
    """Return the axes over x and y; the level that a figure is compared with is among y."""
    points = [point for curve in curves(figure) for point in curve.points]
    level = [] if figure["level"] is None else [figure["level"]]
    across = [point[0] for point in points] or [0.0, 1.0]
    bars = [0.0] if figure["kind"] == "bars" else []
    up = [*(end for point in points for end in point[1:]), *level, *bars]
    if figure["names"]:
        return Axis(-0.6, len(figure["names"]) - 0.4, log=False), Axis.over(up, log=False)
    return Axis.over(across, log=False), Axis.over(up, log=False)


def finding_chart(figure: Mapping[str, Any], model: str) -> Chart:
    """Return the panel of one model."""
    return _matrix(figure, model) if figure["kind"] == "matrix" else _plot(figure, model)


def _plot(figure: Mapping[str, Any], model: str) -> Chart:
    along, upward = axes_of(figure)
    bottom = TOP + TALL

    def across(value: float) -> float:
        return LEFT + (WIDTH - LEFT - RIGHT) * along.part(value)

    def up(value: float) -> float:
        return bottom - TALL * upward.part(value)

    shapes = []
    for mark in upward.marks():
        shapes.append(Shape("path", "axis", d=f"M{LEFT} {up(mark):.1f}H{WIDTH - RIGHT}"))
        shapes.append(Shape("text", "tick end", LEFT - 6, up(mark) + 3.5, text=marked(mark, "")))
    named: list[tuple[float, str]] = [(place, str(name)) for place, name in enumerate(figure["names"])]
    places = named or [(mark, marked(mark, "")) for mark in along.marks()]
    for place, name in places:
        shapes.append(Shape("text", "tick middle", across(place), bottom + 16, text=name))
    shapes.append(Shape("text", "name middle", (LEFT + WIDTH - RIGHT) / 2, bottom + 33, text=figure["across"]))
    if figure["level"] is not None:
        shapes.append(Shape("path", "goal", d=f"M{LEFT} {up(figure['level']):.1f}H{WIDTH - RIGHT}"))
    several = curves(figure)
    for number, curve in enumerate(several):
        aside = (number - (len(several) - 1) / 2) * 7 if figure["kind"] == "bars" else 0.0
        shapes += _drawn(curve, figure, across, up, aside)
    keys = [Key(curve.name, "found", curve.colour) for curve in several]
    if figure["level"] is not None and figure["level_name"]:
        keys.append(Key(figure["level_name"], "unfound", "var(--wrong)"))
    said = f"{figure['up']} over {figure['across']}, {model}; the table beside has the numbers that decide."
    title = f"{figure['title']}: {model} ({figure['up']})"
    return Chart(title, said, bottom + 40, tuple(shapes), tuple(keys), WIDTH, "series")


def _drawn(curve: Curve, figure: Mapping[str, Any], along: Scale, up: Scale, aside: float) -> list[Shape]:
    """Return the shapes of a series; bars of several series stand `aside` of each other."""
    shapes = []

    def across(x: float) -> float:
        return along(x) + aside

    for x, y, low, high in curve.points:
        if low < high:
            shapes.append(
                Shape("path", "reach", d=f"M{across(x):.1f} {up(high):.1f}V{up(low):.1f}", colour=curve.colour)
            )
        if figure["kind"] == "bars":
            shapes.append(Shape("path", "reach", d=f"M{across(x):.1f} {up(0):.1f}V{up(y):.1f}", colour=curve.colour))
    if figure["kind"] == "lines" and len(curve.points) > 1:
        line = "L".join(f"{across(x):.1f} {up(y):.1f}" for x, y, _, _ in curve.points)
        shapes.append(Shape("path", "curve", d=f"M{line}", colour=curve.colour))
    for x, y, low, high in curve.points:
        said = f"{curve.name}: {y:.3g}" + (f" [{low:.3g}, {high:.3g}]" if low < high else "")
        shapes.append(Shape("dot", "point", across(x), up(y), text=said, colour=curve.colour))
    return shapes


def scale_of(matrix: Sequence[Sequence[float | None]]) -> tuple[float, float]:
    """Return the least and the largest number of a matrix."""
    known = [value for row in matrix for value in row if value is not None]
    return (min(known), max(known)) if known else (0.0, 1.0)


def _matrix(figure: Mapping[str, Any], model: str) -> Chart:
    rows, columns = len(figure["matrix"]), max((len(row) for row in figure["matrix"]), default=0)
    cell = min(34.0, (WIDTH - LEFT - RIGHT) / max(columns, 1))
    low, high = scale_of(figure["matrix"])
    shapes = []
    for y, row in enumerate(figure["matrix"]):
        shapes.append(Shape("text", "tick end", LEFT - 6, TOP + cell * (y + 0.62), text=str(y + 1)))
        for x, value in enumerate(row):
            if value is None:
                continue
            share = 0 if high == low else (value - low) / (high - low)
            colour = f"color-mix(in oklab,var(--ramp2) {round(100 * share)}%,var(--ramp1))"
            at, top = LEFT + cell * x, TOP + cell * y
            shapes.append(
                Shape(
                    "path",
                    "block",
                    d=f"M{at:.1f} {top:.1f}h{cell - 1:.1f}v{cell - 1:.1f}h{1 - cell:.1f}z",
                    colour=colour,
                )
            )
            if cell > 22 and math.isfinite(value):
                shapes.append(Shape("text", "tick middle", at + cell / 2, top + cell * 0.62, text=decimal(value)))
    for x in range(columns):
        name = figure["names"][x] if x < len(figure["names"]) else str(x + 1)
        shapes.append(Shape("text", "tick middle", LEFT + cell * (x + 0.5), TOP + cell * rows + 15, text=name))
    bottom = TOP + cell * rows + 33
    shapes.append(Shape("text", "name middle", LEFT + cell * columns / 2, bottom, text=figure["across"]))
    said = f"{figure['title']}: rows are {figure['up']}, columns {figure['across']}."
    return Chart(f"{figure['title']}: {model}", said, bottom + 8, tuple(shapes), (), WIDTH)
