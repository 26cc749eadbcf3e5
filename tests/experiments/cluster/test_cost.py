"""The cost model finds known costs again, and the plan's formula agrees with a simulation."""

from dataclasses import replace
from itertools import product

import numpy as np
import pytest

from experiments.cluster.cost import Cluster, CostModel, Shard, left_out_errors, plan, simulate, sums_bytes

SMALL = Shard(layers=2, heads=2, width=128, vocabulary=1000, texts=100, pieces=2000, squares=50_000)
COSTS = CostModel(dict(zip(SMALL.amounts, (1.5, 0.01, 2.0, 30.0, 4.0), strict=True)))


def shards() -> list[Shard]:
    sizes = product((2, 6, 12), (128, 768), (100, 3000), (12, 140))
    return [
        Shard(layers, width // 64, width, 30_000, texts, texts * length, texts * length**2)
        for layers, width, texts, length in sizes
    ]


def test_the_amounts_of_a_shard_are_those_counted_by_hand() -> None:
    assert SMALL.products == 2 * (4 * 128 * 128 + 2 * 128 * 512), "query, key, value and output; two of feed-forward"
    assert SMALL.weights == SMALL.products + 128_000
    assert [*SMALL.amounts.values()] == pytest.approx([1, 0.521216, 0.1, 2000 * 393_216 / 1e12, 4 * 50_000 / 1e9])
    assert SMALL.of_texts(50) == replace(SMALL, texts=50, pieces=1000, squares=25_000)


def test_costs_that_are_known_are_found_again() -> None:
    measured = [COSTS.predict(shard) for shard in shards()]
    assert CostModel.fit(shards(), measured).seconds == pytest.approx(COSTS.seconds)
    assert left_out_errors(shards(), measured) == pytest.approx([0] * len(measured), abs=1e-6)
    assert COSTS.most_texts(SMALL, COSTS.predict(SMALL)) == pytest.approx(100)


def test_errors_are_those_of_shards_that_were_left_out() -> None:
    measured = [COSTS.predict(shard) for shard in shards()]
    measured[5] *= 2
    errors = left_out_errors(shards(), measured)
    assert errors[5] == pytest.approx(-0.5, abs=0.01), "no other shard was off"
    fitted = CostModel.fit(shards(), measured)
    assert abs(fitted.predict(shards()[5]) / measured[5] - 1) < 0.5


@pytest.mark.parametrize(("life", "each"), [(1e12, 600), (24 * 3600, 600), (24 * 3600, 7200), (3 * 3600, 1800)])
def test_the_plan_agrees_with_a_simulation(life: float, each: float) -> None:
    cluster = Cluster(workers=50, life=life, restart=120, retries=1000)
    whole = SMALL.of_texts(COSTS.most_texts(SMALL, each * 40))
    found = plan(100, whole, COSTS, cluster, each)
    assert found.each == pytest.approx(each, rel=0.03)
    seconds = np.full(found.shards, found.each)
    runs = [simulate(seconds, cluster, seed).seconds for seed in range(3)]
    assert np.mean(runs) == pytest.approx(found.seconds, rel=0.05)


def test_shards_that_are_lost_too_often_are_given_up_as_expected() -> None:
    cluster = Cluster(workers=20, life=3600, restart=60, retries=1)
    whole = SMALL.of_texts(COSTS.most_texts(SMALL, 1800 * 20))
    found = plan(200, whole, COSTS, cluster, 1800)
    given_up = simulate(np.full(found.shards, found.each), cluster, 0).given_up
    assert found.given_up == pytest.approx(found.shards * (1 - np.exp(-found.each / 3600)) ** 2)
    assert given_up == pytest.approx(found.given_up, rel=0.1)


def test_without_losses_workers_take_shards_in_turn() -> None:
    cluster = Cluster(workers=2, life=1e12, restart=0)
    assert simulate(np.array([3.0, 1, 1, 4]), cluster, 0).seconds == 6, "3 by one; 1, 1, then 4 by the other"


def test_sums_are_as_large_as_their_blocks() -> None:
    assert sums_bytes(SMALL, 10) == (2 * 4 + 16) * 10 * 100
    assert sums_bytes(SMALL.of_texts(1e7), 10) == (2 * 4 + 16) * 10 * 1000
