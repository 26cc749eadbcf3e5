"""What one question says of heads, worked by hand."""

from collections.abc import Sequence

import numpy as np
import pytest

from probes.evidence.control_heads import ControlHeads
from probes.evidence.leads import Documents, holm
from probes.evidence.question import GRADED, Comparisons, Effort, QuestionScores, estimate, redrawn
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


def ends(scores: QuestionScores, name: str) -> Numbers:
    return np.stack([scores[f"{name}_low"], scores[f"{name}_high"]])


HEADS = sums_of([10, 20, 10], [4, 15, 5], [1, 2, 1], [10, 20, 10])
"Accuracies 0.6, 0.1 and 1."
OFFSET, UNIFORM, TABLE = (sums_of([10, 20, 10], hits) for hits in ([2, 5, 3], [5, 6, 1], [9, 15, 6]))
"Accuracies 0.25, 0.3 and 0.75."


def test_rules_are_told_beside_the_baselines_and_are_not_among_them() -> None:
    rules = {"nearest word of a tag set": TABLE, "first noun or pronoun": OFFSET}
    found = estimate(HEADS, Comparisons({"offset": OFFSET}, rules=rules), test=False)
    assert (found["baseline"], found["rule"], found["rule_accuracy"]) == ("offset", "nearest word of a tag set", 0.75)
    np.testing.assert_array_equal(
        ends(found, "rule_margin"), ends(estimate(HEADS, Comparisons({}, table=TABLE), test=False), "lexical_margin")
    )
    assert estimate(HEADS, Comparisons({}), test=False)["rule"] == ""


def test_of_equal_baselines_the_first_by_name_has_results_in_whatever_order_they_are_given() -> None:
    assert estimate(HEADS, Comparisons({"b": OFFSET, "a": OFFSET}), test=False)["baseline"] == "a"


def test_intervals_are_those_of_the_documents() -> None:
    found, documents = estimate(HEADS, Comparisons({}), test=False), Documents.of(HEADS.n)
    np.testing.assert_array_equal(ends(found, "ci"), documents.share_interval(HEADS.hits))
    np.testing.assert_array_equal(ends(found, "mass"), np.clip(documents.interval(HEADS.mass), 0, 1))
    assert ends(found, "ci")[1, 2] == 1
    uneven = sums_of([10, 10], [1, 9])
    assert estimate(uneven, Comparisons({}), test=False)["mass_low"][0] == 0
    assert Documents.of(uneven.n).interval(uneven.mass)[0, 0] < 0


def test_intervals_of_leads_are_paired_and_allow_for_lengths() -> None:
    found = estimate(HEADS, Comparisons({"offset": OFFSET, "uniform": UNIFORM}, table=TABLE), test=False)
    documents = Documents.of(HEADS.n)
    np.testing.assert_allclose(ends(found, "margin"), documents.lead_interval(HEADS.hits - UNIFORM.hits))
    np.testing.assert_allclose(ends(found, "lexical_margin"), documents.lead_interval(HEADS.hits - TABLE.hits))
    assert found["effective_clusters"] == documents.effective


def test_attention_that_may_be_above_one_is_not_cut_off_there() -> None:
    found = estimate(sums_of([10, 20, 10], [10, 20, 10], mass=3), Comparisons({}), test=False)
    assert ends(found, "mass")[1, 0] > 3


RISING = sums_of([10] * 8, [8, 7, 9, 8, 8, 7, 9, 8], [10, 9, 10, 9, 10, 9, 10, 9], [2, 3, 1, 2, 3, 1, 2, 2])
"Accuracies 0.8, 0.95 and 0.2."
WEAK, STRONG, EXPERT = (sums_of([10] * 8, [hits] * 8) for hits in (2, 6, 8))
"Baselines of 0.2, 0.6 and 0.8 in every document."


def test_a_grade_is_over_its_own_rivals_and_all_those_below() -> None:
    """The table is as strong as the first head, the rule as weak as a baseline: neither p can be below the last."""
    found = estimate(RISING, Comparisons({"weak": WEAK}, table=EXPERT, rules={"rule": STRONG}), test=True)
    first, words, rules = (found[name] for name in GRADED)
    assert first.tolist() == holm(found["p"]).tolist()
    assert words[0] > 0.9
    assert first[0] < 0.05
    assert words[1] < 0.05
    np.testing.assert_array_equal(words, rules)


def test_a_grade_without_its_rival_is_not_tested_and_none_above_it() -> None:
    without_table = estimate(RISING, Comparisons({"weak": WEAK}, rules={"rule": STRONG}), test=True)
    without_rules = estimate(RISING, Comparisons({"weak": WEAK}, table=STRONG), test=True)
    assert [bool(np.isnan(without_table[name]).all()) for name in GRADED] == [False, True, True]
    assert [bool(np.isnan(without_rules[name]).all()) for name in GRADED] == [False, False, True]


def test_what_is_excluded_is_the_largest_bound_of_any_head_over_the_rival_that_holds_it_most() -> None:
    """Two baselines share the level: each bound is one of 97.5 %."""
    documents = Documents.of(RISING.n)
    found = estimate(RISING, Comparisons({"weak": WEAK, "expert": EXPERT}), test=True)
    bounds = documents.upper_bound(RISING.hits - EXPERT.hits, 0.975)
    assert found["excluded"] == bounds.max() == bounds[1]
    alone = estimate(RISING, Comparisons({"expert": EXPERT}), test=True)["excluded"]
    assert alone == documents.upper_bound(RISING.hits - EXPERT.hits)[1] < found["excluded"]
    assert np.isnan(estimate(RISING, Comparisons({"weak": WEAK}), test=False)["excluded"])


def control(*accuracies: float) -> ControlHeads:
    """Models that have the same share of hits in each of eight documents of ten items."""
    return ControlHeads(sums_of([10] * 8, *([10 * one] * 8 for one in accuracies)))


def test_a_level_counts_as_a_baseline_and_its_error_widens_what_is_shown_over_it() -> None:
    """Two models of 0.5 and 0.7: their level is 0.6 + 1.645 * 0.141, the highest here; of one model twice 0.6."""
    far, alike = control(0.5, 0.7), control(0.6, 0.6)
    found = estimate(RISING, Comparisons({"weak": WEAK}, {"random weights": far}), test=True)
    assert found["baseline"] == "random weights"
    assert found["baseline_accuracy"] == pytest.approx(0.6 + 1.6448536 * 0.02**0.5)
    known, paired = (
        estimate(RISING, Comparisons({"weak": WEAK} | beside, controls), test=True)
        for beside, controls in (({}, {"random weights": alike}), ({"strong": STRONG}, {}))
    )
    np.testing.assert_allclose(known["p"], paired["p"])
    np.testing.assert_allclose(ends(known, "margin"), ends(paired, "margin"))
    assert known["excluded"] == pytest.approx(paired["excluded"])
    assert (found["p"] > known["p"])[:2].all()
    assert (np.ptp(ends(found, "margin"), axis=0) > np.ptp(ends(known, "margin"), axis=0))[:2].all()


def test_a_redraw_is_the_test_over_the_level_of_the_models_that_it_drew() -> None:
    wide = control(0.2, 0.5, 0.6)
    found = estimate(RISING, Comparisons({"weak": WEAK}, {"random weights": wide}, EXPERT), test=True, redraws=4)
    documents, drawn = Documents.of(RISING.n), np.random.default_rng(0).integers(3, size=(4, 3))
    weak, expert = (documents.p_above(RISING.hits - one.hits, 0.05) for one in (WEAK, EXPERT))
    for number, models in enumerate(drawn):
        first = np.maximum(weak, documents.p_above(RISING.hits, 0.05, wide.level(models)))
        np.testing.assert_allclose(found[redrawn("p_label", number)], holm(first))
        np.testing.assert_allclose(found[redrawn("p_words", number)], holm(np.maximum(first, expert)))
        assert np.isnan(found[redrawn("p_rules", number)]).all()


def test_a_question_without_any_baseline_is_tested_over_levels_alone() -> None:
    found = estimate(RISING, Comparisons({}, {"random weights": control(0.6, 0.6)}), test=True)
    np.testing.assert_allclose(found["p"], estimate(RISING, Comparisons({"strong": STRONG}), test=True)["p"])


def test_without_baseline_there_is_neither_margin_nor_test() -> None:
    found = estimate(HEADS, Comparisons({}, table=TABLE), test=True)
    assert found["baseline"] == ""
    missing = ("baseline_accuracy", "margin", "margin_low", "margin_high", "p", *GRADED, "excluded")
    assert all(bool(np.isnan(found[name]).all()) for name in missing)
    assert found["lexical_accuracy"] == 0.75
    assert not bool(np.isnan(ends(found, "lexical_margin")).any())


def test_without_table_there_is_nothing_about_it() -> None:
    found = estimate(HEADS, Comparisons({"offset": OFFSET}), test=True)
    assert np.isnan(found["lexical_accuracy"])
    assert ends(found, "lexical_margin").shape == (2, 3)
    assert bool(np.isnan(ends(found, "lexical_margin")).all())
    assert not bool(np.isnan(ends(found, "margin")).any())


def test_splits_have_resamples_of_their_own_that_follow_the_seed() -> None:
    first, again, other = (Effort(50, 7).resamples(range(9), split).weights for split in (0, 0, 1))
    assert first.shape == (50, 9)
    assert np.array_equal(first, again)
    assert not np.array_equal(first, other)
