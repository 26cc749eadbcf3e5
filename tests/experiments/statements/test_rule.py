import math

import pytest

from experiments.statements.estimates import Estimate, exact
from experiments.statements.rule import FAILS, HOLDS, OPEN, SEEDS, ControlNumbers, LearnedRule, Rule

NAN = math.nan
ABOVE, BELOW = Rule(above=0.0, unit=""), Rule(below=0.0, unit="nats")
BETWEEN = Rule(above=0.8, below=1.25, unit="times")


@pytest.mark.parametrize(
    ("rule", "low", "high", "verdict"),
    [
        (ABOVE, 0.1, 0.3, HOLDS),
        (ABOVE, -0.1, 0.3, OPEN),
        (ABOVE, -0.3, -0.1, FAILS),
        (ABOVE, 0.0, 0.3, OPEN),  # the end itself is outside
        (ABOVE, 0.0, 0.0, FAILS),
        (BELOW, -0.3, -0.1, HOLDS),
        (BELOW, 0.1, 0.3, FAILS),
        (BETWEEN, 0.9, 1.2, HOLDS),
        (BETWEEN, 0.7, 1.3, OPEN),
        (BETWEEN, 0.5, 0.7, FAILS),
        (BETWEEN, 1.3, 9.0, FAILS),
        (ABOVE, NAN, NAN, OPEN),
        (BETWEEN, 1.0, NAN, OPEN),
    ],
)
def test_the_whole_interval_decides(rule: Rule, low: float, high: float, verdict: str) -> None:
    assert rule.verdict(Estimate((low + high) / 2, low, high, 5)) == verdict


def test_a_rule_says_in_words_what_it_does() -> None:
    said = "the whole 95 % interval lies"
    assert ABOVE.words() == f"Holds if {said} above 0, does not hold if all of it lies at 0 or below, else not decided."
    assert f"{said} below 0, does not hold if all of it lies at 0 or above" in BELOW.words()
    assert f"{said} between 0.8 and 1.25, does not hold if all of it lies outside of that" in BETWEEN.words()
    assert f"{said} below 1 %, does not hold if all of it lies at 1 % or above" in Rule(below=0.01, unit="%").words()
    assert "above 2.5 points" in Rule(above=0.025).words()


TRAINED = Estimate(0.4, 0.35, 0.45, 100)


def seeds(*values: float, run: int = SEEDS, absent: int = 0) -> ControlNumbers:
    return ControlNumbers(tuple(exact(value) for value in values), run, absent)


LOW, NEAR, HIGH = seeds(0.1, 0.11, 0.09), seeds(0.2, 0.4, 0.6), seeds(0.6, 0.61, 0.59)
NONE, SOME = seeds(absent=3), seeds(0.1, absent=2)


@pytest.mark.parametrize(
    ("rule", "random", "permuted", "verdict"),
    [
        (LearnedRule(above=0.0), LOW, LOW, HOLDS),
        (LearnedRule(above=0.0), LOW, HIGH, FAILS),
        (LearnedRule(above=0.0), NEAR, LOW, OPEN),
        (LearnedRule(above=0.5), LOW, LOW, FAILS),  # the range fails, whatever the controls
        (LearnedRule(above=0.0), HIGH, seeds(), FAILS),  # one control refutes it, whatever the other
        (LearnedRule(below=0.5), HIGH, HIGH, HOLDS),
        (LearnedRule(below=0.5), LOW, HIGH, FAILS),
        (LearnedRule(above=0.0, below=0.5), LOW, HIGH, HOLDS),
        (LearnedRule(above=0.0, below=0.5), LOW, NEAR, OPEN),
        (LearnedRule(above=0.0), NONE, NONE, HOLDS),  # they were run, and have no such head
        (LearnedRule(above=0.0), SOME, LOW, HOLDS),
    ],
)
def test_a_learned_number_is_surely_beyond_those_of_untrained_weights(rule, random, permuted, verdict):
    assert rule.verdict_beside(TRAINED, {"random": random, "permuted": permuted}) == verdict


@pytest.mark.parametrize(
    "controls",
    [
        {},
        {"random": LOW},
        {"random": LOW, "permuted": seeds(0.1, 0.1, run=2)},
        {"random": LOW, "permuted": seeds()},  # they were run, and nothing could be measured
        {"random": LOW, "permuted": seeds(0.1, 0.1)},  # not in one of them
    ],
)
def test_without_three_seeds_of_both_controls_it_is_not_measured(controls):
    assert LearnedRule(above=0.0).verdict_beside(TRAINED, controls) == "not measured"
