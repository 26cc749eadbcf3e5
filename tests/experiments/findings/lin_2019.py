from experiments.findings.lin_2019 import FINDINGS, KINDS
from tests.experiments.findings.planted import planted_run


def _confusion(*by_layer: float):
    rows = []
    for kind in KINDS:
        for layer, bits in enumerate(by_layer):
            row = {"label": kind, "layer": layer, "chance": 1.0, "n": 500}
            one = row | {"confusion": bits, "ci_low": bits - 0.02, "ci_high": bits + 0.02}
            rows += [one | {"head": -1, "split": "report"}, one | {"head": -1, "split": "select", "confusion": 9.0}]
            rows += [one | {"head": 0, "split": "report", "confusion": 7.0}]
    return {"distractors": planted_run(confusion=rows)}


def _position(*by_layer: float):
    """Plant the embedding as layer 0, which is no layer of heads."""
    rows = [
        {"task": "absolute position", "layer": layer, "accuracy": one, "ci_low": one - 0.02, "ci_high": one + 0.02}
        for layer, one in enumerate(by_layer)
    ]
    return {"classifiers": planted_run(layers=rows)}


PLANTED = {
    "lin-confusion": (_confusion(1.5, 1.2, 0.9), _confusion(0.9, 1.2, 1.5)),
    "lin-position": (_position(0.1, 0.9, 0.6, 0.3), _position(0.9, 0.3, 0.3, 0.6)),
}


def test_confusion_is_that_of_averaged_heads_on_the_report_split():
    number = FINDINGS[0].numbers(_confusion(1.5, 1.2, 0.9))["verb"]
    assert (number.decides.value, number.ours.value, number.baseline) == (0.9 - 1.5, 0.9, 1.5)
