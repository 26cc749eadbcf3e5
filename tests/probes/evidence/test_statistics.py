from itertools import product

import numpy as np
import pytest
import scipy.stats
from statsmodels.stats.multitest import multipletests

from probes.evidence.statistics import Bootstrap, VerdictRule, adjust, expanded_tail
from probes.scoring.tally import Numbers

REPLICATES = 20000


def columns(*hits: list[float]) -> Numbers:
    """A column of hits for each list, an entry a cluster."""
    return np.array(hits, np.float64).T


def interval(bootstrap: Bootstrap, clusters: tuple[int, ...], n: list[float], *hits: list[float]) -> Numbers:
    resamples = bootstrap.of(clusters, np.array(n, np.float64))
    return resamples.interval(resamples.means(columns(*hits)))


def exact_quantile(ratios: list[float], level: float) -> float:
    """The quantile of equally likely outcomes: the least of which as large a share is not above it."""
    return sorted(ratios)[int(np.ceil(level * len(ratios))) - 1]


def enumerated(n: list[float], hits: list[float]) -> list[float]:
    """sum(hits) / sum(n) of every possible resample that has an item."""
    draws = [np.array(draw) for draw in product(range(len(n)), repeat=len(n))]
    pairs = [(np.take(hits, draw).sum(), np.take(n, draw).sum()) for draw in draws]
    return [float(one / all_) for one, all_ in pairs if all_ > 0]


def test_the_interval_is_the_percentile_bootstrap_of_scipy_at_the_expanded_level() -> None:
    random = np.random.default_rng(0)
    n = random.integers(1, 30, 15).astype(float)
    rates = random.uniform(0.2, 0.9, 15)
    hits = np.array([random.binomial(int(count), rate) for count, rate in zip(n, rates, strict=True)])
    theirs = scipy.stats.bootstrap(
        (hits, n),
        lambda hits, n, axis: hits.sum(axis) / n.sum(axis),
        paired=True,
        vectorized=True,
        n_resamples=REPLICATES,
        confidence_level=1 - 2 * expanded_tail(15, 0.95),
        method="percentile",
        rng=np.random.default_rng(1),
    ).confidence_interval
    ours = interval(Bootstrap.draw(range(15), REPLICATES, seed=2), tuple(range(15)), n.tolist(), hits.tolist())
    np.testing.assert_allclose(ours[:, 0], theirs, rtol=0, atol=0.004)
    assert ours[1, 0] - ours[0, 0] > 0.1


def test_the_expanded_level_is_that_of_t_widened_for_the_bootstraps_divisor() -> None:
    """For 20 clusters t(19) is 2.093 at 97.5 %, times sqrt(20 / 19) is 2.147, beyond which the normal has 1.589 %."""
    assert expanded_tail(20, 0.95) == pytest.approx(0.01589, abs=2e-5)
    assert expanded_tail(100000, 0.95) == pytest.approx(0.025, abs=1e-5)
    assert expanded_tail(2, 0.95) == pytest.approx(0, abs=1e-12)


def test_with_three_clusters_the_interval_is_the_one_of_all_27_resamples() -> None:
    n, hits = [10.0, 3.0, 7.0], [9.0, 1.0, 2.0]
    low, high = interval(Bootstrap.draw((0, 1, 2), REPLICATES, 0), (0, 1, 2), n, hits)[:, 0]
    tail = expanded_tail(3, 0.95)
    assert low == pytest.approx(exact_quantile(enumerated(n, hits), tail))
    assert high == pytest.approx(exact_quantile(enumerated(n, hits), 1 - tail))


def test_resamples_without_an_item_of_the_label_are_left_out() -> None:
    """The label is found in two of four clusters, and 1 of 16 resamples has neither."""
    bootstrap = Bootstrap.draw((0, 1, 2, 3), REPLICATES, 0)
    resamples = bootstrap.of((1, 3), np.array([4.0, 2.0]))
    assert len(resamples.n) / REPLICATES == pytest.approx(15 / 16, abs=0.01)
    every = enumerated([0.0, 4.0, 0.0, 2.0], [0.0, 1.0, 0.0, 2.0])
    means = resamples.means(columns([1, 2]))[:, 0]
    for value in set(every):
        assert np.isclose(means, value).mean() == pytest.approx(every.count(value) / len(every), abs=0.02)


def test_clusters_are_found_by_their_number_and_not_by_their_place() -> None:
    """A label that only some clusters have is resampled as they are, so that labels stay paired."""
    bootstrap = Bootstrap.draw((11, 9, 2, 5, 4), 31, 0)
    resamples = bootstrap.of((5, 9, 11), np.array([5.0, 3.0, 7.0]))
    weights = bootstrap.weights[:, 2:]
    ratios = [(w @ [1, 2, 3]) / (w @ [5, 3, 7]) for w in weights if w.any()]
    np.testing.assert_allclose(resamples.means(columns([1, 2, 3]))[:, 0], ratios)


def test_quantiles_are_those_of_numpy() -> None:
    bootstrap = Bootstrap.draw(range(30), 501, 3)
    random = np.random.default_rng(4)
    n, hits = random.integers(1, 9, 30).astype(float), random.random((30, 5))
    resamples = bootstrap.of(range(30), n)
    means = resamples.means(hits)
    tail = expanded_tail(30, 0.95)
    np.testing.assert_allclose(resamples.interval(means), np.quantile(means, [tail, 1 - tail], axis=0), rtol=1e-12)


def test_one_cluster_gives_no_interval() -> None:
    for clusters in ((0,), (0, 1, 2)):
        assert bool(np.isnan(interval(Bootstrap.draw(clusters, 100, 0), (0,), [10], [5], [6])).all())
    assert interval(Bootstrap.draw((0,), 100, 0), (0,), [10], [5], [6]).shape == (2, 2)


def test_without_clusters_nothing_is_drawn() -> None:
    assert Bootstrap.draw((), 100, 0).weights.size == 0


@pytest.mark.parametrize(("dependent", "method"), [(True, "fdr_by"), (False, "fdr_bh")])
def test_with_one_head_a_label_correction_is_that_of_statsmodels(dependent: bool, method: str) -> None:
    p = np.random.default_rng(0).random(40) ** 3
    theirs = multipletests(p, method=method)[1]
    np.testing.assert_allclose(
        np.concatenate(adjust([np.array([one]) for one in p], dependent=dependent)), theirs, rtol=1e-12
    )


def test_heads_are_held_to_the_share_of_labels_that_are_selected() -> None:
    """Worked by hand: three labels with smallest p 0.006, 0.012 and 0.6, whose number costs 1 + 1/2 + 1/3 = 11/6.

    Benjamini and Hochberg give 0.018, 0.018 and 0.6; times 11/6 that is 0.033, 0.033 and 1. The second head of the
    first label has p 0.018: with two of three labels selected it needs a level of 0.018 * 3 / 2 * 11/6 = 0.0495, with
    all three one of 1.
    """
    families = [np.array([0.018, 0.006]), np.array([0.012, 0.7]), np.array([0.6, 0.95])]
    first, second, third = adjust(families, dependent=True)
    assert first == pytest.approx([0.0495, 0.033])
    assert second == pytest.approx([0.033, 1])
    assert third == pytest.approx([1, 1])


def test_at_any_level_the_procedure_of_benjamini_and_bogomolov_rejects_the_same() -> None:
    random = np.random.default_rng(5)
    families = [random.random(6) ** random.integers(1, 5) for _ in range(15)]
    adjusted = adjust(families, dependent=True)
    for level in (0.01, 0.05, 0.2, 0.5):
        selected = multipletests([family.min() for family in families], level, method="fdr_by")[0]
        share = level * selected.sum() / len(families) / (1 / np.arange(1, 16)).sum()
        for family, mine, chosen in zip(families, adjusted, selected, strict=True):
            assert (mine <= level).tolist() == ((family <= share) & chosen).tolist()


def test_what_was_not_tested_does_not_count() -> None:
    nothing = np.array([np.nan, np.nan])
    one, missing, other = adjust([np.array([0.01]), nothing, np.array([0.5])], dependent=True)
    assert one == pytest.approx([0.03])
    assert other == pytest.approx([0.75])
    assert bool(np.isnan(missing).all())
    assert bool(np.isnan(adjust([nothing], dependent=True)[0]).all())


def test_a_grade_stops_at_the_first_failure() -> None:
    first, words, rules = np.array(
        [[0.04, 0.04, 0.05, np.nan, 0.0], [0.04, 0.06, 0.0, 0.0, 0.0], [0.04, 0.0, 0.0, 0.0, np.nan]]
    )
    assert VerdictRule().grades([first, words, rules]).tolist() == [3, 1, 0, 0, 2]
    assert VerdictRule(alpha=0.04).grades([first, words, rules]).tolist() == [0, 0, 0, 0, 2]
