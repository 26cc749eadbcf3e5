import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reports.formats import (
    MISSING,
    count,
    day,
    duration,
    interval,
    p_value,
    percent,
    signed,
    signed_interval,
    tenths,
)


def test_numbers_are_percent_with_one_decimal_and_missing_is_never_zero():
    assert [percent(0.7399), percent(0.0), percent(1.0), percent(math.nan)] == ["74.0", "0.0", "100.0", MISSING]
    assert [signed(0.382), signed(-0.021), signed(math.nan)] == ["+38.2", "−2.1", MISSING]
    assert [interval(0.7, 0.75), interval(math.nan, math.nan)] == ["[70.0, 75.0]", ""]
    assert [signed_interval(-0.01, 0.02), signed_interval(math.nan, 1.0)] == ["[−1.0, +2.0]", ""]


def test_p_values_have_three_decimals_and_are_never_zero():
    assert [p_value(p) for p in (0.0, 0.00099, 0.001, 0.0123, 0.05, 1.0, math.nan)] == [
        "< 0.001",
        "< 0.001",
        "0.001",
        "0.012",
        "0.050",
        "1.000",
        MISSING,
    ]


@given(st.floats(0, 1))
def test_heat_maps_and_tables_round_alike(fraction: float):
    rounded = tenths(fraction)
    assert rounded is not None
    assert f"{rounded / 10:.1f}" == percent(fraction)


@pytest.mark.parametrize(
    ("written", "expected"),
    [
        (count(25150), "25,150"),
        (count(None), MISSING),
        (duration(37.44), "37.4 s"),
        (duration(605), "10 min 05 s"),
        (duration(299.7), "5 min 00 s"),
        (duration(None), MISSING),
        (day("2026-11-20T19:01:00+00:00"), "20 November 2026"),
        (day("2026-11-20T19:01:00Z"), "20 November 2026"),
        (day(None), MISSING),
        (day("soon"), "soon"),
    ],
)
def test_counts_times_and_days_are_written_for_people(written: str, expected: str):
    assert written == expected
