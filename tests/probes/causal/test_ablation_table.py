"""Costs of heads: numbers by hand, tests against independent ones, and what is not tested."""

import math
from collections.abc import Sequence

import numpy as np
import pandas as pd
import pytest
from scipy.stats import binom, t

from mha import MaskedLM, Model
from mha.pieces import Pieces
from probes.causal.ablation import HeadSet, single_heads, whole_layers
from probes.causal.ablation_table import ablation_table, contrast_table, damaging_heads
from probes.causal.behaviours import Behaviour, Embedding, Predictions, Prompt
from probes.evidence.question import Effort
from probes.evidence.statistics import Bootstrap
from probes.minimal_pairs import Kind
from reports.tables.shared_columns import ACCURACY, ATTRACTED, VALUE

EFFORT = Effort(replicates=500, seed=3)
TEXT = Pieces(np.zeros(1, np.int32), np.zeros(1, np.int32), 1)


def pairs(lm: MaskedLM, clusters: Sequence[str], attractors: Sequence[int | None]) -> Behaviour:
    kinds = tuple(Kind("p", attractors=count) for count in attractors)
    asked = [Prompt(TEXT, item) for item in range(len(clusters))]
    return Predictions("pairs", "nats", lm, asked, tuple(clusters), kinds)


def embedding(model: Model, clusters: Sequence[str]) -> Behaviour:
    return Embedding("embedding", "cosine", model, [Prompt(TEXT, i) for i in range(len(clusters))], tuple(clusters))


def row(frame: pd.DataFrame, measure: str, name: str, kind: str = "head") -> pd.Series:
    rows = frame[(frame.measure == measure) & (frame["name"] == name) & (frame.kind == kind)]
    assert len(rows) == 1
    return rows.iloc[0]


SETS = single_heads(1, 2)
CLUSTERS = ("b", "a", "b", "c")
VALUES = np.array([[2.0, -1.0, 3.0, 0.5], [1.0, -1.0, -1.0, 0.5], [2.0, 1.0, 3.0, 0.0]])
"Intact, without head 1-1, without head 1-2."


def test_costs_are_told_by_hand(lm: MaskedLM) -> None:
    frame = ablation_table(pairs(lm, CLUSTERS, (0, 1, 2, None)), "zero", SETS, VALUES, EFFORT)
    first = row(frame, VALUE, "1-1")
    assert (first.behaviour, first.unit, first.way) == ("pairs", "nats", "zero")
    assert (first.layer, first["head"], first.heads, first.n, first.clusters) == (0, 0, 1, 4, 3)
    assert (first.intact, first.ablated, first.cost) == pytest.approx((4.5 / 4, -0.5 / 4, 5 / 4))
    assert row(frame, VALUE, "1-2").cost == pytest.approx((4.5 - 6) / 4)
    right = row(frame, ACCURACY, "1-1")
    assert (right.intact, right.ablated, right.cost, right.unit) == (0.75, 0.5, 0.25, "share of pairs")
    tie = row(frame, ACCURACY, "1-2")
    assert (tie.intact, tie.ablated, tie.cost) == (0.75, 0.875, -0.125)
    attracted = row(frame, ATTRACTED, "1-1")
    assert (attracted.n, attracted.clusters, attracted.intact, attracted.cost) == (2, 2, 0.5, 0.5)


def test_a_head_that_changes_no_item_by_more_than_rounding_costs_nothing(lm: MaskedLM) -> None:
    values = np.zeros((3, 20)) + 0.5
    values[1] -= np.linspace(1e-9, 9e-6, 20)  # of one sign throughout
    values[2, 0] -= 0.1
    values[2, 1:] -= 1e-6
    frame = ablation_table(pairs(lm, [f"d{i}" for i in range(20)], [0] * 20), "uniform", SETS, values, EFFORT)
    first, second = (row(frame, VALUE, name) for name in ("1-1", "1-2"))
    assert (first.cost, first.ci_low, first.ci_high, first.p_adjusted) == (0, 0, 0, 1)
    assert second.cost == pytest.approx((0.1 + 19e-6) / 20)


def test_intervals_are_of_paired_differences_by_cluster(lm: MaskedLM) -> None:
    frame = ablation_table(pairs(lm, CLUSTERS, (0,) * 4), "zero", SETS, VALUES, EFFORT)
    resamples = Bootstrap.draw(range(3), 500, 3).of(range(3), np.array([1.0, 2.0, 1.0]))
    lost = np.array([[0.0], [5.0], [0.0]])  # a, b, c
    expected = resamples.interval(resamples.means(lost))[:, 0]
    first = row(frame, VALUE, "1-1")
    assert (first.ci_low, first.ci_high) == pytest.approx(tuple(expected))
    assert set(frame.measure) == {VALUE, ACCURACY}, "no pair has an attractor"


def test_sets_of_a_kind_are_one_family_and_random_ones_are_not_tested(lm: MaskedLM) -> None:
    random = np.random.default_rng(2)
    sets = [*single_heads(2, 2), *whole_layers(2, 2), HeadSet("selected", "x: y", ((0, 0),))]
    sets += [HeadSet("random", "x: y", ((0, 1),), draw) for draw in (1, 2)]
    values = random.normal(size=(1 + len(sets), 30))
    behaviour = pairs(lm, [f"d{i}" for i in range(30)], [0] * 30)
    frame = ablation_table(behaviour, "zero", sets, values, EFFORT)
    for some in (slice(0, 4), slice(4, 6), slice(6, 7)):
        alone = ablation_table(behaviour, "zero", sets[some], np.concatenate([values[:1], values[1:][some]]), EFFORT)
        part = frame[frame.measure == VALUE].iloc[some]
        np.testing.assert_allclose(
            part.p_adjusted.astype(float), alone[alone.measure == VALUE].p_adjusted.astype(float)
        )
    assert frame[frame.kind == "random"].p.isna().all()
    layer = row(frame, VALUE, "2", "layer")
    assert (layer.layer, layer.heads) == (1, 2)
    assert pd.isna(layer["head"])
    assert pd.isna(row(frame, VALUE, "x: y", "selected").layer)


def test_a_distance_is_tested_against_the_median_head_of_each_item_one_sided(model: Model) -> None:
    random = np.random.default_rng(5)
    cost = random.uniform(0.1, 0.2, (9, 40))
    cost[2] += 0.05
    cost[6] -= 0.05
    values = np.concatenate([np.ones((1, 40)), 1 - cost])
    clusters = [f"d{i}" for i in range(40)]
    frame = ablation_table(embedding(model, clusters), "zero", single_heads(3, 3), values, EFFORT)
    assert set(frame.measure) == {VALUE}
    assert row(frame, VALUE, "1-3").p_adjusted < 0.01
    assert row(frame, VALUE, "3-1").p > 0.99
    assert (frame.ci_low > 0).all()
    chosen = [HeadSet("selected", "x: y", ((0, 0),))]
    assert ablation_table(embedding(model, clusters), "zero", chosen, values[:2], EFFORT).p.isna().all()


def lost_answers(lm: MaskedLM, most: int, rows: int) -> pd.DataFrame:
    """Return the accuracies of heads without which 0, 1, ... `most` of the rows are lost, each its own cluster."""
    values = np.ones((2 + most, rows))
    for lost in range(1, most + 1):
        values[1 + lost, :lost] = -1
    behaviour = pairs(lm, [f"{row:03}" for row in range(rows)], (0,) * rows)
    told = ablation_table(behaviour, "zero", single_heads(1, most + 1), values, EFFORT)
    return told[told.measure == ACCURACY].reset_index(drop=True)


@pytest.mark.parametrize("rows", [30, 60, 200])
def test_intervals_of_accuracy_are_continuous_and_cover_as_often_as_they_say(lm: MaskedLM, rows: int) -> None:
    """Coverage is a sum over all outcomes, weighed by their binomial probability."""
    told = lost_answers(lm, {30: 10, 60: 16, 200: 36}[rows], rows)
    for lost in (0.0, 0.005, 0.01, 0.02, 0.03, 0.05, 0.07, 0.1):
        chances = binom.pmf(range(len(told)), rows, lost)
        assert chances.sum() > 0.998, "outcomes that are left out hardly occur"
        assert chances[(told.ci_low <= lost) & (lost <= told.ci_high)].sum() > 0.947, f"{lost} lost"
    assert told.ci_low.diff().abs().max() <= 1.5 / rows
    assert told.ci_high.diff().abs().max() <= 1.9 / rows
    assert told.ci_low[0] == -told.ci_high[0] == pytest.approx(-3 / rows, abs=0.1 / rows)


def contrast(behaviour: Behaviour, costs: Sequence[Sequence[float]]) -> pd.DataFrame:
    """Return the contrast of a first set, which is chosen, with all others; the intact value is 1 everywhere."""
    sets = [HeadSet("selected", "agreement: all", ((0, 1), (2, 4)), by="specialised")]
    sets += [HeadSet("random", "agreement: all", ((0, 0), (1, 0)), draw + 1) for draw in range(len(costs) - 1)]
    values = 1 - np.concatenate([np.zeros((1, len(costs[0]))), np.array(costs)])
    return contrast_table(behaviour, "mean", sets, values, EFFORT)


def test_chosen_heads_are_held_against_random_ones_by_hand(lm: MaskedLM) -> None:
    behaviour = pairs(lm, ("a", "b", "c"), (0, 1, 1))
    frame = contrast(behaviour, [[3, 2, 1], [0, 0, 3], [3, 3, 0], [1, 1, 1]])
    told = frame[frame.measure == VALUE].iloc[0]
    assert (told["name"], told.heads, told.way) == ("agreement: all", "1-2 3-5", "mean")
    assert (told.draws, told.elsewhere) == (3, 1)
    assert (told.n, told.clusters, told.cost) == (3, 3, 2)
    assert (told.random_cost, told.random_least, told.random_most) == pytest.approx((4 / 3, 1, 2))
    assert told.difference == pytest.approx(2 / 3)
    assert told.p == (1 + 1) / 4, "one random set costs as much"
    resamples = Bootstrap.draw(range(3), 500, 3).of(range(3), np.ones(3))
    less = np.array([[3 - 4 / 3], [2 - 4 / 3], [1 - 4 / 3]])
    assert (told.ci_low, told.ci_high) == pytest.approx(tuple(resamples.interval(resamples.means(less))[:, 0]))
    right = frame[frame.measure == ACCURACY].iloc[0]  # 1 - cost > 0 is right, 0 a tie
    assert (right.cost, right.random_cost) == pytest.approx((2.5 / 3, (1 / 3 + 2 / 3 + 0.5) / 3))


def of(name: str, costs: list[float], damage: list[float]) -> dict[str, float]:
    names = [f"1-{number + 1}" for number in range(len(costs))]
    return damaging_heads(name, pd.Series(costs, names), pd.Series(damage, names))


def test_heads_of_at_least_half_the_damage_are_the_baseline() -> None:
    """Damage 0.4 goes with 0.2 and more: three heads, which cost 1, 2 and 3."""
    found = of("1-1", [9, 1, 2, 3, 50, 60, 70], [0.4, 0.21, 0.9, 0.3, 0.19, 0.1, 0.0])
    half = t.ppf(0.975, 2) * math.sqrt(1 + 1 / 3)
    ends = {"damaging_low": 2 - half, "damaging_high": 2 + half}
    assert found == pytest.approx({"damage": 0.4, "damaging": 3, "damaging_cost": 2, **ends})


def test_a_head_that_does_most_damage_by_far_has_no_baseline() -> None:
    found = of("1-1", [9, 1, 2, 3], [0.9, 0.01, 0.02, 0.03])
    assert found["damaging"] == 0
    assert math.isnan(found["damaging_cost"])


def test_a_harmless_head_is_compared_with_all_but_those_that_help() -> None:
    """The median damage is 0.01, so heads from -0.01 on are compared with one of 0."""
    found = of("1-1", [5, 1, 1, 1, 9], [0.0, -0.01, 0.01, 0.5, -0.5])
    assert (found["damaging"], found["damaging_cost"], found["damaging_low"]) == (3, 1, 1)
