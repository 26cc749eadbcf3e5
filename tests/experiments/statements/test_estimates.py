import math

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from experiments.statements.estimates import (
    Estimate,
    crossed_sums,
    difference,
    exact,
    geometric_mean,
    mean_of,
    over_heads_and_texts,
    ratio,
)
from experiments.statements.numbers import over_units

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


def planted(value, heads=12, texts=40, documents=20) -> pd.DataFrame:
    """Return a row a head and text with `value(head, text)`."""
    rows = [
        {"text": text, "document": text % documents, "name": f"1-{head + 1}", "value": value(head, text)}
        for text in range(texts)
        for head in range(heads)
    ]
    return pd.DataFrame(rows)


def estimate(table: pd.DataFrame) -> Estimate:
    return over_heads_and_texts(lambda means: float(means[0][0]), [crossed_sums(table, ["value"], table.text >= 0)])


def width(found: Estimate) -> float:
    return found.high - found.low


def test_where_heads_differ_and_texts_do_not_the_interval_is_wide() -> None:
    table = planted(lambda head, text: head % 2)
    found = estimate(table)
    assert found.value == 0.5
    assert width(found) > 0.5
    over_texts = over_units(lambda rows: float(rows.value.mean()), table, "document")
    assert over_texts.high - over_texts.low == pytest.approx(0, abs=1e-12), "texts alone show no doubt"


def test_it_holds_the_mean_as_often_as_it_says_where_both_vary() -> None:
    random = np.random.default_rng(2)
    held = 0
    for _ in range(100):
        of_head, of_text = random.normal(size=10), random.normal(size=20)
        found = estimate(planted(lambda head, text: of_head[head] + of_text[text], heads=10, texts=20))  # noqa: B023
        held += found.low <= 0 <= found.high
    assert held >= 90


def test_the_value_is_the_mean_over_heads_of_their_means_over_texts() -> None:
    random = np.random.default_rng(3)
    table = planted(lambda head, text: random.random())
    counted = table.text < 11
    sums = crossed_sums(table, ["value"], counted)
    assert sums.whole[0] == pytest.approx(table[counted].groupby("name").value.mean().mean())
    assert sums.texts.sum() == pytest.approx(11)
    assert sums.totals.shape == (20, 1, 12)


def test_parts_of_one_table_are_resampled_together() -> None:
    table = planted(lambda head, text: head + (text >= 20))
    parts = [crossed_sums(table, ["value"], table.text < 20), crossed_sums(table, ["value"], table.text >= 20)]
    found = over_heads_and_texts(lambda means: float(means[1][0] - means[0][0]), parts)
    assert (found.value, found.low, found.high) == pytest.approx((1, 1, 1), abs=1e-9), "heads cancel"


def test_one_head_or_one_document_has_no_interval() -> None:
    for few in ({"heads": 1}, {"documents": 1}):
        found = estimate(planted(lambda head, text: text % 3, **few))
        assert np.isnan([found.low, found.high]).all()
        assert found.n == 1
