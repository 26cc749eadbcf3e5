import math

import numpy as np
import pytest

from probes.scoring.tally import Question, Sums
from probes.training.biography import GROUPS, Biography, Trajectory, courses, marks

QUESTION = ("dependency", "dependent->head", "det")


def sums(clusters: tuple[int, ...], n: list[float], hits: list[list[float]]) -> Sums:
    """Return sums [cluster, head], with half of the hits as mass."""
    array = np.array(hits, np.float64)
    return Sums.of_hits(clusters, np.array(n, np.float64), array, mass=array / 2)


def course(n: list[float], hits: list[list[list[float]]], beaten: list[float] | float = 0.0) -> Trajectory:
    """Return a course with one group an entry of `n`: hits [step, group, head]."""
    items, all_hits = np.zeros(GROUPS), np.zeros((len(hits), GROUPS, len(hits[0][0])), np.float32)
    items[: len(n)], all_hits[:, : len(n)] = n, hits
    told = np.zeros(GROUPS)
    told[: len(n)] = beaten
    return Trajectory(items, all_hits, np.zeros((len(hits), len(hits[0][0]))), "offset", told)


def test_clusters_beyond_the_groups_share_them() -> None:
    found = marks({QUESTION: sums((1, GROUPS + 1, 2), [4, 6, 10], [[1, 0], [2, 3], [5, 5]])})[QUESTION]
    assert found.n[1:3].tolist() == [10, 10]
    assert found.hits[1:3].tolist() == [[3, 3], [5, 5]]
    assert found.mass.tolist() == pytest.approx([4 / 20, 4 / 20])
    assert found.n.sum() == 20


def test_the_baseline_is_the_strongest_one_and_never_the_lexical_table() -> None:
    steps = [marks({QUESTION: sums((0, 1), [10, 10], hits)}) for hits in ([[2, 3], [4, 5]], [[9, 3], [9, 5]])]
    baselines = {
        "offset": {QUESTION: sums((0, 1), [10, 10], [[3], [3]])},
        "uniform": {QUESTION: sums((0, 1), [10, 10], [[4], [1]])},
        "lexical table": {QUESTION: sums((0, 1), [10, 10], [[10], [10]])},
    }
    found = courses(steps, baselines)[QUESTION]
    assert (found.baseline, found.baseline_accuracy) == ("offset", 0.3)
    np.testing.assert_allclose(found.accuracy, [[0.3, 0.4], [0.9, 0.4]])
    np.testing.assert_allclose(found.margins, [[0.0, 0.1], [0.6, 0.1]])
    assert found.best().tolist() == [1, 0]


def test_the_best_head_has_results_on_the_half_that_did_not_choose_it() -> None:
    # head 0 is best on groups 0 and 2, head 1 on groups 1 and 3: each is told where it is worse
    found = course([10] * 4, [[[9, 1], [2, 8], [9, 1], [2, 8]]], beaten=1.0)
    assert found.best_hits()[0, :4].tolist() == [1, 2, 1, 2]
    assert found.best_margins()[0].tolist() == pytest.approx([(6 - 4) / 40])


def test_of_heads_that_know_nothing_the_best_has_no_margin() -> None:
    random = np.random.default_rng(0)
    hits = random.binomial(10, 0.3, (200, 60, 64))
    found = course([10] * 60, hits.tolist(), beaten=3.0)
    assert found.margins.max(1).mean() > 0.04, "the best of many looks better than it is"
    assert abs(found.best_margins()[0].mean()) < 0.005


def test_margins_in_resamples_weigh_groups() -> None:
    found = course([10, 20], [[[9], [4]]], beaten=[1.0, 2.0])
    weights = np.zeros((3, GROUPS))
    weights[:, :2] = [[2, 0], [1, 1], [0, 0]]
    assert found.best_margins(weights)[:, 0].tolist() == pytest.approx([0.8, 10 / 30, math.nan], nan_ok=True)


@pytest.fixture
def biography() -> Biography:
    first, second = [[[1, 5]] * 8, [[8, 5]] * 8], [[[0, 0]] * 4, [[9, 0]] * 4]
    told: dict[Question, Trajectory] = {
        QUESTION: course([10] * 8, first, 2.0),
        ("p", "v", "x"): course([10] * 4, second),
    }
    return Biography(3, (0, 50), (0, 900), "c", 1, 2, told)


def test_the_table_has_a_row_a_step_question_and_head(biography: Biography) -> None:
    table = biography.table(replicates=50, seed=1)
    assert len(table) == 2 * 2 * 2
    row = table[(table.step == 50) & (table.label == "det") & (table.name == "1-1")].iloc[0]
    assert (row.seed, row.tokens, row.corpus, row.n, row.baseline) == (3, 900, "c", 80, "offset")
    assert row[["accuracy", "ci_low", "ci_high", "baseline_accuracy", "margin", "excess"]].tolist() == pytest.approx(
        [0.8, 0.8, 0.8, 0.2, 0.6, 0.7]
    )
    assert (table[table.step == 0].excess == 0).all()
