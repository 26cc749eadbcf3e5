"""The former rule: sign flips against every baseline, corrected as before, and ten points as measured."""

import numpy as np
import pytest
from statsmodels.stats.multitest import multipletests

from experiments.sandbox.former import adjust_independent, former_finds
from probes.evidence.question import Effort
from probes.evidence.simulation import Pool, judge
from probes.evidence.statistics import VerdictRule
from probes.scoring.baselines import LEXICAL
from probes.scoring.tally import Question, Sums

A: Question = ("dependency", "v", "a")
EVERY = np.arange(12)


def sums(*hits: list[float]) -> Sums:
    """Twelve documents of ten items; each head has its hits in turn."""
    columns = np.array([(one * 12)[:12] for one in hits], np.float64).T
    return Sums(tuple(range(12)), np.full(12, 10.0), columns, columns, columns, columns)


def test_a_head_is_found_that_is_above_every_baseline_by_ten_points_as_measured() -> None:
    """The baseline has 4 and 6 of 10. Heads: one point more in each document; 2 more; much more in half of them.

    The table has 9 of 10, which the former rule did not ask for.
    """
    heads = sums([4.9, 6.9], [5.1, 7.1], [9.0, 1.5])
    pool = Pool(12, {A: heads}, {"offset": {A: sums([4.0, 6.0])}, LEXICAL: {A: sums([9.0])}}, {}, {})
    judged = judge(pool, EVERY, EVERY, Effort(replicates=20), VerdictRule())
    assert former_finds(judged, 12)[A].tolist() == [False, True, False]


def test_a_head_must_be_above_the_strongest_control_too() -> None:
    pool = Pool(12, {A: sums([6.0, 8.0])}, {"offset": {A: sums([4.0, 6.0])}}, {}, {"random weights": {A: sums([7.0])}})
    judged = judge(pool, EVERY, EVERY, Effort(replicates=20), VerdictRule())
    assert former_finds(judged, 12)[A].tolist() == [False]


def test_labels_of_one_head_are_corrected_as_by_benjamini_and_hochberg() -> None:
    p = np.random.default_rng(0).random(9) ** 3
    found = np.concatenate(adjust_independent([p[[place]] for place in range(9)]))
    np.testing.assert_allclose(found, multipletests(p, method="fdr_bh")[1])


def test_heads_are_held_to_the_selected_share_of_the_level() -> None:
    """Of two labels one is selected at 5 %: its heads are held to half of the level."""
    first, second = adjust_independent([np.array([0.001, 0.03]), np.array([0.5, 0.9])])
    assert first.tolist() == pytest.approx([0.002, 0.06])
    assert second.tolist() == pytest.approx([0.5, 0.9])


def test_what_was_not_tested_stays_unknown_and_does_not_count() -> None:
    unknown, known = adjust_independent([np.full(2, np.nan), np.array([0.03, 0.5])])
    assert np.isnan(unknown).all()
    assert known.tolist() == pytest.approx([0.03, 0.5])
    assert np.isnan(adjust_independent([np.full(2, np.nan)])[0]).all()
