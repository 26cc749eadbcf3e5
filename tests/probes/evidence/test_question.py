"""What one question says of heads, worked by hand."""

from collections.abc import Sequence

import numpy as np
import pytest

from probes.evidence.question import Draws, Effort, weigh
from probes.evidence.statistics import Bootstrap, SignFlips
from probes.scoring.tally import Sums


def sums_of(n: Sequence[float], *hits: Sequence[float], mass: float = 0.5) -> Sums:
    """Sums over clusters 0, 1, ..; a list of hits a head, of whose hits `mass` is the attention."""
    columns = np.array(hits, np.float64).T
    return Sums(tuple(range(len(n))), np.array(n, np.float64), columns, mass * columns, columns + 1, columns / 4)


def paired(*weights: Sequence[float], flips: int = 1000) -> Draws:
    """Resamples that are given instead of drawn, [replicate, cluster]."""
    clusters = tuple(range(len(weights[0])))
    return Draws(Bootstrap(clusters, np.array(weights, np.float64), level=0.5), SignFlips.draw(clusters, flips, 0))


def drawn(clusters: int) -> Draws:
    return Draws.of(range(clusters), Effort(200, 99, 0), 1)


HEADS = sums_of([10, 20, 10], [4, 15, 5], [1, 2, 1], [10, 20, 10])
"Accuracies 0.6, 0.1 and 1."
OFFSET, UNIFORM, TABLE = (sums_of([10, 20, 10], hits) for hits in ([2, 5, 3], [5, 6, 1], [9, 15, 6]))
"Accuracies 0.25, 0.3 and 0.75."


def test_numbers_are_sums_over_items() -> None:
    found = weigh(HEADS, {}, None, drawn(3), test=False)
    assert (found.n, found.clusters) == (40, 3)
    assert found.accuracy.tolist() == pytest.approx([0.6, 0.1, 1])
    assert found.mass.tolist() == pytest.approx([0.3, 0.05, 0.5])
    assert found.coverage.tolist() == pytest.approx([27 / 40, 7 / 40, 43 / 40])
    assert found.near_ties.tolist() == [6, 1, 10]


def test_the_margin_is_over_the_strongest_baseline_and_never_over_the_table() -> None:
    found = weigh(HEADS, {"offset": OFFSET, "uniform": UNIFORM}, TABLE, drawn(3), test=False)
    assert (found.baseline, found.baseline_accuracy) == ("uniform", 0.3)
    assert found.margin.tolist() == pytest.approx([0.3, -0.2, 0.7])
    assert found.lexical_accuracy == 0.75


def test_rules_are_told_beside_the_baselines_and_are_not_among_them() -> None:
    rules = {"tag rule": TABLE, "first noun": OFFSET}
    found = weigh(HEADS, {"offset": OFFSET}, None, drawn(3), test=False, rules=rules)
    assert (found.baseline, found.rule, found.rule_accuracy) == ("offset", "tag rule", 0.75)
    resampled = paired([3, 0, 0], [0, 3, 0], [0, 0, 3])
    low, high = weigh(HEADS, {}, None, resampled, test=False, rules=rules).rule_interval
    np.testing.assert_allclose([low[2], high[2]], weigh(HEADS, {}, TABLE, resampled, test=False).lexical_interval[:, 2])
    assert weigh(HEADS, {}, None, drawn(3), test=False).rule == ""


def test_of_equal_baselines_the_first_by_name_is_told_in_whatever_order_they_are_given() -> None:
    assert weigh(HEADS, {"b": OFFSET, "a": OFFSET}, None, drawn(3), test=False).baseline == "a"


def test_intervals_are_those_of_the_resamples_and_margins_are_paired_with_them() -> None:
    """Three resamples, each of one cluster alone.

    The first head has 0.4, 0.75 and 0.5, uniform rows 0.5, 0.3 and 0.1, the table 0.9, 0.75 and 0.6.
    """
    draws = paired([3, 0, 0], [0, 3, 0], [0, 0, 3])
    found = weigh(HEADS, {"offset": OFFSET, "uniform": UNIFORM}, TABLE, draws, test=False)
    resamples = draws.bootstrap.of((0, 1, 2), HEADS.n)
    for interval, one in (
        (found.accuracy_interval, [0.4, 0.75, 0.5]),
        (found.mass_interval, [0.2, 0.375, 0.25]),
        (found.margin_interval, [-0.1, 0.45, 0.4]),
        (found.lexical_interval, [-0.5, 0, -0.1]),
    ):
        assert interval.shape == (2, 3)
        np.testing.assert_allclose(interval[:, 0], resamples.interval(np.array(one)[:, None])[:, 0], atol=1e-12)
        assert interval[1, 0] - interval[0, 0] > 0.1
    np.testing.assert_allclose(found.accuracy_interval[:, 2], 1)


def test_stability_is_the_share_of_resamples_that_a_head_wins() -> None:
    """The second head is the better one in the second cluster alone, and has 10 to 11 in both together."""
    heads = sums_of([10, 10], [6, 5], [1, 9])
    draws = paired([2, 0], [2, 0], [0, 2], [1, 1])
    assert weigh(heads, {}, None, draws, test=False).stability.tolist() == [0.75, 0.25]


def test_p_is_that_against_the_baseline_that_is_beaten_least() -> None:
    """Above one baseline in all four clusters, 1 of 16 signs; above the other in three, 2 of 16."""
    n, head = [10.0] * 4, sums_of([10] * 4, [8, 8, 8, 7])
    low, high = sums_of(n, [1, 2, 3, 4]), sums_of(n, [1, 2, 3, 8])
    draws = drawn(4)
    assert weigh(head, {"low": low}, None, draws, test=True).p.tolist() == [1 / 16]
    found = weigh(head, {"low": low, "high": high}, None, draws, test=True)
    assert found.p.tolist() == found.p_label.tolist() == [2 / 16]


def test_the_table_is_no_baseline_of_the_tests() -> None:
    found = [weigh(HEADS, {"offset": OFFSET}, table, drawn(3), test=True) for table in (None, TABLE)]
    assert found[0].p.tolist() == found[1].p.tolist()


def test_without_baseline_there_is_neither_margin_nor_test() -> None:
    found = weigh(HEADS, {}, TABLE, drawn(3), test=True)
    assert found.baseline == ""
    for missing in (found.baseline_accuracy, found.margin, found.margin_interval, found.p, found.p_label):
        assert bool(np.isnan(missing).all())
    assert found.lexical_accuracy == 0.75
    assert not bool(np.isnan(found.lexical_interval).any())


def test_without_table_there_is_nothing_about_it() -> None:
    found = weigh(HEADS, {"offset": OFFSET}, None, drawn(3), test=True)
    assert np.isnan(found.lexical_accuracy)
    assert found.lexical_interval.shape == (2, 3)
    assert bool(np.isnan(found.lexical_interval).all())
    assert not bool(np.isnan(found.margin_interval).any())


def test_where_no_test_is_wanted_there_is_none() -> None:
    found = weigh(HEADS, {"offset": OFFSET}, TABLE, drawn(3), test=False)
    assert bool(np.isnan(found.p).all())
    assert bool(np.isnan(found.p_label).all())
    assert found.margin.tolist() == pytest.approx([0.35, -0.15, 0.75])


def test_splits_have_draws_of_their_own_that_follow_the_seed() -> None:
    first, again, other = (Draws.of(range(9), Effort(50, 40, 7), split) for split in (0, 0, 1))
    assert first.bootstrap.weights.shape == (50, 9)
    assert first.flips.signs.shape == (40, 9)
    for part in (lambda draws: draws.bootstrap.weights, lambda draws: draws.flips.signs):
        assert np.array_equal(part(first), part(again))
        assert not np.array_equal(part(first), part(other))
