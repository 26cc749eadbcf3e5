"""Charts of claims: the specifications hold the numbers of the record where they belong."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

from reports.claims.charts import claim_charts
from reports.claims.record import ConditionMean, Number, RecordedMeasure
from reports.drawing.charts import Chart

NAN = math.nan


def number(value: float, half: float = NAN, unit: str = "µs") -> Number:
    return Number(value, value - half, value + half, 5, unit)


def timed(*cells: ConditionMean, unit: str = "µs") -> RecordedMeasure:
    return RecordedMeasure("time a token", unit, "round", "length", cells, ())


def chart_of(measure: RecordedMeasure) -> Chart:
    (chart,) = claim_charts([measure])
    return chart


def marks(spec: dict[str, Any]) -> Iterator[tuple[str, list[dict[str, Any]], dict[str, Any]]]:
    """Yield the mark, the data and the encoding of each layer."""
    shared = spec.get("data", {})
    for layer in spec["layer"]:
        yield layer["mark"]["type"], layer.get("data", shared)["values"], layer["encoding"]


LINES = timed(
    ConditionMean("a", 16, number(1.5, 0.1)),
    ConditionMean("a", 64, number(2.5, 0.5)),
    ConditionMean("a", 256, number(9.0)),
    ConditionMean("b", 16, number(3.0, 0.0)),
    ConditionMean("b", 64, number(NAN)),
    ConditionMean("b", 256, number(4.0, 0.25)),
)


def test_lines_have_a_band_a_lone_interval_a_bar_and_what_is_missing_is_left_out() -> None:
    band, bar, line, dots = marks(chart_of(LINES).spec)
    assert band[0] == "area"
    assert [(row["at"], row["low"], row["high"]) for row in band[1]] == [(16, 1.4, 1.6), (64, 2, 3)]
    assert bar[0] == "rule"
    assert [(row["series"], row["at"], row["low"], row["high"]) for row in bar[1]] == [("b", 256, 3.75, 4.25)]
    shown = [("a", 16, 1.5), ("a", 64, 2.5), ("a", 256, 9.0), ("b", 16, 3.0), ("b", 256, 4.0)]
    assert [(row["series"], row["at"], row["value"]) for row in line[1]] == shown
    assert dots[1] == line[1]
    assert [row["text"] for row in dots[1]][:3] == [
        "a, length 16: 1.50 µs [1.40, 1.60]",
        "a, length 64: 2.5 µs [2.0, 3.0]",
        "a, length 256: 9 µs",
    ]


def test_lines_lie_on_the_axes_that_their_numbers_ask_for() -> None:
    encoding = next(marks(chart_of(LINES).spec))[2]
    assert (encoding["x"]["scale"]["type"], encoding["y"]["scale"]["type"]) == ("log", "linear")
    assert encoding["x"]["axis"]["values"] == [16, 64, 256]
    assert encoding["x"]["title"] == "length"
    low, high = encoding["y"]["scale"]["domain"]
    assert low < 1.4
    assert high > 9
    wide = timed(ConditionMean("a", 1, number(1)), ConditionMean("a", 4, number(30)))
    encoding = next(marks(chart_of(wide).spec))[2]
    assert (encoding["x"]["scale"]["type"], encoding["y"]["scale"]["type"]) == ("linear", "log")


def test_fractions_are_shown_in_percent() -> None:
    for unit in ("%", "points"):
        cells = (ConditionMean("a", 1, number(0.25, 0.05, unit)), ConditionMean("a", 2, number(0.75, 0.125, unit)))
        band, line, _ = marks(chart_of(timed(*cells, unit=unit)).spec)
        assert [row["value"] for row in line[1]] == [25, 75]
        assert [(row["low"], row["high"]) for row in band[1]] == [(20, 30), (62.5, 87.5)]
        assert line[2]["y"]["axis"]["values"] == [20, 40, 60, 80]


def test_conditions_without_an_axis_have_rows_with_repeats_interval_and_mean() -> None:
    cells = (
        ConditionMean("one head", None, number(0.75, 0.1, "%")),
        ConditionMean("alone", None, number(0.5, unit="%")),
        ConditionMean("gone", None, number(NAN)),
    )
    repeats = (("one head", None, 0.7), ("one head", None, 0.8), ("one head", None, NAN), ("alone", None, 0.5))
    chart = chart_of(RecordedMeasure("accuracy", "%", "seed", "", cells, repeats))
    halo, names, singles, interval, means = marks(chart.spec)
    assert [mark for mark, *_ in (halo, names, singles, interval, means)] == [
        "text",
        "text",
        "circle",
        "rule",
        "circle",
    ]
    assert [row["series"] for row in names[1]] == ["one head", "alone", "gone"]
    assert [row["value"] for row in singles[1]] == [70, 80], "a repeat alone is the mean"
    assert singles[1][0]["text"] == "one head: 70.0 %"
    assert [(row["series"], row["low"], row["high"]) for row in interval[1]] == [("one head", 65, 85)]
    assert [(row["series"], row["value"]) for row in means[1]] == [("one head", 75), ("alone", 50)]
    assert means[1][0]["text"] == "one head: 75.0 % [65.0, 85.0]"
    assert (interval[2]["x"]["field"], interval[2]["x2"]["field"]) == ("low", "high")
    assert means[2]["y"]["scale"]["domain"] == ["one head", "alone", "gone"]
    assert chart.height == 3 * 34
    assert "grey dots are single seeds" in chart.description


def test_a_measure_without_cells_has_no_chart() -> None:
    assert claim_charts([timed(), LINES])[0].title == "Time a token (µs)"
    assert len(claim_charts([timed(), LINES])) == 1
