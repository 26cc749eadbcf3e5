"""Means over groups: by hand, and against what repeated draws give."""

import math

import numpy as np
import pytest

from probes.states.word_states import ClusteredMean


def test_a_mean_of_means_counts_each_stratum_once() -> None:
    """Means 2 and 10 of strata of 3 and 1 values; without the first cluster 3 and 10, without the second 1.5 alone."""
    values, strata = np.array([1.0, 2.0, 3.0, 10.0, math.nan]), np.array([5, 5, 5, 7, 9])
    clusters = np.array([0, 0, 1, 1, 2])
    mean = ClusteredMean.of_means(values, strata, clusters)
    assert (mean.value, mean.n) == (6, 4)
    assert mean.error == pytest.approx(math.sqrt(1 / 2 * ((6.5 - 4) ** 2 + (1.5 - 4) ** 2)))


def test_the_error_of_a_mean_of_means_is_that_of_repeated_draws() -> None:
    random = np.random.default_rng(0)
    drawn = []
    for _ in range(400):
        clusters = np.repeat(np.arange(40), 5)
        strata = random.integers(0, 4, 200)
        values = strata + random.normal(size=40)[clusters] + random.normal(size=200) * (1 + strata)
        drawn.append(ClusteredMean.of_means(values, strata, clusters))
    error = np.std([one.value for one in drawn])
    assert np.mean([one.error for one in drawn]) == pytest.approx(error, rel=0.1)
