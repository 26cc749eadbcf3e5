"""Intervals over heads and texts at once, on planted tables."""

import numpy as np
import pandas as pd
import pytest

from experiments.statements.crossed import crossed_sums, over_heads_and_texts
from experiments.statements.estimates import Estimate
from experiments.statements.numbers import over_units


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
