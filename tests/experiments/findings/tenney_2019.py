import math

from experiments.findings.tenney_2019 import FINDINGS
from experiments.statements.rule import OPEN
from tests.experiments.findings.planted import planted_run


def _expected(*layers: float, width: float = 0.2):
    rows = [
        {"task": task, "layer": layer, "expected_layer": value, "expected_low": value - width}
        | {"expected_high": value + width}
        for task, value in zip(("part of speech", "dependency label", "coreference"), layers, strict=True)
        for layer in range(3)
    ]
    return {"classifiers": planted_run(layers=rows)}


PLANTED = {"tenney-order": (_expected(0.5, 1.5, 3.0), _expected(3.0, 1.5, 0.5))}


def test_a_task_that_layers_do_not_help_has_no_place():
    numbers = FINDINGS[0].numbers(_expected(0.5, 1.5, math.nan))
    assert "no more about coreference" in numbers["dependency label < coreference"].why


def test_without_an_interval_nothing_is_decided():
    found = FINDINGS[0].numbers(_expected(0.5, 1.5, 3.0, width=math.nan))["dependency label < coreference"]
    assert FINDINGS[0].statements[1].rule.verdict(found.decides) == OPEN


def test_published_places_are_differences_of_layers():
    assert [one.published.value for one in FINDINGS[0].statements] == [2.3, 3.78]
