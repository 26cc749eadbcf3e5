import math
from collections import Counter

import pytest

from experiments.reproduce.judge import judge, verdict_of
from experiments.statements.estimates import Estimate, exact
from experiments.statements.finding import Finding, FindingError, Measured, Missing, Published, Statement
from experiments.statements.rule import ControlNumbers, LearnedRule, Rule
from reports.statements.finding_record import DIFFERS, NOT_REPRODUCED, REPRODUCED, UNMEASURED, UNTESTABLE, WEAKER

ABOVE, BELOW, ACROSS = Estimate(0.2, 0.1, 0.3, 9), Estimate(-0.2, -0.3, -0.1, 9), Estimate(0.05, -0.1, 0.2, 9)


def finding(*names: str, tolerance: float | None = None, **values: object) -> Finding:
    published = Published(value=0.6)
    said = [
        Statement(name, "It is so.", "the number", Rule(above=0.0), published=published, tolerance=tolerance)
        for name in names
    ]
    about = {"id": "x", "claim": "c", "where": "w", "model": "m", "data": "d", "metric": "k"}
    return Finding(**about | {"statements": said, "readings": ("trees",), "measure": lambda _: {}} | values)


def judged(*estimates: Estimate | None, **values: object):
    names = [f"s{place}" for place in range(len(estimates))]
    numbers = {
        name: Missing("no such label") if one is None else Measured(one)
        for name, one in zip(names, estimates, strict=True)
    }
    return judge(finding(*names, **values), numbers)


@pytest.mark.parametrize(
    ("estimates", "verdict", "why"),
    [
        ([ABOVE, ABOVE], REPRODUCED, ""),
        ([ABOVE, None], REPRODUCED, "1 of 2 holds; without a number: s1"),
        ([BELOW, BELOW], NOT_REPRODUCED, "0 of 2 hold; not: s0, s1"),
        ([BELOW], NOT_REPRODUCED, "it does not hold"),
        ([ABOVE, BELOW], DIFFERS, "1 of 2 holds; not: s1"),
        ([ACROSS], DIFFERS, "not decided: the interval reaches over the edge"),
        ([BELOW, ACROSS], DIFFERS, "0 of 2 hold; not: s0; not decided: s1"),
        ([None, None], UNTESTABLE, "no such label"),
        ([Estimate(math.nan, math.nan, math.nan, 0)], UNTESTABLE, "no item of it in the corpus"),
        ([exact(0.0)], NOT_REPRODUCED, "it does not hold"),
    ],
)
def test_the_verdict_follows_from_the_statements(estimates, verdict, why):
    found = judged(*estimates)
    assert (found.verdict, found.why) == (verdict, why)


def test_on_the_papers_own_model_the_value_must_be_near_the_published_one():
    one = finding("s", tolerance=0.05)
    near, far = (Measured(ABOVE, ours=exact(value)) for value in (0.64, 0.66))
    assert judge(one, {"s": near}, original=True).verdict == REPRODUCED
    found = judge(one, {"s": far}, original=True)
    assert found.verdict == NOT_REPRODUCED
    assert found.statements[0].near == "6 points from the published value, 5 allowed"
    assert judge(one, {"s": far}).verdict == REPRODUCED  # any other model: the rule alone


@pytest.mark.parametrize(
    ("said", "enough", "verdict"),
    [
        ({"holds": 2, "weaker version holds": 1}, None, "weaker version holds"),
        ({"weaker version holds": 1, "not decided": 1}, None, "differs"),
        ({"holds": 1, "weaker version holds": 1, "does not hold": 3}, 2, "weaker version holds"),
        ({"holds": 1, "not measured": 1}, None, "not measured"),
        ({"does not hold": 1, "not measured": 1}, None, "not measured"),
        ({"not decided": 1, "not measured": 1}, None, "differs"),
        ({"not decided": 2, "not measured": 12}, None, "not measured"),
        ({"holds": 1, "does not hold": 1, "not measured": 3}, None, "not measured"),
        ({"not decided": 10, "not measured": 4}, None, "differs"),
        ({"does not hold": 3, "not measured": 4}, 5, "not reproduced"),
        ({"holds": 2, "not measured": 1}, 2, "reproduced"),
        ({"does not hold": 2, "not measured": 1}, 2, "not reproduced"),
    ],
)
def test_statements_below_the_bar_and_without_controls_decide_on_a_finding(said, enough, verdict):
    assert verdict_of(Counter(said), enough) == verdict


def test_a_finding_that_leaves_something_out_is_reproduced_in_a_weaker_version():
    assert judged(ABOVE, weaker="the margin is not asked").verdict == WEAKER
    assert judged(BELOW, weaker="the margin is not asked").verdict == NOT_REPRODUCED


def test_a_statement_below_the_bar_of_the_paper_holds_in_a_weaker_version():
    said = Statement("s", "It is so.", "the number", Rule(above=0.5), weaker=Rule(above=0.0))
    one = finding(statements=[said])
    assert [judge(one, {"s": Measured(number)}).verdict for number in (exact(0.6), ABOVE, ACROSS, BELOW)] == [
        REPRODUCED,
        WEAKER,
        DIFFERS,
        NOT_REPRODUCED,
    ]


def test_a_learned_finding_is_not_measured_without_untrained_weights_and_plain_for_these():
    one = finding(statements=[Statement("s", "It is so.", "the number", LearnedRule(above=0.0))])
    numbers = {"s": Measured(ABOVE)}
    assert judge(one, numbers).verdict == REPRODUCED, "of untrained weights: as of a rule without controls"
    assert judge(one, numbers, controls={}).verdict == UNMEASURED
    near, far = (ControlNumbers((exact(value),) * 3, 3) for value in (0.15, -0.1))
    assert judge(one, numbers, controls={"s": {"random": far, "permuted": far}}).verdict == REPRODUCED
    found = judge(one, numbers, controls={"s": {"random": far, "permuted": near}})
    assert (found.verdict, found.why) == (DIFFERS, "not decided: the interval reaches over the edge")
    assert found.statements[0].minus["random"][0].value == pytest.approx(0.3)


def test_a_number_for_no_statement_is_a_mistake():
    with pytest.raises(FindingError, match="which no statement is about"):
        finding("s", measure=lambda _: {"s": Measured(ABOVE), "t": Measured(ABOVE)}).numbers({})


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ({"measure": None}, "either `measure` it, or say what is `missing`"),
        ({"missing": "a corpus"}, "either `measure` it"),
        ({"readings": ()}, "needs `statements` and `readings`"),
        ({"repeats": "y"}, "is in the `group` of that"),
        ({"group": "g", "repeats": "x"}, "is in the `group` of that"),
        ({"statements": finding("s", "s2").statements[:1] * 2}, "one name"),
    ],
)
def test_a_finding_without_a_verdict_or_an_explanation_is_refused(values, message):
    with pytest.raises(FindingError, match=message):
        finding("s", **values)
