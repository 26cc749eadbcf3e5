import math

import pytest

from experiments.reproduce.judge import DIFFERS, NOT_REPRODUCED, REPRODUCED, UNTESTABLE, judge, plain, untestable
from experiments.statements.estimates import Estimate, exact
from experiments.statements.finding import Finding, FindingError, Measured, Missing, Published, Statement
from experiments.statements.rule import Rule

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


@pytest.mark.parametrize(
    ("estimates", "verdict"),
    [
        ([ABOVE, ABOVE, BELOW], REPRODUCED),
        ([ABOVE, BELOW, BELOW], NOT_REPRODUCED),  # two are needed, and one is left
        ([ABOVE, ACROSS, BELOW], DIFFERS),  # a second one may hold
    ],
)
def test_a_finding_may_ask_for_some_of_its_statements(estimates, verdict):
    assert judged(*estimates, enough=2).verdict == verdict


def test_on_the_papers_own_model_the_value_must_be_near_the_published_one():
    one = finding("s", tolerance=0.05)
    near, far = (Measured(ABOVE, ours=exact(value)) for value in (0.64, 0.66))
    assert judge(one, {"s": near}, original=True).verdict == REPRODUCED
    found = judge(one, {"s": far}, original=True)
    assert found.verdict == NOT_REPRODUCED
    assert found.statements[0].near == "6 points from the published value, 5 allowed"
    assert judge(one, {"s": far}).verdict == REPRODUCED  # any other model: the rule alone


def test_a_number_for_no_statement_is_a_mistake():
    with pytest.raises(FindingError, match="which no statement is about"):
        judge(finding("s"), {"t": Measured(ABOVE)})


def test_a_statement_without_a_number_says_so():
    assert judge(finding("s"), {}).why == "nothing was measured"
    assert untestable(finding("s"), "no head").statements[0].measured == Missing("no head")


def test_estimates_are_written_with_null_for_what_is_missing():
    assert plain(Estimate(0.5, math.nan, math.nan, 1)) == {"value": 0.5, "low": None, "high": None, "n": 1}


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ({"measure": None}, "either `measure` it, or say what is `missing`"),
        ({"missing": "a corpus"}, "either `measure` it"),
        ({"readings": ()}, "needs `statements` and `readings`"),
        ({"learned": False}, "say in `untrained`"),
    ],
)
def test_a_finding_without_a_verdict_or_an_explanation_is_refused(values, message):
    with pytest.raises(FindingError, match=message):
        finding("s", **values)


def test_two_statements_of_one_name_are_refused():
    with pytest.raises(FindingError, match="one name"):
        finding("s", "s")
