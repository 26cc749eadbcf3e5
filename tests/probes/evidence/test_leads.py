"""Tests of leads: against statsmodels, by hand, by dense matrices, and by simulation."""

import math
from dataclasses import replace

import numpy as np
import pytest
import scipy.stats
import statsmodels.api
from statsmodels.stats.multitest import multipletests
from statsmodels.stats.proportion import proportion_confint

from probes.evidence.leads import (
    Documents,
    LeadTest,
    holm,
    independent_difference,
    p_of_leads,
    p_unseen,
    paired_difference,
    two_sided,
)
from probes.scoring.tally import Numbers
from reports.tables.estimate import Estimate

TEST = LeadTest(lead=0.15, margin=0.05, level=0.01, alpha=0.05, spread=0.2)


@pytest.mark.parametrize("documents", [40, 60, 100])
def test_power_is_the_share_of_simulated_corpora_with_a_find(documents: int) -> None:
    """Leads of documents of 200 words are normal; 4,000 corpora. The test allows for what normal leads have not."""
    random, n = np.random.default_rng(2), np.full(documents, 200.0)
    leads = random.normal(TEST.lead, TEST.spread, (documents, 4000))
    p = Documents.of(n).p_above(leads * n[:, None], TEST.margin)
    assert TEST.power(documents) == pytest.approx((p < TEST.level).mean(), abs=0.05)


def test_the_documents_that_are_needed_are_the_fewest_with_that_power() -> None:
    needed = TEST.documents(0.8)
    assert needed is not None
    assert TEST.power(needed) >= 0.8 > TEST.power(needed - 1)
    assert replace(TEST, spread=0.4).documents(0.8) == pytest.approx(4 * needed, rel=0.1), "twice the error"


def test_where_leads_do_not_vary_as_many_documents_are_needed_as_may_be_missing() -> None:
    """Of heads that lead by 15 points 8.7 % of documents may be lost: 33 or more show one in 95 % of corpora."""
    steady = replace(TEST, spread=1e-6)
    needed = steady.documents(0.8)
    assert needed == math.ceil(steady.fewest) == 33
    unseen = p_unseen(np.array([0.15, 0.15]), np.array([33.0, 32.0]), 0.05)
    assert unseen[0] < 0.05 < unseen[1]
    assert (steady.power(33), steady.power(32)) == (1, 0)


N = np.array([3.0, 8, 1, 20, 11, 6, 40, 7, 9, 2])
TOTALS = np.random.default_rng(0).random((10, 3)) * N[:, None]


def test_the_error_is_that_of_a_weighted_regression_with_hc3_of_statsmodels_and_that_of_lengths() -> None:
    """The second is the slope by what the mean log length errs by: leaving out one document after the other."""
    design = np.column_stack([np.ones(10), np.log(N)])
    at = N @ design / N.sum()
    without = [np.average(np.log(np.delete(N, one)), weights=np.delete(N, one)) for one in range(10)]
    lengths = np.square(np.array(without) - at[1]).sum()
    for place, found in enumerate(Documents.of(N).error(TOTALS)):
        fit = statsmodels.api.WLS(TOTALS[:, place] / N, design, weights=N).fit(cov_type="HC3")
        assert found == pytest.approx(np.sqrt(at @ fit.cov_params() @ at + fit.params[1] ** 2 * lengths))
        assert fit.params @ at == pytest.approx(TOTALS[:, place].sum() / N.sum())


def test_documents_of_one_length_have_the_error_of_a_mean_and_one_degree_of_freedom_less() -> None:
    """CR3 of a mean: the standard error times the square root of c / (c - 1)."""
    means = TOTALS / N[:, None]
    documents = Documents.of(np.full(10, 4.0))
    np.testing.assert_allclose(documents.error(4 * means), scipy.stats.sem(means) * np.sqrt(10 / 9))
    assert documents.freedom == pytest.approx(9)
    assert documents.effective == pytest.approx(10)


def test_degrees_of_freedom_are_those_of_dense_matrices() -> None:
    documents = Documents.of(N)
    maker = np.eye(10) - documents.design @ documents.solve
    product = documents.weight[:, None] * (maker @ maker.T)
    assert documents.freedom == pytest.approx(np.trace(product) ** 2 / np.trace(product @ product))
    assert 1 < documents.freedom < 9
    assert documents.effective == pytest.approx(N.sum() ** 2 / (N @ N))


def guarded(documents: Documents, totals: Numbers, more: float) -> tuple[Numbers, Numbers]:
    """Estimate and error with one more item that has `more`: a step of (more - mean) / (n + 1) by a single item."""
    n, mean = N.sum(), totals.sum(0) / N.sum()
    step = (more - mean) / (n + 1)
    return mean + step, np.sqrt(documents.error(totals) ** 2 + step**2)


def test_intervals_and_bounds_are_those_of_student_s_t_with_one_more_item() -> None:
    documents = Documents.of(N)
    (below, short), (above, long) = (guarded(documents, TOTALS, more) for more in (-1, 1))
    far = scipy.stats.t.ppf(0.975, documents.freedom)
    np.testing.assert_allclose(documents.interval(TOTALS), [below - far * short, above + far * long])
    bounds = above + scipy.stats.t.ppf(0.95, documents.freedom) * long
    np.testing.assert_allclose(documents.upper_bound(TOTALS), np.minimum(bounds, 1))
    level = scipy.stats.t.cdf(0.2, documents.freedom)
    np.testing.assert_allclose(documents.upper_bound(TOTALS, level), above + 0.2 * long)


def test_the_interval_of_a_share_is_that_of_agresti_and_coull_where_documents_are_items() -> None:
    hits = np.zeros((300, 3))
    hits[:30, 0], hits[:280, 1] = 1, 1
    found = Documents.of(np.ones(300)).share_interval(hits)
    expected = [proportion_confint(count, 300, method="agresti_coull") for count in (30, 280, 0)]
    np.testing.assert_allclose(found.T, np.clip(expected, 0, 1), atol=0.0015)
    assert found[0, 2] == 0 < found[1, 2]
    assert np.isnan(Documents.of(np.array([7.0])).share_interval(np.array([[7.0]]))).all()


@pytest.mark.parametrize("share", [0.02, 0.3, 0.97])
@pytest.mark.parametrize("documents", [25, 100])
def test_intervals_of_shares_hold_them(share: float, documents: int) -> None:
    """2,000 corpora of documents that differ in length and in how often a head is right (beta-binomial)."""
    random = np.random.default_rng(1)
    n = random.integers(2, 12, documents).astype(float)
    chance = random.beta(8 * share, 8 * (1 - share), (documents, 2000))
    low, high = Documents.of(n).share_interval(random.binomial(n.astype(int)[:, None], chance).astype(float))
    held = ((low <= share) & (share <= high)).mean()
    assert held >= 0.93


def test_p_is_that_of_the_lead_above_the_margin() -> None:
    """Where leads of documents are symmetric there is nothing to bend: p is 2.5 % at the end of the interval."""
    n = np.full(9, 50.0)
    even = (n * np.linspace(0.1, 0.5, 9))[:, None]
    documents = Documents.of(n)
    low = documents.interval(even)[0]
    assert documents.p_above(even, low[0])[0] == pytest.approx(0.025)
    mean, error = 0.3 - 1.3 / 451, np.hypot(documents.error(even)[0], 1.3 / 451)
    assert documents.p_above(even, 0.2)[0] == pytest.approx(scipy.stats.t.sf((mean - 0.2) / error, 8))


def test_a_few_documents_that_lead_by_far_less_make_a_lead_less_sure() -> None:
    """The same mean and spread, with the odd documents above or below the others; by hand after Hall (1992)."""
    n = np.full(40, 30.0)
    below = np.full((40, 1), 0.2)
    below[:2] = -0.6
    above = 2 * below.mean() - below
    documents = Documents.of(n)
    rare, plain = (float(documents.p_above(n[:, None] * leads, 0.05)[0]) for leads in (below, above))
    step = (-1 - 0.16) / 1201
    error = np.hypot(documents.error(n[:, None] * below)[0], step)
    t = (0.16 + step - 0.05) / error
    skew = (38 * 0.04**3 - 2 * 0.76**3) / 39**3 / error**3
    assert rare == pytest.approx(scipy.stats.t.sf(t + skew * t**2 / 3 + skew**2 * t**3 / 27 + skew / 6, 39))
    assert plain == pytest.approx(scipy.stats.t.sf(t, 39))
    assert rare > 1.5 * plain


def test_a_head_that_loses_on_every_item_has_a_p_of_one() -> None:
    n = np.full(6, 5.0)
    assert Documents.of(n).p_above(-n[:, None], 0.05).tolist() == [1]


def test_documents_that_say_all_the_same_do_not_exclude_what_was_not_seen() -> None:
    """Ten items of which a head has none right: its share may be 5 %, and its lead over an idle rival too."""
    documents, nothing = Documents.of(np.ones(10)), np.zeros((10, 1))
    assert documents.upper_bound(nothing)[0] > 0.05
    assert documents.interval(nothing)[0, 0] < -0.05
    assert documents.share_interval(nothing)[1, 0] > 0.05


def test_leads_of_a_few_unequal_documents_stay_within_a_hundred_points() -> None:
    documents = Documents.of(np.array([1.0, 5, 30]))
    totals = np.array([[1.0], [-2], [20]])
    assert documents.interval(totals)[1, 0] > 1
    assert documents.lead_interval(totals).tolist() == [[-1], [1]]
    assert documents.upper_bound(totals).tolist() == [1]


def test_documents_that_are_missing_from_a_corpus() -> None:
    """Heads that lead by 30 points: were 19.2 % of documents lost on all words, the lead would be 5; ten show none."""
    found = p_unseen(np.array([0.3, 0.05, -1.0, 1.0]), 10, 0.05)
    assert found.tolist() == pytest.approx([(1 - 0.25 / 1.3) ** 10, 1, 1, (1 - 0.475) ** 10])


def test_no_p_is_below_that_of_all_signs() -> None:
    """Four documents, all right by as much: one choice of signs of 16."""
    n = np.array([10.0, 20, 10, 30])
    assert Documents.of(n).p_above(n[:, None], 0.05).tolist() == [1 / 16]


def test_a_lead_is_tested_over_the_rival_that_it_is_least_sure_of() -> None:
    documents, rivals = Documents.of(N), np.column_stack([0.1 * N, 0.2 * N])
    over = [documents.p_above(TOTALS - rivals[:, [rival]], 0.05) for rival in range(2)]
    found = p_of_leads(documents, TOTALS, rivals, 0.05)
    np.testing.assert_array_equal(found, over[1])
    assert (over[1] > over[0]).all()
    assert np.isnan(p_of_leads(documents, TOTALS, rivals[:, :0], 0.05)).all()


@pytest.mark.parametrize("n", [[5.0], [1.0, 1e9]])
def test_what_one_document_decides_is_not_tested(n: list[float]) -> None:
    documents = Documents.of(np.array(n))
    totals = np.array(n)[:, None]
    assert np.isnan(documents.interval(totals)).all()
    assert np.isnan(p_of_leads(documents, totals, 0 * totals, 0.05)).all()


def test_holm_is_that_of_statsmodels() -> None:
    p = np.random.default_rng(1).random(12) ** 4
    np.testing.assert_allclose(holm(p), multipletests(p, method="holm")[1])


def test_values_without_skew_have_the_p_of_a_t_test_with_one_more_zero_in_both_directions() -> None:
    values = np.array([[1.0, 2, 3, 4, 5, 6, 7]]).T - [2.5, 5.5, 4, 4]
    values[:, 3] = 0
    p, adjusted = two_sided(np.ones(7), values)
    mean = 1.5 * 7 / 8
    error = math.hypot(math.sqrt((np.arange(-3, 4) ** 2).sum()) / 6, 1.5 / 8)
    single = 2 * scipy.stats.t.sf(mean / error, 6)
    assert p == pytest.approx([single, single, 1, 1])
    np.testing.assert_allclose(adjusted, multipletests(p, method="holm")[1])


def test_shares_allow_for_one_more_item_against_the_direction() -> None:
    """A lost answer of 40 shows nothing, 14 do; as a share less than as a value that has no bounds."""
    lost = np.zeros((40, 1))
    lost[:14] = 1
    p = [float(two_sided(np.ones(40), lost, against)[0, 0]) for against in (0, 1)]
    documents = Documents.of(np.ones(40))
    assert p[1] == pytest.approx(2 * documents.p_above(lost, 0)[0])
    assert p[0] < p[1] < 0.01
    lost[1:14] = 0
    assert two_sided(np.ones(40), lost, 1)[0, 0] == 1


def test_values_without_bounds_have_the_same_p_in_any_unit() -> None:
    values = np.random.default_rng(3).exponential(size=(30, 2)) - 0.5
    p = [two_sided(np.ones(30), values * unit) for unit in (1, 1e-12, 1e9)]
    np.testing.assert_allclose(p[1], p[0])
    np.testing.assert_allclose(p[2], p[0])


def test_one_cluster_or_none_that_varies_alone_is_not_tested() -> None:
    assert np.isnan(two_sided(np.ones(1), np.ones((1, 2)))).all()


def test_skewed_values_of_mean_0_are_seldom_found_of_many_clusters() -> None:
    """Eight heads whose costs are a little below 0 mostly, and far above in a few clusters; 1,000 samples."""
    random, runs = np.random.default_rng(0), 1000
    exponential = random.exponential(size=(runs, 30, 8)) - 1
    heavy = [np.exp(random.normal(size=(runs, clusters, 8))) - math.exp(0.5) for clusters in (60, 200)]
    found = []
    for values in (exponential, *heavy):
        p = [two_sided(np.ones(len(costs)), costs)[1] for costs in values]
        signs = np.sign(values.mean(1))
        found += [((np.array(p) < 0.05) & (signs == sign)).any(1).mean() for sign in (-1, 1)]
    assert found == pytest.approx([0.03, 0, 0.09, 0, 0.05, 0], abs=0.02)


def false_finds(slope: float, runs: int = 2000) -> tuple[float, float]:
    """Share of runs with p below 5 %, with lengths allowed for and without, where heads are better in short ones.

    Over all documents there are the lead is at the margin; a run's own lengths may be shorter or longer.
    """
    random = np.random.default_rng(7)
    found = np.zeros((runs, 2))
    all_lengths = np.ceil(4 * np.exp(random.normal(0, 1, 1_000_000)))
    typical = (all_lengths * np.log2(all_lengths)).sum() / all_lengths.sum()
    for run in range(runs):
        n = np.ceil(4 * np.exp(random.normal(0, 1, 25)))
        means = 0.05 + slope * (typical - np.log2(n)) + random.normal(0, 0.15, 25)
        documents = Documents.of(n)
        plain = (n / n.sum()) @ (means - 0.05)
        error = np.sqrt(((n / n.sum()) ** 2) @ (means - (n * means).sum() / n.sum()) ** 2)
        found[run] = (
            documents.p_above((n * means)[:, None], 0.05)[0] < 0.05,
            plain / error > scipy.stats.t.ppf(0.95, 24),
        )
    return tuple(found.mean(0).tolist())


def test_false_finds_stay_at_the_level_where_heads_are_better_in_short_documents() -> None:
    """2,000 runs: the Monte-Carlo error is half a point. The plain sandwich, and lengths held fixed, find too much."""
    level, tilted = false_finds(0.0), false_finds(0.05)
    assert level[0] <= 0.06
    assert tilted[0] <= 0.06
    assert tilted[1] > 0.12


# --- differences of two runs on one question


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


def estimate_of(n: np.ndarray, hits: np.ndarray) -> Estimate:
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
    same, p = independent_difference(estimate_of(n, one), estimate_of(n, one))
    assert (same.value, p) == (0, 1)
    assert same.low == pytest.approx(-same.high)


def test_a_paired_interval_is_that_of_the_linearised_difference_and_narrower_than_an_independent_one() -> None:
    n, one, other = two_runs(0.08)
    found, p = paired_difference(n, one, other)
    value = (other - one).sum() / n.sum()
    spread = math.sqrt((((other - one) - value * n) ** 2).sum() * len(n) / (len(n) - 1)) / n.sum()
    far = scipy.stats.t.ppf(0.975, len(n) - 1) * spread
    assert found.value == pytest.approx(value)
    assert (found.low, found.high) == pytest.approx((value - far, value + far), abs=0.15 * far)
    assert p < 0.001
    apart, _ = independent_difference(estimate_of(n, one), estimate_of(n, other))
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
    assert p == pytest.approx(2 * scipy.stats.norm.sf(0.4 / math.hypot(0.1, 0.1) * 1.959964))
    assert math.isnan(independent_difference(Estimate(1.0, 1.0, 1.0), Estimate(0.0, 0.0, 0.0))[1])


def test_an_independent_interval_is_as_wide_as_the_ends_that_oppose_each_other() -> None:
    found, _ = independent_difference(Estimate(0.2, 0.18, 0.24, 3), Estimate(0.5, 0.47, 0.54, 10))
    assert (found.value, found.n) == (pytest.approx(0.3), 3)
    assert (found.low, found.high) == pytest.approx((0.3 - math.hypot(0.03, 0.04), 0.3 + math.hypot(0.04, 0.02)))


def test_what_was_not_measured_stays_missing() -> None:
    for found, p in (
        independent_difference(Estimate(0.5), Estimate(0.5, 0.4, 0.6)),
        independent_difference(Estimate(0.2, math.nan, math.nan, 1), Estimate(1.0, 1.0, 1.0, 1)),
    ):
        assert all(map(math.isnan, (found.low, found.high, p)))
    alone, p = paired_difference(np.array([4.0]), np.array([1.0]), np.array([3.0]))
    assert alone.value == 0.5
    assert all(map(math.isnan, (alone.low, alone.high, p)))
