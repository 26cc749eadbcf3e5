"""Findings about attention as explanation where the classifiers have learned too little."""

from dataclasses import astuple

import pytest

from experiments.reproduce.judge import judge
from experiments.reproduce.registry import all_findings
from experiments.statements.estimates import mean_of
from experiments.statements.finding import Measured, Missing
from reports.statements.finding_record import NOT_REPRODUCED, REPRODUCED
from tests.experiments.findings.jain_2019 import correlated, explained

READ = [finding for finding in all_findings().values() if "explanation" in finding.readings]


@pytest.mark.parametrize("finding", READ, ids=lambda finding: finding.id)
def test_classifiers_that_decide_nothing_give_no_number(finding) -> None:
    numbers = finding.numbers(explained(accuracy=0.6))
    assert all(isinstance(one, Missing) for one in numbers.values())
    assert judge(finding, numbers).verdict not in (REPRODUCED, NOT_REPRODUCED)


def test_numbers_over_classifiers_stand_beside_those_over_held_out_sentences() -> None:
    numbers = all_findings()["jain-ranks"].numbers(correlated(0.3, 0.25, 0.75))
    found = numbers["gradients"]
    assert isinstance(found, Measured)
    assert found.ours is not None
    over_classifiers = mean_of([0.28, 0.29, 0.3, 0.31, 0.32])
    assert astuple(found.decides) == pytest.approx(astuple(over_classifiers))
    assert (found.ours.value, found.ours.n) == (pytest.approx(0.3), 5 * 250)
    assert found.ours.high - found.ours.low == pytest.approx(0.04 / 5**0.5), "five samples of equal size"
    assert found.note.startswith("0.30 [0.29, 0.31] over held-out sentences, significant in 30%")
    above = numbers["above leaving out"]
    assert isinstance(above, Measured)
    assert above.decides.value == pytest.approx(0.5)


def test_gradients_that_agree_with_leaving_out_no_more_than_with_attention_are_no_reference() -> None:
    finding = all_findings()["jain-ranks"]
    found = judge(finding, finding.numbers(correlated(0.4, 0.4, 0.4)))
    assert [one.verdict for one in found.statements] == ["holds", "holds", "does not hold", "does not hold"]
