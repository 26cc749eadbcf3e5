"""Figures as charts: the specifications hold their numbers where they belong."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import pytest

from reports.drawing.charts import COLOURS, Chart
from reports.statements.drawn import figure_chart
from reports.statements.figure import Figure

FIGURE: dict[str, Any] = {
    "kind": "lines",
    "title": "Entropy",
    "across": "layer",
    "up": "nats",
    "series": {"all": [[1, 2.0, 1.9, 2.1], [2, 1.5, 1.4, 1.6], [3, None]], "GPT-2": [[1, -1.0], [2, 0.5, None, 1.0]]},
    "names": [],
    "matrix": [],
    "level": None,
    "level_name": "",
}
BARS = FIGURE | {
    "kind": "bars",
    "names": ["a", "b"],
    "series": {"x": [[0, 1.0, 0.75, 1.25], [1, 2.0]], "y": [[0, 3.0]]},
}


def drawn(figure: dict[str, Any]) -> Chart:
    return figure_chart(Figure.of(figure), "minilm")


def marks(chart: Chart) -> list[tuple[str, list[dict[str, Any]], dict[str, Any]]]:
    """Return the mark, the data and the encoding of each layer."""

    def within(spec: dict[str, Any], data: list[dict[str, Any]]) -> Iterator[Any]:
        data = spec.get("data", {"values": data})["values"]
        if "layer" not in spec:
            yield spec["mark"]["type"], data, spec["encoding"]
        for layer in spec.get("layer", ()):
            yield from within(layer, data)

    return list(within(chart.spec, []))


def of(chart: Chart, mark: str) -> tuple[list[dict[str, Any]], dict[str, Any]]:
    return next((data, encoding) for found, data, encoding in marks(chart) if found == mark)


def entries(encoding: dict[str, Any]) -> list[tuple[str, str]]:
    scale = encoding["color"]["scale"]
    return list(zip(scale["domain"], scale["range"], strict=True))


def test_lines_have_bands_and_dots_that_tell_their_numbers() -> None:
    chart = drawn(FIGURE)
    assert [mark for mark, *_ in marks(chart)] == ["area", "line", "circle"]
    band, _ = of(chart, "area")
    assert [(row["x"], row["low"], row["high"]) for row in band] == [(1, 1.9, 2.1), (2, 1.4, 1.6)]
    dots, encoding = of(chart, "circle")
    assert [(row["series"], row["x"], row["value"]) for row in dots] == [
        *(("all", 1, 2.0), ("all", 2, 1.5)),
        *(("GPT-2", 1, -1.0), ("GPT-2", 2, 0.5)),
    ]
    assert [dots[0]["text"], dots[2]["text"]] == ["all, layer 1: 2 [1.9, 2.1]", "GPT-2, layer 1: −1"]
    assert entries(encoding) == [("all", COLOURS[0]), ("GPT-2", COLOURS[1])]
    assert (chart.title, encoding["x"]["title"]) == ("Entropy: minilm (nats)", "layer")


@pytest.mark.parametrize("kind", ["lines", "dots", "bars"])
def test_a_level_is_a_line_with_its_name_in_the_legend(kind: str) -> None:
    figure = (BARS if kind == "bars" else FIGURE | {"kind": kind}) | {"level": 2.5}
    for name in ("", "chance"):
        chart = drawn(figure | {"level_name": name})
        mark, data, encoding = marks(chart)[-1]
        assert (mark, data[0]["value"], encoding["y"]["field"]) == ("rule", 2.5, "value")
        low, high = encoding["y"]["scale"]["domain"]
        assert low < 2.5 < high
        dots, encoding = of(chart, "bar" if kind == "bars" else "circle")
        assert [entry for entry in entries(encoding) if entry[0] == "chance"] == [("chance", "var(--wrong)")] * bool(
            name
        )
        assert all(row["series"] != "chance" for row in dots)


def test_bars_stand_beside_each_other_on_zero_with_their_intervals() -> None:
    chart = drawn(BARS)
    bars, encoding = of(chart, "bar")
    assert [(row["series"], row["x"], row["value"]) for row in bars] == [("x", 0, 1.0), ("x", 1, 2.0), ("y", 0, 3.0)]
    assert (encoding["xOffset"]["field"], encoding["xOffset"]["scale"]["domain"]) == ("series", ["x", "y"])
    assert encoding["y"]["stack"] is None
    assert encoding["y"]["scale"]["domain"][0] < 0
    assert encoding["x"]["scale"]["domain"] == [0, 1]
    assert encoding["x"]["axis"]["labelExpr"] == '[["a"], ["b"]][datum.value]'
    interval, beside = of(chart, "rule")
    assert [(row["series"], row["low"], row["high"]) for row in interval] == [("x", 0.75, 1.25)]
    assert beside["xOffset"] == encoding["xOffset"]
    assert [row["text"] for row in bars] == ["x, a: 1 [0.75, 1.25]", "x, b: 2", "y, a: 3"]


def test_a_matrix_is_a_heat_map_with_numbers_whose_empty_cells_are_empty() -> None:
    figure = FIGURE | {"kind": "matrix", "series": {}, "names": ["left"], "matrix": [[0.0, 1.0], [None, 0.25]]}
    chart = drawn(figure)
    assert [mark for mark, *_ in marks(chart)] == ["rect", "text"]
    cells, encoding = of(chart, "rect")
    assert [(row["row"], row["column"], row["shown"]) for row in cells] == [
        *((0, 0, "0.00"), (0, 1, "1.00")),
        (1, 1, "0.25"),
    ]
    assert [row["colour"] for row in cells] == [
        f"color-mix(in oklab,var(--ramp{high}) {share}%,var(--ramp{high - 1}))"
        for high, share in ((1, "0.0"), (2, "100.0"), (1, "50.0"))
    ]
    assert [row["ink"] for row in cells] == ["var(--on-low)", "var(--on-high)", "var(--on-low)"]
    assert cells[1]["text"] == "1, 2: 1.00"
    assert encoding["color"]["scale"] is None
    assert encoding["x"]["axis"]["labelExpr"] == '["left", "2"][datum.value]'
    assert encoding["y"]["axis"]["labelExpr"] == '["1", "2"][datum.value]'
    assert (encoding["x"]["title"], encoding["y"]["title"], chart.height) == ("layer", "nats", 56)
    cells, encoding = of(drawn(figure | {"rows": ["12", "11"]}), "rect")
    assert [row["text"] for row in cells] == ["12, left: 0.00", "12, 2: 1.00", "11, 2: 0.25"]
    assert encoding["y"]["axis"]["labelExpr"] == '["12", "11"][datum.value]'


def test_logarithmic_axes_have_a_mark_a_place_and_dashed_series_are_dashed() -> None:
    figure = Figure("lines", "t", "length", "", {"a": [(16, 1.0), (256, 30.0)]}, log="xy", dashed=["a"])
    line, encoding = of(figure_chart(figure), "line")
    assert (encoding["x"]["scale"]["type"], encoding["y"]["scale"]["type"]) == ("log", "log")
    assert encoding["x"]["axis"]["values"] == [16, 256]
    assert encoding["strokeDash"]["scale"]["range"] == [[5, 3]]
    assert [row["value"] for row in line] == [1, 30]


def test_a_figure_is_read_from_json_as_it_was() -> None:
    figure = Figure("lines", "t", "x", "y", {"a": [(1, math.nan), (2, 3.0, math.nan, 4.0)]}, matrix=[[math.nan, 1.0]])
    again = Figure.of(json.loads(json.dumps(figure.recorded(), allow_nan=False)))
    assert str(again) == str(replace(figure, series={"a": [[1, math.nan], [2, 3.0, math.nan, 4.0]]}, **NO_NAMES))
    assert again.points == {"a": [(2, 3.0, 3.0, 3.0)]}


NO_NAMES: dict[str, Any] = {"names": [], "rows": [], "dashed": []}
