"""Differences of two runs on one question."""

import math

import numpy as np
import pytest
from scipy import stats

from probes.evidence.contrast import independent_difference, paired_difference
from probes.evidence.leads import Documents
from reports.tables.estimate import Estimate

GROUPS = tuple(range(60))


def two_runs(apart: float) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return n and the hits of two runs on the same texts; the other is right `apart` more often."""
    random = np.random.default_rng(3)
    n = random.integers(5, 40, len(GROUPS)).astype(float)
    easy = random.beta(4, 4, len(GROUPS)) * 0.8
    items = [random.random(int(count)) for count in n]
    one, other = (
        np.array([(item < share + more).sum() for item, share in zip(items, easy, strict=True)], float)
        for more in (0, apart)
    )
    return n, one, other


def interval(n: np.ndarray, hits: np.ndarray) -> Estimate:
    """Return an accuracy with the normal interval of a ratio over groups."""
    mean = hits.sum() / n.sum()
    half = 1.96 * math.sqrt(((hits - mean * n) ** 2).sum() * len(n) / (len(n) - 1)) / n.sum()
    return Estimate(mean, mean - half, mean + half)


def told(found: Estimate, p: float) -> tuple[float, ...]:
    return found.value, found.low, found.high, p


def test_runs_with_the_same_hits_do_not_differ() -> None:
    n, one, _ = two_runs(0)
    found, p = paired_difference(n, one, one)
    assert (found.value, p) == (0, 1)
    assert -0.01 < found.low == -found.high < 0
    same, p = independent_difference(interval(n, one), interval(n, one))
    assert (same.value, p) == (0, 1)
    assert same.low == pytest.approx(-same.high)


def test_a_paired_interval_is_that_of_the_linearised_difference_and_narrower_than_an_independent_one() -> None:
    n, one, other = two_runs(0.08)
    found, p = paired_difference(n, one, other)
    value = (other - one).sum() / n.sum()
    spread = math.sqrt((((other - one) - value * n) ** 2).sum() * len(n) / (len(n) - 1)) / n.sum()
    far = stats.t.ppf(0.975, len(n) - 1) * spread
    assert found.value == pytest.approx(value)
    assert (found.low, found.high) == pytest.approx((value - far, value + far), abs=0.15 * far)
    assert p < 0.001
    apart, _ = independent_difference(interval(n, one), interval(n, other))
    assert apart.value == pytest.approx(value)
    assert apart.high - apart.low > 2 * (found.high - found.low)


def test_a_paired_difference_is_tested_as_a_lead_in_both_directions() -> None:
    n, one, other = two_runs(0.02)
    (_, p), documents = paired_difference(n, one, other), Documents.of(n)
    up, down = (documents.p_above((x - y)[:, None], 0)[0] for x, y in ((other, one), (one, other)))
    assert p == pytest.approx(min(2 * min(up, down), 1))
    assert up < down


def test_the_other_way_round_the_difference_changes_its_sign_alone() -> None:
    n, one, other = two_runs(0.03)
    there, back = (told(*paired_difference(n, *both)) for both in ((one, other), (other, one)))
    assert back == pytest.approx((-there[0], -there[2], -there[1], there[3]))
    first, second = Estimate(0.4, 0.35, 0.5), Estimate(0.6, 0.55, 0.62)
    there, back = (told(*independent_difference(*both)) for both in ((first, second), (second, first)))
    assert back == pytest.approx((-there[0], -there[2], -there[1], there[3]))


def test_an_independent_interval_is_that_of_two_normal_numbers_and_p_agrees_with_it() -> None:
    found, p = independent_difference(Estimate(0.5, 0.47, 0.53), Estimate(0.55, 0.51, 0.59))
    assert (found.value, found.low, found.high) == pytest.approx((0.05, 0, 0.1))
    assert p == pytest.approx(0.05)
    _, p = independent_difference(Estimate(0.2, 0.1, 0.3), Estimate(0.6, 0.5, 0.7))
    assert p == pytest.approx(2 * stats.norm.sf(0.4 / math.hypot(0.1, 0.1) * 1.959964))
    assert math.isnan(independent_difference(Estimate(1.0, 1.0, 1.0), Estimate(0.0, 0.0, 0.0))[1])


def test_what_was_not_measured_stays_missing() -> None:
    found, p = independent_difference(Estimate(0.5), Estimate(0.5, 0.4, 0.6))
    assert all(map(math.isnan, (found.low, found.high, p)))
    alone, p = paired_difference(np.array([4.0]), np.array([1.0]), np.array([3.0]))
    assert alone.value == 0.5
    assert all(map(math.isnan, (alone.low, alone.high, p)))
