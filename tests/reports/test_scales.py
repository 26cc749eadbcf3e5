"""One cost, one spelling: in tables, sentences, cards, maps and drawings."""

from __future__ import annotations

import math
from typing import Any

import pandas as pd
import pytest

from reports.formats import compact, cost
from reports.page.effects_in_words import lost_without
from reports.scales import NumberScale
from reports.studies.ablation.costs import Costs
from reports.studies.ablation.section import Ablations, BehaviourCosts
from reports.studies.gating.measures import Importance
from reports.studies.link.section import HEADS

UNIT = "nats a masked piece"
COST = 0.04512


def row(**values: Any) -> dict[str, Any]:
    head = {"kind": "head", "name": "1-1", "layer": 0, "head": 0, "cost": COST, "ci_low": 0.04, "ci_high": 0.05}
    return head | {"p_adjusted": 0.01, "intact": 2.5, "n": 100, "clusters": 50} | values


def found(**values: Any) -> Ablations:
    costs = Costs("masked-LM loss", UNIT, "zero", "value", pd.DataFrame([row(**values)]))
    return Ablations((1, 1), (BehaviourCosts((costs,), ()),), (costs,), ())


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


def test_one_cost_has_one_spelling_on_a_whole_page() -> None:
    ablation = found()
    table = ablation.behaviours[0].heads.texts[0][1]
    sentence = lost_without("1-1", {"ablation": ablation})
    readout = ablation.heat["maps"][0]["text"][0]
    link = {"importance": 0.3, "cost_low": 0.04, "cost_high": 0.05, "cost": COST}
    beside = next(column for column in HEADS if column.title == "Cost").write(link)
    gated = pd.DataFrame([row(unit=UNIT, importance=COST, of_layer=0.5, predicted=COST)])
    importance = Importance("masked-LM loss", gated, None).heads.texts[0]
    assert table == readout == "0.0451 [0.0400, 0.0500]"
    assert f"cost {table} {UNIT}" in sentence
    assert str(beside) == importance[-1] == importance[-2] == "0.0451"


def test_how_much_other_heads_cost_does_not_change_the_spelling() -> None:
    rows = pd.DataFrame([row(), row(name="1-2", head=1, cost=7.0)])
    told = Costs("masked-LM loss", UNIT, "zero", "value", rows)
    assert told.with_interval(rows.iloc[0]) == "0.0451 [0.0400, 0.0500]"


@pytest.mark.parametrize(
    ("number", "most", "text"),
    [(0.0451, 0.06, ".045"), (-0.0451, 0.06, "−.045"), (0.5, 1.0, "0.50"), (12.4, 50.0, "12")],
)
def test_cells_of_a_map_are_short(number: float, most: float, text: str) -> None:
    assert compact(number, most) == text
