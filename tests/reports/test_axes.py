"""Axes of numbers: where they begin and end, when they are logarithmic, and what is marked on them."""

import math

import altair as alt
import pytest

from reports.axes import Axis, scaled


def test_an_axis_is_logarithmic_where_numbers_span_more_than_a_factor_of_20():
    assert not Axis.over([1, 20]).log
    assert Axis.over([1, 20.1]).log
    assert not Axis.over([-1, 100]).log
    assert not Axis.over([0, 100], log=True).log
    assert not Axis.over([1, 100], log=False).log


def test_an_axis_has_room_on_both_sides():
    even = Axis.over([10, 20, math.nan])
    assert (even.low, even.high) == pytest.approx((9.3, 20.7))
    power = Axis.over([1, 100])
    assert (power.low, power.high) == pytest.approx((100**-0.06, 100**1.06))
    for values in ([3, 3], [0, 0], [math.nan], []):
        axis = Axis.over(values)
        assert axis.low < axis.high, values
    assert Axis.over([3, 3]).low + Axis.over([3, 3]).high == pytest.approx(6)


def test_marks_are_round_and_few():
    assert Axis.over([1, 1000]).marks() == [1, 10, 100, 1000]
    assert Axis.over([1, 1e9]).marks() == [1, 100, 1e4, 1e6, 1e8]
    assert Axis(2, 9, log=True).marks() == [2, 5]
    assert Axis(0.07, 0.43, log=False).marks() == [0.1, 0.2, 0.3, 0.4]
    assert Axis(-0.6, 5.4, log=False).marks() == [0, 1, 2, 3, 4, 5]


def test_a_channel_takes_range_scale_and_marks_of_its_axis():
    found = scaled(alt.X("x:Q"), Axis(0.5, 200, log=True), grid=True).to_dict()
    assert found["scale"] == {"domain": [0.5, 200], "nice": False, "type": "log"}
    assert found["axis"] == {"format": ",.6~g", "grid": True, "values": [1, 10, 100]}
    other = scaled(alt.Y("y:Q"), Axis(0, 4, log=False), values=[1, 2]).to_dict()
    assert (other["scale"]["type"], other["axis"]["values"]) == ("linear", [1, 2])
