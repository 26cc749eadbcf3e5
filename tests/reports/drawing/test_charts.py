"""Charts of pages: specifications that hold the numbers, and what a page needs to draw them."""

import json
from typing import Any

import altair as alt
import pytest

from reports.drawing.charts import COLOURS, Chart, SeriesStyle, curves, series_styles, vega
from reports.templates.environment import embedded

ROWS = [
    {"x": 1, "y": 0.5, "low": 0.4, "high": 0.6, "series": "one", "text": "one: 0.5"},
    {"x": 2, "y": 0.7, "low": 0.6, "high": 0.8, "series": "one", "text": "one: 0.7"},
    {"x": 1, "y": 0.2, "low": 0.1, "high": 0.3, "series": "<other>", "text": "</script><b>"},
    {"x": 2, "y": None, "low": None, "high": None, "series": "<other>", "text": "nothing"},
]


@pytest.fixture
def chart() -> Chart:
    shown = {"one": SeriesStyle("var(--right)"), "<other>": SeriesStyle("var(--wrong)", dashed=True)}
    drawn = curves(ROWS, shown, *axes())
    return Chart("title", "said", drawn.properties(height=120))


def layers(spec: dict[str, Any]) -> list[tuple[str, list[dict[str, Any]]]]:
    """Return the mark and the data of each layer."""
    shared = spec.get("data", {})
    return [(layer["mark"]["type"], layer.get("data", shared)["values"]) for layer in spec["layer"]]


def test_curves_hold_every_row_with_a_band_or_a_bar(chart: Chart):
    assert layers(chart.spec) == [("area", ROWS[:2]), ("rule", ROWS[2:3]), ("line", ROWS), ("circle", ROWS)]
    fields = [layer["encoding"]["y"]["field"] for layer in chart.spec["layer"]]
    assert fields == ["low", "low", "y", "y"]
    assert all(layer["encoding"]["y"]["scale"] == {"domain": [0.1, 0.9]} for layer in chart.spec["layer"])
    line = chart.spec["layer"][2]["encoding"]
    assert line["color"]["scale"] == {"domain": ["one", "<other>"], "range": ["var(--right)", "var(--wrong)"]}
    assert line["strokeDash"]["scale"]["range"] == [[1, 0], [5, 3]]
    assert (chart.spec["width"], chart.height) == ("container", 120)


def test_a_specification_cannot_end_its_script_and_is_the_same_each_time(chart: Chart):
    written = str(embedded(chart.spec))
    assert "<" not in written
    assert json.loads(written) == chart.spec
    again = curves(
        ROWS, {"one": SeriesStyle("var(--right)"), "<other>": SeriesStyle("var(--wrong)", dashed=True)}, *axes()
    )
    assert str(embedded(Chart("title", "said", again.properties(height=120)).spec)) == written


def axes() -> tuple[alt.X, alt.Y]:
    return alt.X("x:Q"), alt.Y("y:Q").scale(domain=[0.1, 0.9])


def test_series_beyond_the_colours_are_dashed():
    found = series_styles([str(number) for number in range(8)])
    assert [look.dashed for look in found.values()] == [False] * 6 + [True] * 2
    assert found["6"].colour == found["0"].colour == COLOURS[0]


def test_vega_is_one_script_under_a_megabyte_that_says_whose_it_is():
    script = str(vega())
    assert len(script.encode()) < 1_000_000
    assert script.startswith("/*! Vega ")
    assert "BSD 3-Clause" in script.partition("\n")[0]
    assert "</script" not in script.lower()
    assert vega() is vega()
