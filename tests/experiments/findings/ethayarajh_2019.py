from collections.abc import Mapping, Sequence

from experiments.findings.ethayarajh_2019 import BEYOND, FINDINGS, RANDOM, SELF, SENTENCE, VARIANCE
from experiments.statements.finding import Measured
from tests.experiments.findings.planted import planted_run


def _states(layers: Mapping[str, Sequence[float]]):
    rows = [
        {"measure": measure, "layer": layer, "value": value, "low": value - 0.01, "high": value + 0.01, "n": 100}
        for measure in (RANDOM, SELF, SENTENCE, BEYOND, VARIANCE)
        for layer, value in enumerate(layers.get(measure, (0.3, 0.3, 0.3, 0.3)))
    ]
    return {"states": planted_run(states=rows)}


PLANTED = {
    "ethayarajh-anisotropy": (_states({RANDOM: (0.05, 0.2, 0.3, 0.4)}), _states({RANDOM: (0.5, 0.3, 0.1, -0.05)})),
    "ethayarajh-self-similarity": (_states({SELF: (0.9, 0.7, 0.5, 0.3)}), _states({SELF: (0.9, 0.3, 0.4, 0.6)})),
    "ethayarajh-sentences": (
        _states({SENTENCE: (0.4, 0.4, 0.3, 0.2)}),
        _states({SENTENCE: (0.4, 0.1, 0.1, 0.2), BEYOND: (0.4, -0.1, 0.1, 0.2)}),
    ),
    "ethayarajh-static": (_states({VARIANCE: (0.5, 0.03, 0.02, 0.02)}), _states({VARIANCE: (0.5, 0.2, 0.3, 0.4)})),
}


def test_the_input_counts_in_no_lowest_and_no_highest():
    by_id = {one.id: one for one in FINDINGS}
    for name, measure, value in (("anisotropy", RANDOM, 0.2), ("static", VARIANCE, 0.3)):
        layers = (-0.9, 0.3, 0.2, 0.3) if measure == RANDOM else (0.9, 0.3, 0.2, 0.3)
        found = next(iter(by_id[f"ethayarajh-{name}"].numbers(_states({measure: layers})).values()))
        assert isinstance(found, Measured)
        assert found.decides.value == value
