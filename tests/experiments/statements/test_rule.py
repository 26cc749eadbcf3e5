import math

import pytest

from experiments.statements.estimates import Estimate
from experiments.statements.rule import FAILS, HOLDS, OPEN, Rule

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
        (ABOVE, -0.3, 0.0, FAILS),
        (ABOVE, 0.0, 0.0, FAILS),
        (BELOW, -0.3, -0.1, HOLDS),
        (BELOW, -0.3, 0.1, OPEN),
        (BELOW, 0.1, 0.3, FAILS),
        (BETWEEN, 0.9, 1.2, HOLDS),
        (BETWEEN, 0.7, 1.2, OPEN),
        (BETWEEN, 0.9, 1.3, OPEN),
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


def test_a_rule_without_room_is_refused() -> None:
    with pytest.raises(ValueError, match="has an end: above, below, or both"):
        Rule()
    with pytest.raises(ValueError, match=r"from 1\.0 to 0\.5 is empty"):
        Rule(above=1.0, below=0.5)
