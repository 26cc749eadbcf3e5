from collections.abc import Sequence

from experiments.findings.hewitt_manning_2019 import FINDINGS
from experiments.statements.finding import Measured
from tests.experiments.findings.planted import planted_run

TREES = (("tree distances", "undirected attachment"), ("tree distances", "rank correlation"))
DEPTHS = (("tree depths", "root"), ("tree depths", "rank correlation"))


def _probed(layers: Sequence[float], measures=(*TREES, *DEPTHS), held_out: Sequence[float] | None = None):
    rows = [
        {"task": task, "measure": measure, "layer": layer, "value": value, "low": value - 0.01, "high": value + 0.01}
        | {"held_out": (held_out or layers)[layer], "baseline": 0.4, "n": 500}
        for task, measure in measures
        for layer, value in enumerate(layers)
    ]
    return {"probing": planted_run(layer_probes=rows)}


PLANTED = {
    "hewitt-structural-probe": (_probed((0.3, 0.7, 0.8, 0.75)), _probed((0.45, 0.4, 0.35, 0.3), held_out=(0, 1, 2, 3))),
    "hewitt-depth-probe": (_probed((0.3, 0.7, 0.88, 0.8)), _probed((0.01, 0.01, 0.01, 0.01))),
}


def test_the_layer_is_selected_on_held_out_documents():
    found = FINDINGS[0].numbers(_probed((0.3, 0.9, 0.7), held_out=(0.3, 0.6, 0.8)))["trees"]
    assert isinstance(found, Measured)
    assert found.decides.value == 0.7
    assert found.baseline == 0.4
