import pytest

from experiments.statements.estimates import Estimate, exact
from experiments.statements.rule import FAILS, HOLDS, OPEN, SEEDS, ControlNumbers, LearnedRule

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


def test_a_control_that_refutes_the_rule_does_so_also_where_the_other_was_not_run():
    assert LearnedRule(above=0.0).verdict_beside(TRAINED, {"random": HIGH}) == FAILS


def test_the_rule_says_what_it_takes():
    assert (
        "significantly beyond that of randomly initialised weights and of permuted weights, 3 seeds each"
        in LearnedRule(above=0.0).words()
    )
