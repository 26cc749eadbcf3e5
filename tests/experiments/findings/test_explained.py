"""Findings about attention as explanation where the classifiers have learned too little."""

import pytest

from experiments.reproduce.judge import NOT_REPRODUCED, REPRODUCED, judge
from experiments.reproduce.registry import all_findings
from experiments.statements.finding import Missing
from tests.experiments.findings.jain_2019 import explained

READ = [finding for finding in all_findings().values() if "explanation" in finding.readings]


@pytest.mark.parametrize("finding", READ, ids=lambda finding: finding.id)
def test_classifiers_that_decide_nothing_give_no_number(finding) -> None:
    numbers = finding.measure(explained(accuracy=0.6))
    assert all(isinstance(one, Missing) for one in numbers.values())
    assert judge(finding, numbers).verdict not in (REPRODUCED, NOT_REPRODUCED)


def test_seven_findings_read_it() -> None:
    assert len(READ) == 7
