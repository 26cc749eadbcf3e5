"""One spelling of numbers: in tables, sentences, cards, maps and drawings; what is missing is never zero."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reports import formats
from reports.formats import MISSING, compact, cost, count, day, duration, interval, p_value, percent, signed, tenths
from reports.scores.effects import NumberScale, behaviour_text, cost_text


@pytest.mark.parametrize(
    ("write", "numbers", "texts"),
    [
        (percent, (0.7399, 0.0, -0.0001, 1.0, math.nan), ["74.0", "0.0", "0.0", "100.0", MISSING]),
        (signed, (0.382, -0.021, math.nan), ["+38.2", "−2.1", MISSING]),
        (p_value, (0.0, 0.00099, 0.001, 0.0123, math.nan), ["< 0.001", "< 0.001", "0.001", "0.012", MISSING]),
        (formats.points, (0.1, 0.125, 0.29), ["10", "12.5", "29"]),
        (cost, (0.0, -1e-7, math.nan), ["0.0000", "0.0000", MISSING]),
        (count, (25150, None), ["25,150", MISSING]),
        (duration, (37.44, 605, 299.7, None), ["37.4 s", "10 min 05 s", "5 min 00 s", MISSING]),
        (day, ("2026-11-20T19:01:00Z", None, "soon"), ["20 November 2026", MISSING, "soon"]),
    ],
)
def test_numbers_are_written_for_people(write, numbers, texts):
    assert [write(number) for number in numbers] == texts


def test_intervals_are_empty_where_an_end_is_missing():
    assert [interval(0.7, 0.75), interval(math.nan, math.nan)] == ["[70.0, 75.0]", ""]
    assert [formats.signed_interval(-0.01, 0.02), formats.signed_interval(math.nan, 1.0)] == ["[−1.0, +2.0]", ""]


@given(st.floats(0, 1))
def test_sliders_and_tables_round_alike(fraction: float):
    rounded = tenths(fraction)
    assert rounded is not None
    assert f"{rounded / 10:.1f}" == percent(fraction)


@pytest.mark.parametrize(("unit", "measure"), [("accuracy", "value"), ("nats", "accuracy with attractors")])
def test_accuracies_lose_percentage_points(unit: str, measure: str) -> None:
    scale = NumberScale.of(unit, measure)
    assert (scale.unit, scale.cost(-0.021), scale.value(0.74)) == ("percentage points", "−2.1", "74.0")


def test_how_a_cost_is_written_hangs_on_its_row_alone() -> None:
    row = {"behaviour": "grammar", "unit": "nats a masked piece", "measure": "value", "cost": 0.04512}
    row |= {"ci_low": 0.04, "ci_high": 0.05}
    assert (behaviour_text(row), cost_text(row)) == ("grammar", "0.0451 [0.0400, 0.0500]")
    share = row | {"measure": "accuracy", "ci_low": math.nan}
    assert (behaviour_text(share), cost_text(share)) == ("grammar, accuracy", "4.5")


def test_cells_of_a_map_are_short() -> None:
    assert [compact(*one) for one in ((-0.0451, 0.06), (0.5, 1.0), (12.4, 50.0))] == ["−.045", "0.50", "12"]
