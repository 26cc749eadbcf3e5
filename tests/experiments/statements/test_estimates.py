import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from experiments.statements.estimates import difference, exact, geometric_mean, mean_of, ratio

NUMBERS = st.lists(st.floats(-1e3, 1e3), min_size=2, max_size=12)


@given(NUMBERS)
def test_the_interval_of_a_mean_is_students(values: list[float]) -> None:
    found, error = mean_of(values), stats.sem(values)
    assert found.value == pytest.approx(np.mean(values))
    assert found.n == len(values)
    if error > 1e-9:
        low, high = stats.t.interval(0.95, len(values) - 1, np.mean(values), error)
        assert (found.low, found.high) == pytest.approx((low, high))


def test_too_few_repeats_have_no_interval() -> None:
    one, none = mean_of([2.0]), mean_of([])
    assert (one.value, one.n, math.isnan(one.low), math.isnan(one.high)) == (2.0, 1, True, True)
    assert (none.n, math.isnan(none.value)) == (0, True)
    assert exact(3.0) == exact(3.0)
    assert (exact(3.0).low, exact(3.0).high) == (3.0, 3.0)


def test_differences_are_paired_by_seed() -> None:
    ours, theirs = {0: 5.0, 1: 7.0, 2: 12.0, 9: 1e6}, {2: 10.0, 0: 4.0, 1: 5.0}
    found = difference(ours, theirs)
    paired = stats.ttest_rel([5, 7, 12], [4, 5, 10]).confidence_interval(0.95)
    assert (found.value, found.n) == (pytest.approx(5 / 3), 3)
    assert (found.low, found.high) == pytest.approx((paired.low, paired.high))


def test_ratios_are_averaged_as_logarithms() -> None:
    found = ratio([2.0, 8.0], [1.0, 1.0])
    assert found.value == pytest.approx(4.0)
    logs = mean_of([math.log(2), math.log(8)])
    assert (found.low, found.high) == pytest.approx((math.exp(logs.low), math.exp(logs.high)))
    swapped = ratio([1.0, 1.0], [2.0, 8.0])
    assert (1 / swapped.high, 1 / swapped.low) == pytest.approx((found.low, found.high))
    assert geometric_mean([4.0, 4.0]).low == pytest.approx(4.0)
    with pytest.raises(ValueError, match="argument 2 is longer"):
        ratio([1.0], [1.0, 2.0])
