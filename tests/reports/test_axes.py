"""Axes of numbers: where they begin and end, when they are logarithmic, and what is marked on them."""

import math

import altair as alt
import pytest

from reports.drawing.charts import Axis, scaled


def test_an_axis_is_logarithmic_where_numbers_span_more_than_a_factor_of_20():
    assert [Axis.over(one).log for one in ([1, 20], [1, 20.1], [-1, 100])] == [False, True, False]
    assert not Axis.over([0, 100], log=True).log
    assert not Axis.over([1, 100], log=False).log


def test_an_axis_has_room_on_both_sides():
    even, power = Axis.over([10, 20, math.nan]), Axis.over([1, 100])
    assert (even.low, even.high) == pytest.approx((9.3, 20.7))
    assert (power.low, power.high) == pytest.approx((100**-0.06, 100**1.06))
    assert all(Axis.over(values).low < Axis.over(values).high for values in ([3, 3], [0, 0], [math.nan], []))


def test_marks_are_round_and_few():
    assert Axis.over([1, 1e9]).marks() == [1, 100, 1e4, 1e6, 1e8]
    assert Axis(2, 9, log=True).marks() == [2, 5]
    assert Axis(0.07, 0.43, log=False).marks() == [0.1, 0.2, 0.3, 0.4]
    found = scaled(alt.X("x:Q"), Axis(0.5, 200, log=True), grid=True).to_dict()
    assert found["scale"] == {"domain": [0.5, 200], "nice": False, "type": "log"}
    assert found["axis"] == {"format": ",.6~g", "grid": True, "values": [1, 10, 100]}
