from tests.experiments.findings.planted import planted_run


def _selective(by_layer: dict[int, float]):
    rows = [
        {"task": "part of speech", "layer": layer, "accuracy": 0.5 + one, "control_accuracy": 0.5, "selectivity": one}
        | {"selectivity_low": one - 0.02, "selectivity_high": one + 0.02, "ci_low": 0.48 + one, "ci_high": 0.52 + one}
        for layer, one in by_layer.items()
    ]
    return {"classifiers": planted_run(layers=rows)}


PLANTED = {"hewitt-linear": (_selective({0: 0.0, 1: 0.3, 2: 0.0}), _selective({0: 0.3, 1: -0.1, 2: 0.3}))}
