"""One cost, one spelling: in tables, sentences, cards, maps and drawings."""

from __future__ import annotations

import math

import pytest

from reports.formats import compact, cost
from reports.measures.scales import NumberScale, behaviour_text, cost_text

COST = 0.04512


@pytest.mark.parametrize(
    ("number", "text"),
    [
        (COST, "0.0451"),
        (-0.2, "−0.200"),
        (2.0, "2.00"),
        (0.0, "0.0000"),
        (-0.00015, "−0.000150"),
        (-0.0000001, "0.0000"),
        (math.nan, "–"),
    ],
)
def test_a_cost_is_written_with_three_digits_and_no_more_than_six_decimals(number: float, text: str) -> None:
    assert cost(number) == text


@pytest.mark.parametrize(("unit", "measure"), [("accuracy", "value"), ("nats", "accuracy with attractors")])
def test_accuracies_lose_percentage_points(unit: str, measure: str) -> None:
    scale = NumberScale.of(unit, measure)
    assert (scale.unit, scale.cost(-0.021), scale.value(0.74)) == ("percentage points", "−2.1", "74.0")


def test_how_a_row_is_written_hangs_on_itself_alone() -> None:
    row = {"behaviour": "grammar", "unit": "nats a masked piece", "measure": "value", "cost": COST}
    row |= {"ci_low": 0.04, "ci_high": 0.05}
    assert (behaviour_text(row), cost_text(row)) == ("grammar", "0.0451 [0.0400, 0.0500]")
    share = row | {"measure": "accuracy", "ci_low": math.nan}
    assert (behaviour_text(share), cost_text(share)) == ("grammar, accuracy", "4.5")


@pytest.mark.parametrize(
    ("number", "most", "text"),
    [(0.0451, 0.06, ".045"), (-0.0451, 0.06, "−.045"), (0.5, 1.0, "0.50"), (12.4, 50.0, "12")],
)
def test_cells_of_a_map_are_short(number: float, most: float, text: str) -> None:
    assert compact(number, most) == text
