"""Charts of pages: specifications that hold the numbers, axes that fit them, and what a page needs to draw them."""

import json
import math
from typing import Any

import altair as alt
import pytest

from reports.drawing.charts import COLOURS, Axis, Chart, SeriesStyle, curves, scaled, series_styles, vega
from reports.templates.environment import embedded

ROWS = [
    {"x": 1, "y": 0.5, "low": 0.4, "high": 0.6, "series": "one", "text": "one: 0.5"},
    {"x": 2, "y": 0.7, "low": 0.6, "high": 0.8, "series": "one", "text": "one: 0.7"},
    {"x": 1, "y": 0.2, "low": 0.1, "high": 0.3, "series": "<other>", "text": "</script><b>"},
    {"x": 2, "y": None, "low": None, "high": None, "series": "<other>", "text": "nothing"},
]


def spec() -> dict[str, Any]:
    shown = {"one": SeriesStyle("var(--right)"), "<other>": SeriesStyle("var(--wrong)", dashed=True)}
    drawn = curves(ROWS, shown, alt.X("x:Q"), alt.Y("y:Q").scale(domain=[0.1, 0.9]))
    return Chart("title", "said", drawn.properties(height=120)).spec


def test_curves_hold_every_row_with_a_band_or_a_bar():
    found = spec()
    shared = found.get("data", {})
    layers = [(layer["mark"]["type"], layer.get("data", shared)["values"]) for layer in found["layer"]]
    assert layers == [("area", ROWS[:2]), ("rule", ROWS[2:3]), ("line", ROWS), ("circle", ROWS)]
    assert [layer["encoding"]["y"]["field"] for layer in found["layer"]] == ["low", "low", "y", "y"]
    assert all(layer["encoding"]["y"]["scale"] == {"domain": [0.1, 0.9]} for layer in found["layer"])
    line = found["layer"][2]["encoding"]
    assert line["color"]["scale"] == {"domain": ["one", "<other>"], "range": ["var(--right)", "var(--wrong)"]}
    assert line["strokeDash"]["scale"]["range"] == [[1, 0], [5, 3]]


def test_an_axis_has_room_on_both_sides():
    even, power = Axis.over([10, 20, math.nan], log=False), Axis.over([1, 100], log=True)
    assert (power.log, Axis.over([0, 100], log=True).log) == (True, False)
    assert (even.low, even.high) == pytest.approx((9.3, 20.7))
    assert (power.low, power.high) == pytest.approx((100**-0.06, 100**1.06))
    alike = [Axis.over(values, log=False) for values in ([3, 3], [0, 0], [math.nan], [])]
    assert all(axis.low < axis.high for axis in alike)


def test_marks_are_round_and_few():
    assert Axis.over([1, 1e9], log=True).marks() == [1, 100, 1e4, 1e6, 1e8]
    assert Axis(2, 9, log=True).marks() == [2, 5]
    assert Axis(0.07, 0.43, log=False).marks() == [0.1, 0.2, 0.3, 0.4]
    found = scaled(alt.X("x:Q"), Axis(0.5, 200, log=True), grid=True).to_dict()
    assert found["scale"] == {"domain": [0.5, 200], "nice": False, "type": "log"}
    assert found["axis"] == {"format": ",.6~g", "grid": True, "values": [1, 10, 100]}


def test_a_specification_cannot_end_its_script_and_is_the_same_each_time():
    written = str(embedded(spec()))
    assert "<" not in written
    assert json.loads(written) == spec()
    assert str(embedded(spec())) == written


def test_a_chart_that_is_no_vega_lite_is_refused_in_tests():
    drawn = alt.Chart(alt.Data(values=[])).mark_line().encode(alt.X("x:Q")).properties(height=120)  # type: ignore[no-untyped-call]
    drawn.encoding.x._kwds["axis"] = {"colour": "red"}
    with pytest.raises(alt.utils.schemapi.SchemaValidationError, match="colour"):
        _ = Chart("title", "said", drawn).spec


def test_series_beyond_the_colours_are_dashed():
    found = series_styles([str(number) for number in range(10)])
    assert [look.dashed for look in found.values()] == [False] * 8 + [True] * 2
    assert len({look.colour for look in found.values()}) == 8
    assert found["8"].colour == found["0"].colour == COLOURS[0]


def test_vega_is_one_script_under_a_megabyte_that_says_whose_it_is():
    script = str(vega())
    assert len(script.encode()) < 1_000_000
    assert script.startswith("/*! Vega ")
    assert "BSD 3-Clause" in script.partition("\n")[0]
    assert "</script" not in script.lower()
