"""The former rule: sign flips against every baseline, corrected as before, and ten points as measured."""

import numpy as np

from experiments.sandbox.former import former_finds
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
    return Sums.of_hits(tuple(range(12)), np.full(12, 10.0), columns)


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


def test_all_labels_of_a_run_were_one_family_and_taken_as_independent() -> None:
    """Ten differences up and two down have p = 0.019: below 5 % alone and beside one label more, not beside three."""
    up, level, offset = sums([7.0] * 10 + [3.0] * 2), sums([4.0, 6.0]), sums([5.0])

    def found(labels: int) -> list[bool]:
        others: list[Question] = [("position", "v", str(label)) for label in range(labels)]
        heads = {A: up, **dict.fromkeys(others, level)}
        pool = Pool(12, heads, {"offset": dict.fromkeys(heads, offset)}, {}, {})
        return former_finds(judge(pool, EVERY, EVERY, Effort(replicates=20), VerdictRule()), 12)[A].tolist()

    assert [found(labels) for labels in (0, 1, 3)] == [[True], [True], [False]]
