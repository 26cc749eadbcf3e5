"""Charts of the sandbox: the specifications hold the numbers of the record, in percent, where they belong."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from reports.drawing.charts import Chart, SeriesStyle
from reports.sandbox.charts import coverage_charts, false_charts, margin_styles, power_charts
from reports.sandbox.page import write_sandbox_page
from reports.sandbox.record import Coverage, FalseFinds, Power, Rate
from tests.reports.sandboxes import small_record

UNKNOWN = Rate()


def cell(
    margin: float,
    documents: int,
    found: Rate,
    true_margin: float | None = None,
    role: str = "walker",
    grade: int = 1,
    words: float = 7.3,
) -> Power:
    true = margin + 0.004 if true_margin is None else true_margin
    return Power(role, grade, margin, true, documents, words * documents, 1000, found, {})


def layers(spec: dict[str, Any]) -> Iterator[dict[str, Any]]:
    for layer in spec.get("layer", [spec]):
        yield from layers(layer) if "layer" in layer else [layer]


def layer(chart: Chart, mark: str, place: int = 0) -> dict[str, Any]:
    return [one for one in layers(chart.spec) if one["mark"]["type"] == mark][place]


def data(chart: Chart, mark: str, *columns: str, place: int = 0) -> list[tuple[Any, ...]]:
    """Return columns of the data of a layer, numbers to a tenth of a percent."""
    rows = layer(chart, mark, place)["data"]["values"]
    return [
        tuple(round(row[name], 1) if isinstance(row[name], float) else row[name] for name in columns) for row in rows
    ]


def labels(axis: dict[str, Any]) -> dict[str, Any]:
    """Return what is written at the values of an axis."""
    expression = axis["labelExpr"].removeprefix("(").removesuffix(")[datum.value]")
    written: dict[str, Any] = json.loads(expression)
    assert [float(place) for place in written] == axis["values"]
    return written


GRID = [
    cell(0.1, 20, Rate(0.411, 0.38, 0.44)),
    cell(0.1, 80, Rate(0.487, 0.45, 0.52)),
    cell(0.2, 20, Rate(0.733, 0.7, 0.76)),
    cell(0.2, 80, Rate(0.989, 0.98, 0.994)),
]


def test_lines_of_power_hold_every_rate_with_its_band():
    (chart,) = power_charts(GRID, 0.1)
    assert data(chart, "line", "series", "documents", "value") == [
        ("+10.4", 20, 41.1), ("+10.4", 80, 48.7), ("+20.4", 20, 73.3), ("+20.4", 80, 98.9),
    ]  # fmt: skip
    assert data(chart, "area", "documents", "low", "high") == [(20, 38, 44), (80, 45, 52)]
    assert data(chart, "area", "documents", "low", "high", place=1) == [(20, 70, 76), (80, 98, 99.4)]
    told = data(chart, "circle", "text")
    assert told[1] == ("true lead +10.4, 80 documents: grade 1 in 48.7 [45.0, 52.0] % of runs",)
    encoding = layer(chart, "line")["encoding"]
    assert encoding["color"]["scale"]["domain"] == ["+10.4", "+20.4"]
    assert encoding["strokeDash"]["scale"]["range"] == [[5, 3], [1, 0]]
    assert encoding["y"]["scale"]["domain"] == [0, 100]
    assert "“walker”" in chart.description


def test_sizes_are_on_a_logarithmic_axis_with_the_mean_of_scored_words_below():
    more = [cell(0.2, 1200, Rate(1, 0.99, 1)), cell(0.3, 20, GRID[0].graded, words=7.4)]
    x = layer(power_charts([*GRID, *more], 0.1)[0], "line")["encoding"]["x"]
    assert x["scale"]["type"] == "log"
    # 146, 146 and 148 words at 20 documents
    assert labels(x["axis"]) == {"20": ["20", "147"], "80": ["80", "584"], "1200": ["1,200", "8,760"]}


def test_a_role_has_its_own_panel_and_what_was_not_measured_has_no_dot():
    other = [cell(0.2, 80, Rate(0.5, 0.4, 0.6), role="runner"), cell(0.3, 80, UNKNOWN, role="runner")]
    unknown = cell(0.2, 80, UNKNOWN, role="nobody")
    walker, runner = power_charts([*GRID, *other, unknown], 0.1)
    assert [chart.title for chart in (walker, runner)] == [
        f"{x}, beyond position and controls" for x in ("walker", "runner")
    ]
    assert data(runner, "circle", "series", "value") == [("+20.4", 50)]
    colours = [layer(chart, "line")["encoding"]["color"]["scale"] for chart in (walker, runner)]
    assert colours[0]["range"][1] == colours[1]["range"][0], "a margin looks the same in all panels"
    assert colours[1]["domain"] == ["+20.4"]


def test_margins_not_above_the_threshold_are_dashed_oranges_and_others_blues():
    looks = margin_styles([0.0, 0.1, 0.1 + 1e-12, 0.15, 0.3], 0.1)
    assert [look.dashed for look in looks.values()] == [True, True, True, False, False]
    assert looks[0.3] == SeriesStyle("color-mix(in oklab,var(--ramp2) 100%,var(--ramp1))")
    assert looks[0.15] == SeriesStyle("color-mix(in oklab,var(--ramp2) 50%,var(--ramp1))")
    assert looks[0.0] == SeriesStyle("color-mix(in oklab,var(--wrong) 33%,var(--other))", dashed=True)


def finds(where: str, documents: int, **rates: Rate) -> FalseFinds:
    return FalseFinds(where, documents, 1000, 24, 12, rates)


NULLS = [
    finds("random", 25, head=Rate(0.002, 0.001, 0.003), label=Rate(0.004, 0.003, 0.005)),
    finds("random", 1000, head=Rate(0.051, 0.04, 0.062), label=UNKNOWN),
    finds("decoys", 25, label=Rate(0.1, 0.08, 0.121)),
]


def test_rates_of_false_positives_stand_in_their_rows_with_their_intervals():
    random, decoys = false_charts(NULLS, 0.05)
    assert data(random, "circle", "place", "documents", "value") == [(1, "25", 0.2), (2, "1,000", 5.1), (5, "25", 0.4)]
    assert data(random, "rule", "place", "low", "high", place=2) == [(1, 0.1, 0.3), (2, 4.0, 6.2), (5, 0.3, 0.5)]
    assert data(random, "text", "place", "rate") == [(0, "head"), (4, "label")]
    assert data(random, "circle", "text")[1] == ("head, 1,000 documents: 5.1 [4.0, 6.2] %",)
    y = layer(random, "circle")["encoding"]["y"]
    assert labels(y["axis"]) == {"1": "25", "2": "1,000", "5": "25", "6": "1,000"}
    assert y["scale"]["domain"] == [6.5, -0.5], "the first row is at the top"
    assert random.height == 13 * 7
    assert data(decoys, "circle", "place", "value") == [(1, 10)]


def test_rates_share_an_axis_with_the_nominal_level_and_the_goal():
    charts = false_charts(NULLS, 0.05)
    for chart in charts:
        x = layer(chart, "circle")["encoding"]["x"]
        # the highest bound is 12.1 %
        assert x["scale"]["domain"] == pytest.approx([0, 15])
        assert x["axis"]["values"] == pytest.approx([0, 5, 15])
        assert data(chart, "rule", "at", "text") == [(5, "nominal level: 5.0 %")]
        assert data(chart, "rule", "at", "text", place=1) == [(6.4, "goal: at most 6.4 %")]
        assert [("strokeDash" in layer(chart, "rule", place)["mark"]) for place in (0, 1)] == [False, True]
    (low,) = false_charts(NULLS[:1], 0.05)
    assert layer(low, "circle")["encoding"]["x"]["scale"]["domain"] == [0, 10], "twice the level at the least"


def covered(documents: int, pooled: Rate, *cells: float) -> Coverage:
    held = tuple((cell(0.2, documents, UNKNOWN), Rate(value, value - 0.01, value + 0.01)) for value in cells)
    return Coverage("mass", documents, 1000, pooled, held)


def test_coverage_has_its_cells_their_mean_and_the_goal():
    rows = [covered(20, Rate(0.94, 0.92, 0.955), 0.93, 0.95), covered(80, Rate(0.96, 0.945, 0.97), 0.96)]
    (chart,) = coverage_charts(rows)
    assert chart.title == "mass"
    assert data(chart, "circle", "documents", "value") == [(20, 93), (20, 95), (80, 96)]
    assert data(chart, "circle", "text")[2] == ("walker, grade 1, true lead +20.4, 80 documents: 96.0 [95.0, 97.0] %",)
    assert data(chart, "line", "documents", "value") == [(20, 94), (80, 96)]
    assert data(chart, "area", "documents", "low", "high") == [(20, 92, 95.5), (80, 94.5, 97)]
    assert data(chart, "circle", "text", place=1)[0] == ("all cells, 20 documents: 94.0 [92.0, 95.5] %",)
    assert data(chart, "rect", "low", "high") == [(93, 97)]
    assert data(chart, "rule", "at") == [(95,)]
    y = layer(chart, "line")["encoding"]["y"]
    assert (y["scale"]["domain"], y["axis"]["values"]) == ([90, 100], [100, 95, 90])
    assert labels(layer(chart, "line")["encoding"]["x"]["axis"]) == {"20": ["20"], "80": ["80"]}


@pytest.mark.slow
def test_a_browser_draws_every_chart_in_the_colours_of_the_page(opened: Any, tmp_path: Path):
    (tmp_path / "sandbox.json").write_text(json.dumps(small_record()))
    page = opened(write_sandbox_page(tmp_path), width=390)
    charts = page.locator("[data-chart]")
    assert charts.count() == 3 + 2 + 3
    for chart in charts.all():
        chart.scroll_into_view_if_needed()
        chart.locator("svg").wait_for()
    walker, _, _, random, decoys, accuracy = charts.all()[:6]
    assert walker.locator("tspan").all_text_contents() == ["20", "146", "80", "584"]
    assert walker.locator(".role-legend-label text").all_text_contents() == ["+10.4", "+20.4"]
    dashes = [line.get_attribute("stroke-dasharray") for line in walker.locator(".mark-line.role-mark path").all()]
    assert dashes == ["5,3", "1,0"]
    assert walker.locator(".mark-area.role-mark path").count() == 2
    assert [one.locator(".mark-symbol.role-mark path").count() for one in (walker, random, accuracy)] == [
        4,
        4,
        8 + 2 + 2,
    ]
    assert random.locator(".role-axis-label text").all_text_contents().count("25") == 4
    assert (
        page.get_by_role("img", name="walker, beyond words. Share of runs in which the head for “walker” has").count()
        == 1
    )
    decoys.locator(".mark-symbol.role-mark path").first.hover()
    page.locator("#chart-told.visible").wait_for()
    assert page.locator("#chart-told").inner_text() == "per head, uncorrected, 25 documents: 1.1 [0.1, 2.1] %"
    found = walker.locator(".mark-line.role-mark path").last
    light = found.evaluate("(line) => getComputedStyle(line).stroke")
    assert light != "none"
    page.emulate_media(color_scheme="dark")
    assert found.evaluate("(line) => getComputedStyle(line).stroke") not in ("none", light)
