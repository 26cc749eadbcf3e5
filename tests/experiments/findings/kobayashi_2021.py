from typing import Any

from experiments.findings.kobayashi_2021 import FINDINGS
from experiments.statements.finding import Missing
from tests.experiments.findings.planted import planted_run


def _ratios(residual: float, block: float) -> dict[str, Any]:
    """Return a reading with these mixing ratios in two layers, half a tenth to either side."""
    values = {"weights, residual": 0.47, "norms, residual": residual, "norms, residual, LayerNorm": block}
    rows = [
        {"measure": measure, "depth": depth, "value": value + shift, "low": value - 0.01, "high": value + 0.01, "n": 90}
        for measure, value in values.items()
        for depth, shift in ((1, 0.05), (2, -0.05))
    ]
    return {"mixing": planted_run(mixing=rows)}


PLANTED = {
    "kobayashi-mixing-ratio": (_ratios(0.25, 0.2), _ratios(0.45, 0.45)),
    "kobayashi-layer-norm": (_ratios(0.25, 0.2), _ratios(0.2, 0.25)),
}


def test_a_model_whose_attention_has_no_layer_norm_behind_it_has_no_number():
    assert isinstance(FINDINGS[1].numbers(_ratios(0.25, 0.25))["LayerNorm"], Missing)
