from itertools import product

import numpy as np
import pytest
import scipy.stats

from probes.statistics import Bootstrap
from probes.tally import Sums

REPLICATES = 20000


def sums_of(clusters: tuple[int, ...], n: list[float], *hits: list[float]) -> Sums:
    """Sums with a column of hits for each list, an entry a cluster."""
    columns = np.array(hits, np.float64).T
    return Sums(clusters, np.array(n, np.float64), columns, columns, columns, columns)


def exact_quantile(ratios: list[float], level: float) -> float:
    """The quantile of equally likely outcomes: the least of which as large a share is not above it."""
    return sorted(ratios)[int(np.ceil(level * len(ratios))) - 1]


def enumerated(n: list[float], hits: list[float]) -> list[float]:
    """sum(hits) / sum(n) of every possible resample that has an item."""
    draws = [np.array(draw) for draw in product(range(len(n)), repeat=len(n))]
    pairs = [(np.take(hits, draw).sum(), np.take(n, draw).sum()) for draw in draws]
    return [float(one / all_) for one, all_ in pairs if all_ > 0]


def test_the_interval_is_the_percentile_bootstrap_of_scipy() -> None:
    random = np.random.default_rng(0)
    n = random.integers(1, 30, 15).astype(float)
    hits = np.array(
        [random.binomial(int(count), rate) for count, rate in zip(n, random.uniform(0.2, 0.9, 15), strict=True)]
    )
    theirs = scipy.stats.bootstrap(
        (hits, n),
        lambda hits, n, axis: hits.sum(axis) / n.sum(axis),
        paired=True,
        vectorized=True,
        n_resamples=REPLICATES,
        method="percentile",
        rng=np.random.default_rng(1),
    ).confidence_interval
    sums = sums_of(tuple(range(15)), n.tolist(), hits.tolist())
    ours = Bootstrap.draw(tuple(range(15)), REPLICATES, seed=2).interval(sums, sums.hits)
    np.testing.assert_allclose(ours[:, 0], theirs, rtol=0, atol=0.004)
    assert ours[1, 0] - ours[0, 0] > 0.1


@pytest.mark.parametrize("level", [0.95, 0.8, 0.6, 0.3])
def test_with_three_clusters_the_interval_is_the_one_of_all_27_resamples(level: float) -> None:
    n, hits = [10.0, 3.0, 7.0], [9.0, 1.0, 2.0]
    sums = sums_of((0, 1, 2), n, hits)
    low, high = Bootstrap.draw((0, 1, 2), REPLICATES, 0, level).interval(sums, sums.hits)[:, 0]
    assert low == pytest.approx(exact_quantile(enumerated(n, hits), (1 - level) / 2))
    assert high == pytest.approx(exact_quantile(enumerated(n, hits), (1 + level) / 2))


@pytest.mark.parametrize("level", [0.95, 0.6])
def test_resamples_without_an_item_of_the_label_are_left_out(level: float) -> None:
    """The label is found in two of four clusters, and 1 of 16 resamples has neither."""
    n, hits = [0.0, 4.0, 0.0, 2.0], [0.0, 1.0, 0.0, 2.0]
    sums = sums_of((1, 3), [4, 2], [1, 2])
    low, high = Bootstrap.draw((0, 1, 2, 3), REPLICATES, 0, level).interval(sums, sums.hits)[:, 0]
    assert low == pytest.approx(exact_quantile(enumerated(n, hits), (1 - level) / 2))
    assert high == pytest.approx(exact_quantile(enumerated(n, hits), (1 + level) / 2))


def test_clusters_are_found_by_their_number_and_not_by_their_place() -> None:
    """A label that only some clusters have is resampled as they are, so that labels stay paired."""
    n, hits = [5, 3, 7], [1, 2, 3]
    sums = sums_of((5, 9, 11), n, hits)
    bootstrap = Bootstrap.draw((11, 9, 2, 5, 4), 31, 0, level=0.5)
    weights = bootstrap.weights[:, 2:]
    ratios = [(w @ hits) / (w @ n) for w in weights if w.any()]
    np.testing.assert_allclose(bootstrap.interval(sums, sums.hits)[:, 0], np.quantile(ratios, [0.25, 0.75]))
    others = [(w @ hits) / (w @ n) for w in bootstrap.weights[:, :3] if w.any()]
    assert not np.allclose(np.quantile(others, [0.25, 0.75]), np.quantile(ratios, [0.25, 0.75]))


def test_one_cluster_gives_no_interval() -> None:
    sums = sums_of((0,), [10], [5], [6])
    interval = Bootstrap.draw((0,), 100, 0).interval(sums, sums.hits)
    assert interval.shape == (2, 2)
    assert bool(np.isnan(interval).all())
    assert bool(np.isnan(Bootstrap.draw((0, 1, 2), 100, 0).interval(sums, sums.hits)).all())


def test_a_margin_is_paired() -> None:
    """A head that is better by a tenth in every cluster has a margin of a tenth in every resample."""
    n, other = np.array([10.0, 20.0, 30.0]), np.array([1.0, 15.0, 10.0])
    sums = sums_of((0, 1, 2), n.tolist(), (other + n / 10).tolist())
    bootstrap = Bootstrap.draw((0, 1, 2), 500, 0)
    low, high = bootstrap.interval(sums, sums.hits)[:, 0]
    assert high - low > 0.3
    np.testing.assert_allclose(bootstrap.interval(sums, sums.hits - other[:, None])[:, 0], 0.1)


def test_resamples_follow_the_seed_and_have_as_many_clusters_as_there_are() -> None:
    first, again, other = (Bootstrap.draw((0, 1, 2, 7), 100, seed) for seed in (1, 1, 2))
    assert np.array_equal(first.weights, again.weights)
    assert not np.array_equal(first.weights, other.weights)
    assert first.weights.shape == (100, 4)
    assert bool((first.weights.sum(1) == 4).all())


def test_without_clusters_nothing_is_drawn() -> None:
    assert Bootstrap.draw((), 100, 0).weights.size == 0
