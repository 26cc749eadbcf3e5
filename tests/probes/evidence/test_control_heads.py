"""The levels of controls, beside values by hand, scipy, and models whose distribution is known."""

import numpy as np
import pytest
from scipy import stats

from probes.evidence.control_heads import QUANTILE, ControlHeads, best_heads
from probes.evidence.leads import EXACT, ControlLevel, Documents
from probes.scoring.tally import Numbers, Question, Sums

A: Question = ("dependency", "v", "a")
B: Question = ("dependency", "v", "b")


def sums_of(n: list[float], hits: object) -> Sums:
    """Sums over clusters 0, 1, ..; `hits` has a row a document."""
    return Sums.of_hits(tuple(range(len(n))), np.array(n, np.float64), np.array(hits, np.float64))


def test_the_head_that_one_half_of_the_documents_selects_is_scored_on_the_other() -> None:
    """Documents 1 and 3 select the first head for 2 and 4, where it has nothing; these select the second."""
    one = sums_of([10, 10, 10, 10], [[9, 1], [0, 6], [9, 2], [0, 7]])
    found = best_heads([{A: one}, {A: sums_of([10, 10, 10, 10], [[1], [2], [3], [4]])}])
    assert found[A].hits.tolist() == [[1, 1], [0, 2], [2, 3], [0, 4]]
    assert best_heads([{A: sums_of([10], [[3, 8]])}])[A].hits.tolist() == [[8]], "one document does both"
    assert best_heads([]) == {}


def test_models_that_are_all_alike_are_their_own_level_and_err_by_the_documents_alone() -> None:
    hits = [[6.0] * 5, [8.0] * 5, [7.0] * 5, [3.0] * 5]
    level = ControlHeads(sums_of([10] * 4, hits)).level()
    documents = Documents.of(np.full(4, 10.0))
    assert level.accuracy == 0.6
    assert level.error == pytest.approx(documents.error(np.array(hits)[:, :1])[0])
    assert level.freedom == pytest.approx(documents.freedom)


def test_a_level_is_mean_and_spread_with_the_error_of_both() -> None:
    """Models of 0.2, 0.4 and 0.6 in every document, so that documents add nothing: a standard deviation of 0.2."""
    level = ControlHeads(sums_of([10] * 4, [[2, 4, 6]] * 4)).level()
    assert level.accuracy == pytest.approx(0.4 + QUANTILE * 0.2)
    assert level.error == pytest.approx(0.2 * np.sqrt(1 / 3 + QUANTILE**2 / 4))
    assert level.freedom == pytest.approx(2)
    assert ControlHeads(sums_of([10] * 4, [[2, 4, 6]] * 4), 0.0).level().accuracy == pytest.approx(0.4)
    assert ControlHeads(sums_of([10] * 4, [[8, 9, 10]] * 4)).level().accuracy == 1, "no accuracy is above 1"


def test_a_level_is_the_one_made_by_hand_where_models_and_documents_vary() -> None:
    """Four documents of ten items: squared errors of means are sums of squared differences over 3 * 3."""
    hits = np.array([[1, 4, 8], [3, 5, 9], [1, 8, 6], [5, 6, 4]], np.float64)
    level, shares = ControlHeads(sums_of([10] * 4, hits)).level(), hits / 10
    accuracies, of_all = shares.mean(0), shares.mean(1)
    assert accuracies.tolist() == pytest.approx([0.25, 0.575, 0.675])
    own = shares - of_all[:, None]
    noise = ((own - own.mean(0)) ** 2).sum(0) / 9 * 3 / 2
    varied = ((accuracies - 0.5) ** 2).sum() / 2
    spread = varied - noise.mean()
    assert 0 < spread < varied
    of_variance = varied * np.sqrt(2 / 2)  # of three normal numbers: more than the spread, which counts as no less
    of_models = spread / 3 + QUANTILE**2 * of_variance / 4
    of_documents = ((of_all - 0.5) ** 2).sum() / 9
    assert level.accuracy == pytest.approx(0.5 + QUANTILE * np.sqrt(spread))
    assert level.error == pytest.approx(np.sqrt(of_models + of_documents))
    square = of_models + of_documents
    assert level.freedom == pytest.approx(square**2 / (of_models**2 / 2 + of_documents**2 / 3))


@pytest.mark.parametrize(("documents", "short"), [(12, 0.02), (40, 0.01)])
def test_levels_hold_95_percent_of_models_whatever_the_sample_of_documents_adds(documents: int, short: float) -> None:
    """Models have accuracies of mean 0.3 and spread 0.05; 12 documents of 10 items add nearly as much noise.

    A standard deviation of 20 models is 1 % too small on average, with such noise 5 %.
    """
    random = np.random.default_rng(0)
    levels, inside = [], []
    for _ in range(400):
        rates = random.normal(0.3, 0.05, 20)
        level = ControlHeads(sums_of([10] * documents, random.binomial(10, rates, (documents, 20)))).level()
        levels.append(level.accuracy)
        far = stats.t.ppf(0.975, level.freedom) * level.error
        inside.append(abs(level.accuracy - (0.3 + QUANTILE * 0.05)) < far)
    assert 0.95 - short < stats.norm.cdf(np.mean(levels), 0.3, 0.05) < 0.955
    assert 0.9 < np.mean(inside) < 0.98


N = np.full(30, 10.0)
HITS = np.random.default_rng(2).binomial(10, [0.5, 0.7], (30, 2)).astype(np.float64)


def test_over_a_level_without_error_a_lead_is_that_over_a_baseline_that_is_as_accurate_everywhere() -> None:
    documents, level = Documents.of(N), ControlLevel(0.4, 0.0, np.inf)
    paired: Numbers = HITS - 0.4 * N[:, None]
    np.testing.assert_allclose(documents.p_above(HITS, 0.05, level), documents.p_above(paired, 0.05))
    np.testing.assert_allclose(documents.lead_interval(HITS, level), documents.lead_interval(paired))
    np.testing.assert_allclose(documents.upper_bound(HITS, 0.9, level), documents.upper_bound(paired, 0.9))
    np.testing.assert_array_equal(documents.p_above(paired, 0.05, EXACT), documents.p_above(paired, 0.05))


def test_an_interval_over_a_level_is_that_of_students_t_with_welchs_degrees_of_freedom() -> None:
    documents, level = Documents.of(N), ControlLevel(0.4, 0.03, 7.0)
    low, high = documents.interval(HITS, level)
    for end, sign in ((low, -1), (high, 1)):
        lead = HITS.sum(0) / 300 - 0.4
        error = np.hypot(documents.error(HITS), (sign - lead) / 301)
        both = np.hypot(error, 0.03)
        freedom = both**4 / (error**4 / documents.freedom + 0.03**4 / 7)
        np.testing.assert_allclose(end, (300 * lead + sign) / 301 + sign * stats.t.ppf(0.975, freedom) * both)


def test_the_less_sure_a_level_is_the_larger_is_p() -> None:
    documents = Documents.of(N)
    found = [documents.p_above(HITS, 0.05, ControlLevel(0.4, error, 10.0)) for error in (0.001, 0.05, 0.2)]
    assert (np.diff(found, axis=0) > 0).all()
    together = ControlLevel(np.full((3, 1), 0.4), np.array([[0.001], [0.05], [0.2]]), np.full((3, 1), 10.0))
    np.testing.assert_allclose(documents.measured(HITS).p_above(0.05, together), found)
