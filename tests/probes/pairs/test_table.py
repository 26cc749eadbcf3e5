import numpy as np
import pandas as pd
import pytest

from probes.evidence.statistics import Bootstrap
from probes.minimal_pairs import Kind, LeftOut
from probes.pairs.scores import Decision, Decisions
from probes.pairs.table import COLUMNS, cluster_interval, pair_table


def made(source: str, kind: Kind, good: float, bad: float = 0.0, method: str = "masked") -> Decision:
    return Decision(source, kind, method, float(good), float(bad))


NONE, ONE = Kind("agr", "plain", 0, "singular", "agreement"), Kind("agr", "clause", 1, "plural", "agreement")
NPI = Kind("only", phenomenon="npi", field="semantics")
DECIDED = Decisions(
    made=[
        *[made("a", NONE, 1), made("a", NONE, -1), made("b", NONE, 1), made("b", ONE, 0.0)],
        *[made("c", ONE, 2e-6), made("d", NPI, 3, method="pll"), made("e", NPI, -3, method="masked")],
    ],
    left_out=[LeftOut("f", ONE, "too long"), LeftOut("g", Kind("odd", "", 7), "no verb")],
)


@pytest.fixture(scope="module")
def table() -> pd.DataFrame:
    return pair_table({"invented": DECIDED}, replicates=200, seed=0)


def row(table: pd.DataFrame, level: str, **keys: object) -> pd.Series:
    rows = table[table.level == level]
    for column, value in keys.items():
        rows = rows[rows[column] == value]
    assert len(rows) == 1
    return rows.iloc[0]


def test_a_row_counts_pairs_clusters_ties_and_what_is_left_out(table: pd.DataFrame) -> None:
    assert list(table.columns) == list(COLUMNS)
    whole = row(table, "corpus")
    assert (whole.n, whole.clusters, whole.left_out, whole.near_ties) == (7, 5, 2, 2)
    assert whole.accuracy == pytest.approx((1 + 0 + 1 + 0.5 + 1 + 1 + 0) / 7)
    assert whole.method == "masked, pll"


def test_pairs_are_grouped_by_every_level(table: pd.DataFrame) -> None:
    assert row(table, "attractors", attractors=0).accuracy == pytest.approx(2 / 3)
    assert row(table, "attractors", attractors=1).accuracy == pytest.approx(0.75)
    assert row(table, "phenomenon", phenomenon="npi").method == "masked, pll"
    assert row(table, "paradigm", paradigm="agr").left_out == 1
    assert row(table, "condition", condition="clause").n == 2
    assert row(table, "number", number="plural").accuracy == 0.75
    assert row(table, "field", field="semantics").n == 2
    assert set(table[table.level == "number"].number) == {"singular", "plural"}, "pairs without it are in no row"
    assert row(table, "condition and attractors", condition="plain", attractors=0).n == 3


def test_a_group_of_which_everything_is_left_out_has_no_accuracy(table: pd.DataFrame) -> None:
    lost = row(table, "attractors", attractors=7)
    assert (lost.n, lost.left_out, lost.method) == (0, 1, "")
    assert np.isnan([lost.accuracy, lost.ci_low, lost.ci_high]).all()


def test_drawing_equal_clusters_together_is_the_bootstrap_over_clusters() -> None:
    random_ = np.random.default_rng(5)
    n = random_.integers(1, 4, 300).astype(float)
    hits = random_.binomial(n.astype(int), 0.7).astype(float)
    bootstrap = Bootstrap.draw(range(300), 20_000, 1).of(range(300), n)
    expected = bootstrap.interval(bootstrap.means(hits[:, None]))[:, 0]
    assert cluster_interval(n, hits, 20_000, 2) == pytest.approx(tuple(expected), abs=0.003)


def test_where_every_cluster_is_right_the_bound_is_the_exact_binomial_one() -> None:
    assert cluster_interval(np.full(10, 3.0), np.full(10, 3.0), 100, 0) == pytest.approx((0.6915, 1.0), abs=1e-4)
    assert cluster_interval(np.full(10, 3.0), np.zeros(10), 100, 0) == pytest.approx((0.0, 0.3085), abs=1e-4)
    assert np.isnan(cluster_interval(np.ones(1), np.ones(1), 100, 0)).all()
