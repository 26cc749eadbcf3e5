"""What one question says of heads, worked by hand."""

from collections.abc import Sequence

import numpy as np
import pytest

from probes.evidence.leads import Documents, holm
from probes.evidence.question import GRADED, Effort, QuestionScores, estimate, stability
from probes.evidence.statistics import Bootstrap
from probes.scoring.tally import Numbers, Sums


def sums_of(n: Sequence[float], *hits: Sequence[float], mass: float = 0.5) -> Sums:
    """Sums over clusters 0, 1, ..; a list of hits a head, of whose hits `mass` is the attention."""
    columns = np.array(hits, np.float64).T
    return Sums(
        tuple(range(len(n))),
        np.array(n, np.float64),
        columns,
        mass * columns,
        (columns + 1).sum(0),
        columns.sum(0) / 4,
    )


def given(*weights: Sequence[float]) -> Bootstrap:
    """Resamples that are given instead of drawn, [replicate, cluster]."""
    return Bootstrap(tuple(range(len(weights[0]))), np.array(weights, np.float64))


def ends(scores: QuestionScores, name: str) -> Numbers:
    return np.stack([scores[f"{name}_low"], scores[f"{name}_high"]])


HEADS = sums_of([10, 20, 10], [4, 15, 5], [1, 2, 1], [10, 20, 10])
"Accuracies 0.6, 0.1 and 1."
OFFSET, UNIFORM, TABLE = (sums_of([10, 20, 10], hits) for hits in ([2, 5, 3], [5, 6, 1], [9, 15, 6]))
"Accuracies 0.25, 0.3 and 0.75."


def test_numbers_are_sums_over_items() -> None:
    found = estimate(HEADS, {}, None, test=False)
    assert (found["n"], found["clusters"]) == (40, 3)
    assert found["accuracy"].tolist() == pytest.approx([0.6, 0.1, 1])
    assert found["mass"].tolist() == pytest.approx([0.3, 0.05, 0.5])
    assert found["coverage"].tolist() == pytest.approx([27 / 40, 7 / 40, 43 / 40])
    assert found["near_ties"].tolist() == [6, 1, 10]


def test_the_margin_is_over_the_strongest_baseline_and_never_over_the_table() -> None:
    found = estimate(HEADS, {"offset": OFFSET, "uniform": UNIFORM}, TABLE, test=False)
    assert (found["baseline"], found["baseline_accuracy"]) == ("uniform", 0.3)
    assert found["margin"].tolist() == pytest.approx([0.3, -0.2, 0.7])
    assert found["lexical_accuracy"] == 0.75


def test_rules_are_told_beside_the_baselines_and_are_not_among_them() -> None:
    rules = {"nearest word of a tag set": TABLE, "first noun or pronoun": OFFSET}
    found = estimate(HEADS, {"offset": OFFSET}, None, test=False, rules=rules)
    assert (found["baseline"], found["rule"], found["rule_accuracy"]) == ("offset", "nearest word of a tag set", 0.75)
    np.testing.assert_array_equal(
        ends(found, "rule_margin"), ends(estimate(HEADS, {}, TABLE, test=False), "lexical_margin")
    )
    assert estimate(HEADS, {}, None, test=False)["rule"] == ""


def test_of_equal_baselines_the_first_by_name_is_told_in_whatever_order_they_are_given() -> None:
    assert estimate(HEADS, {"b": OFFSET, "a": OFFSET}, None, test=False)["baseline"] == "a"


def test_intervals_are_those_of_the_documents() -> None:
    found, documents = estimate(HEADS, {}, None, test=False), Documents.of(HEADS.n)
    np.testing.assert_array_equal(ends(found, "ci"), documents.share_interval(HEADS.hits))
    np.testing.assert_array_equal(ends(found, "mass"), np.clip(documents.interval(HEADS.mass), 0, 1))
    assert ends(found, "ci")[1, 2] == 1
    uneven = sums_of([10, 10], [1, 9])
    assert estimate(uneven, {}, None, test=False)["mass_low"][0] == 0
    assert Documents.of(uneven.n).interval(uneven.mass)[0, 0] < 0


def test_intervals_of_leads_are_paired_and_allow_for_lengths() -> None:
    found = estimate(HEADS, {"offset": OFFSET, "uniform": UNIFORM}, TABLE, test=False)
    documents = Documents.of(HEADS.n)
    np.testing.assert_allclose(ends(found, "margin"), documents.lead_interval(HEADS.hits - UNIFORM.hits))
    np.testing.assert_allclose(ends(found, "lexical_margin"), documents.lead_interval(HEADS.hits - TABLE.hits))
    assert found["effective_clusters"] == documents.effective


def test_attention_that_may_be_above_one_is_not_cut_off_there() -> None:
    found = estimate(sums_of([10, 20, 10], [10, 20, 10], mass=3), {}, None, test=False)
    assert ends(found, "mass")[1, 0] > 3


def test_stability_is_the_share_of_resamples_that_a_head_wins() -> None:
    """The second head is the better one in the second cluster alone, and has 10 to 11 in both together."""
    heads = sums_of([10, 10], [6, 5], [1, 9])
    draws = given([2, 0], [2, 0], [0, 2], [1, 1])
    assert stability(heads, draws).tolist() == [0.75, 0.25]


RISING = sums_of([10] * 8, [8, 7, 9, 8, 8, 7, 9, 8], [10, 9, 10, 9, 10, 9, 10, 9], [2, 3, 1, 2, 3, 1, 2, 2])
"Accuracies 0.8, 0.95 and 0.2."
WEAK, STRONG, EXPERT = (sums_of([10] * 8, [hits] * 8) for hits in (2, 6, 8))
"Rivals of 0.2, 0.6 and 0.8 in every document."


def test_p_is_that_over_the_baseline_that_is_led_least_surely() -> None:
    documents = Documents.of(RISING.n)
    found = estimate(RISING, {"weak": WEAK, "strong": STRONG}, None, test=True)
    np.testing.assert_array_equal(found["p"], documents.p_above(RISING.hits - STRONG.hits, 0.05))
    np.testing.assert_array_equal(found["p_label"], holm(found["p"]))
    wide = estimate(RISING, {"weak": WEAK, "strong": STRONG}, None, test=True, margin=0.15)
    assert (wide["p"] > found["p"])[[0, 2]].all()


def test_a_grade_is_over_its_own_rivals_and_all_those_below() -> None:
    """The table is as strong as the first head, the rule as weak as a baseline: neither p can be below the last."""
    found = estimate(RISING, {"weak": WEAK}, EXPERT, test=True, rules={"rule": STRONG})
    first, words, rules = (found[name] for name in GRADED)
    assert first.tolist() == holm(found["p"]).tolist()
    assert words[0] > 0.9
    assert first[0] < 0.05
    assert words[1] < 0.05
    np.testing.assert_array_equal(words, rules)


def test_a_grade_without_its_rival_is_not_tested_and_none_above_it() -> None:
    without_table = estimate(RISING, {"weak": WEAK}, None, test=True, rules={"rule": STRONG})
    without_rules = estimate(RISING, {"weak": WEAK}, STRONG, test=True)
    assert [bool(np.isnan(without_table[name]).all()) for name in GRADED] == [False, True, True]
    assert [bool(np.isnan(without_rules[name]).all()) for name in GRADED] == [False, False, True]


def test_what_is_excluded_is_the_largest_bound_of_any_head_over_the_rival_that_holds_it_most() -> None:
    """Two rivals share the level: each bound is one of 97.5 %."""
    documents = Documents.of(RISING.n)
    found = estimate(RISING, {"weak": WEAK, "expert": EXPERT}, None, test=True)
    bounds = documents.upper_bound(RISING.hits - EXPERT.hits, 0.975)
    assert found["excluded"] == bounds.max() == bounds[1]
    alone = estimate(RISING, {"expert": EXPERT}, None, test=True)["excluded"]
    assert alone == documents.upper_bound(RISING.hits - EXPERT.hits)[1] < found["excluded"]
    assert np.isnan(estimate(RISING, {"weak": WEAK}, None, test=False)["excluded"])


def test_bounds_take_the_control_that_was_chosen_without_the_report_split() -> None:
    """The best of many heads of a control looks better on this split than it is: too little of a lead would be left."""
    lucky, blind = {"permuted weights": STRONG}, {"permuted weights": WEAK}
    documents = Documents.of(RISING.n)
    found = estimate(RISING, lucky, None, test=True, blind=blind)
    assert found["excluded"] == documents.upper_bound(RISING.hits - WEAK.hits).max()
    low, high = ends(found, "margin")
    np.testing.assert_array_equal(low, documents.interval(RISING.hits - STRONG.hits)[0])
    np.testing.assert_array_equal(high, documents.interval(RISING.hits - WEAK.hits)[1])
    np.testing.assert_array_equal(found["p"], documents.p_above(RISING.hits - STRONG.hits, 0.05))


def test_without_baseline_there_is_neither_margin_nor_test() -> None:
    found = estimate(HEADS, {}, TABLE, test=True)
    assert found["baseline"] == ""
    missing = ("baseline_accuracy", "margin", "margin_low", "margin_high", "p", *GRADED, "excluded")
    assert all(bool(np.isnan(found[name]).all()) for name in missing)
    assert found["lexical_accuracy"] == 0.75
    assert not bool(np.isnan(ends(found, "lexical_margin")).any())


def test_without_table_there_is_nothing_about_it() -> None:
    found = estimate(HEADS, {"offset": OFFSET}, None, test=True)
    assert np.isnan(found["lexical_accuracy"])
    assert ends(found, "lexical_margin").shape == (2, 3)
    assert bool(np.isnan(ends(found, "lexical_margin")).all())
    assert not bool(np.isnan(ends(found, "margin")).any())


def test_where_no_test_is_wanted_there_is_none() -> None:
    found = estimate(HEADS, {"offset": OFFSET}, TABLE, test=False)
    assert bool(np.isnan(found["p"]).all())
    assert bool(np.isnan(found["p_label"]).all())
    assert found["margin"].tolist() == pytest.approx([0.35, -0.15, 0.75])


def test_splits_have_resamples_of_their_own_that_follow_the_seed() -> None:
    first, again, other = (Effort(50, 40, 7).resamples(range(9), split).weights for split in (0, 0, 1))
    assert first.shape == (50, 9)
    assert np.array_equal(first, again)
    assert not np.array_equal(first, other)
