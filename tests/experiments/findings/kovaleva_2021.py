from experiments.findings.kovaleva_2021 import FINDINGS
from experiments.statements.finding import Missing
from tests.experiments.findings.planted import planted_run


def _ablated(outliers: int, lost: float, measures=("part of speech", "masked word")):
    """Plant outlier dimensions of 768, and what is lost without them beyond random ones."""
    values = {"intact": 0.9, "random": 0.89, "outliers": 0.89 - lost, "outliers beyond random": lost}
    ablated = [
        {"measure": measure, "kind": kind, "value": value, "low": value - 0.01, "high": value + 0.01, "n": 500}
        for measure in measures
        for kind, value in values.items()
    ]
    dimensions = [
        {"dimension": 300 + place, "scale_layers": 6, "bias_layers": 2, "state_layers": 5, "size": 768}
        for place in range(outliers)
    ]
    return {"states": planted_run(states=[{"layer": 0}], outlier_dimensions=dimensions, ablated_dimensions=ablated)}


PLANTED = {
    "kovaleva-few-outliers": (_ablated(2, 0.3), _ablated(80, -0.05)),
    "kovaleva-outlier-dimensions": (_ablated(2, 0.3), _ablated(80, -0.05)),
}


def test_a_model_without_a_head_has_no_number_of_it_and_one_without_outliers_no_harm():
    few, harm = FINDINGS
    found = _ablated(2, 0.3, ("part of speech",))
    assert harm.numbers(found)["masked words"] == Missing("the model has no masked-LM head")
    assert few.numbers(found)["few"].decides.value == 2 / 768
    none = {"states": planted_run(states=[{"layer": 0}])}
    assert few.numbers(none)["few"].decides.value == 0
    assert harm.numbers(none)["tags"].absent, "untrained weights without outliers lose nothing without them"
