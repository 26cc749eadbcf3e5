"""The table of shapes: means, intervals and tests, from sums that are known."""

import numpy as np
import pandas as pd
import pytest

from mha import Model
from probes.evidence.question import Effort
from probes.maps.shape_table import add_adjusted, shape_table
from probes.maps.shapes import MEASURES, Shapes

LOCAL = MEASURES.index(("sieve", "local"))
EFFORT = Effort(replicates=200, flips=999, seed=0)


def sums(model: Model, seed: int, **heads: float) -> Shapes:
    """40 clusters of two texts; the score of the sieve "local" of heads h0, h1 and so on, with noise."""
    shapes = Shapes(model, [f"d{i}" for i in range(40)])
    random = np.random.default_rng(seed)
    shapes.n[:40, LOCAL] = 2
    for name, score in heads.items():
        shapes.sums[:40, LOCAL, int(name[1:])] = 2 * (score + random.normal(0, 0.3, 40))
    shapes.even[:40, LOCAL] = 2
    return shapes


@pytest.fixture(scope="module")
def table(model: Model) -> pd.DataFrame:
    select, report = sums(model, 0, h0=5, h1=1), sums(model, 1, h0=3.5, h1=2.5, h2=3, h4=3.6)
    return shape_table(select, report, EFFORT, 3.0)


def test_values_are_means_over_texts_with_intervals_over_clusters(table: pd.DataFrame, model: Model) -> None:
    row = table[(table.split == "report") & (table.measure == "local") & (table.name == "1-1")].iloc[0]
    report = sums(model, 1, h0=3.5, h1=2.5, h2=3, h4=3.6)
    scores = report.sums[:40, LOCAL, 0] / 2
    assert (row.n, row.clusters, row.even) == (80, 40, 1.0)
    assert row.value == pytest.approx(scores.mean())
    error = scores.std() / np.sqrt(40)
    assert (row.ci_low, row.ci_high) == pytest.approx((row.value - 2.02 * error, row.value + 2.02 * error), abs=0.03)


def test_sieves_are_tested_against_the_threshold_on_the_report_split_alone(table: pd.DataFrame) -> None:
    tested = table[table.p.notna()]
    assert set(zip(tested.split, tested.kind, tested.measure, strict=True)) == {("report", "sieve", "local")}
    assert set(tested.threshold) == {3.0}
    p = tested.set_index("name").p
    assert p["1-1"] == p["2-2"] == pytest.approx(0.001)
    assert p["1-2"] > 0.99
    assert 0.02 < p["1-3"] < 0.98
    by_label = tested.set_index("name").p_label
    assert bool((by_label >= p).all())
    assert table.p_adjusted.isna().all()


def test_tests_are_corrected_for_all_sieves_and_scopes(table: pd.DataFrame) -> None:
    """Two scopes are two families: with one that finds nothing, the smallest p doubles."""
    other = table.assign(scope="window", p=1.0, p_label=np.where(table.p_label.notna(), 1.0, np.nan))
    alone = add_adjusted(table.assign(scope="sentence"))
    both = add_adjusted(pd.concat([table.assign(scope="sentence"), other], ignore_index=True))
    tested = alone.p_label.notna()
    np.testing.assert_allclose(alone.p_adjusted[tested], alone.p_label[tested])
    first = both[(both.scope == "sentence") & (both.name == "1-1") & both.p_label.notna()].iloc[0]
    assert first.p_adjusted == pytest.approx(2 * first.p_label)
