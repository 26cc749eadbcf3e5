from collections.abc import Sequence

import pytest

from experiments.findings.jawahar_2019 import FINDINGS, SEMANTICS, SURFACE, SYNTAX
from experiments.statements.finding import Measured, Missing
from tests.experiments.findings.planted import planted_run


def _solved(courses, layers: Sequence[float]):
    """Plant six layers above the input, which is the best of all and counts nowhere."""
    rows = [
        {"task": course.task, "measure": "accuracy", "layer": layer, "value": value, "n": 500, "baseline": 0.5}
        | {"low": value - 0.01, "high": value + 0.01}
        for course in courses
        for layer, value in enumerate((0.99, *layers))
    ]
    return {"probing": planted_run(layer_probes=rows)}


FALLING, RISING, ARCHED = (0.9, 0.9, 0.8, 0.8, 0.7, 0.7), (0.6, 0.6, 0.7, 0.7, 0.8, 0.8), (0.6, 0.6, 0.8, 0.8, 0.7, 0.7)

PLANTED = {
    "jawahar-surface": (_solved(SURFACE, FALLING), _solved(SURFACE, RISING)),
    "jawahar-syntax": (_solved(SYNTAX, ARCHED), _solved(SYNTAX, FALLING)),
    "jawahar-semantics": (_solved(SEMANTICS, RISING), _solved(SEMANTICS, FALLING)),
}


def test_a_third_is_compared_with_the_best_of_the_others():
    found = FINDINGS[1].numbers(_solved(SYNTAX, ARCHED))
    assert isinstance(found["tree depth"], Measured)
    assert found["tree depth"].decides.value == pytest.approx(0.1)
    assert isinstance(found["bigram shift"], Measured)
    assert found["bigram shift"].decides.value == pytest.approx(0.2), "only the low third"


def test_two_layers_have_no_thirds():
    assert isinstance(FINDINGS[0].numbers(_solved(SURFACE, (0.9, 0.8)))["word content"], Missing)
