import pytest

from experiments.findings.vig_2019 import FINDINGS
from tests.experiments.findings.planted import planted_run, scored, shaped

WIDTH = 8
"Heads a layer, slightly unequal."


def _aligned(*by_layer: float):
    """Plant heads that give half of their attention to other words, and such a share of it along arcs, both ways."""
    rows = []
    for layer, share in enumerate(by_layer):
        for head in range(WIDTH):
            one = {"layer": layer, "head": head, "coverage": 0.5, "mass": 0.25 * share * (1 + head / 100)}
            rows += [scored("dependency", "all", variant=way, **one) for way in ("dependent->head", "head<-dependent")]
    return {"trees": planted_run(rows)}


def _far(*by_layer: float):
    rows = [
        shaped("distance", "words", layer, head, distance * (1 + head / 100))
        for layer, distance in enumerate(by_layer)
        for head in range(WIDTH)
    ]
    return {"trees": planted_run(shapes=rows)}


PLANTED = {
    "vig-middle-layers": (_aligned(0.2, 0.4, 0.3), _aligned(0.4, 0.2, 0.3)),
    "vig-distance": (_far(2.0, 2.0, 3.0), _far(3.0, 3.0, 2.0)),
}


def test_the_share_is_of_attention_to_other_words_in_both_directions():
    number = FINDINGS[0].numbers(_aligned(0.2, 0.4, 0.3))["upper"]
    assert number.ours.value == pytest.approx(0.4 * 1.035)
    assert number.decides.value == pytest.approx(0.4 / 0.3 - 1)


def test_a_model_of_two_layers_has_no_middle():
    assert "too few layers" in FINDINGS[0].numbers(_aligned(0.2, 0.4))["upper"].why
