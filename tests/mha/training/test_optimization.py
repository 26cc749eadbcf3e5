import math

import pytest

from mha.encoder.encoder import Encoder, EncoderConfig
from mha.training.optimization import learning_rate, parameter_groups

SHAPE = EncoderConfig(vocab=20, layers=1, heads=2, model=8, feed_forward=8, positions=6)


def rate(step: int, **changes: object) -> float:
    settings = {"steps": 110, "peak": 2.0, "warmup": 10, "decay": "linear", "floor": 0.0, **changes}
    return learning_rate(step, **settings)  # type: ignore[arg-type]


def test_the_rate_rises_in_a_line_and_falls_in_one() -> None:
    assert [rate(step) for step in (1, 5, 10, 60, 110)] == pytest.approx([0.2, 1.0, 2.0, 1.0, 0.0])


def test_the_rate_falls_in_half_a_cosine() -> None:
    found = [rate(step, decay="cosine") for step in (10, 35, 60, 85, 110)]
    expected = [1 + math.cos(math.pi * share) for share in (0, 0.25, 0.5, 0.75, 1)]
    assert found == pytest.approx(expected)


def test_the_rate_ends_at_its_floor() -> None:
    for decay in ("linear", "cosine"):
        assert rate(110, decay=decay, floor=0.1) == pytest.approx(0.2)
        assert rate(60, decay=decay, floor=0.1) == pytest.approx(1.1)


def test_matrices_decay_and_biases_and_norms_do_not() -> None:
    encoder = Encoder(SHAPE, lm_head=True)
    matrices, vectors = parameter_groups(encoder, 0.3)
    assert (matrices["weight_decay"], vectors["weight_decay"]) == (0.3, 0.0)
    names = {id(parameter): name for name, parameter in encoder.named_parameters()}
    decaying = {names[id(parameter)] for parameter in matrices["params"]}
    assert {"pieces.weight", "positions.weight", "layers.0.expand.weight", "lm_head.transform.weight"} <= decaying
    still = {names[id(parameter)] for parameter in vectors["params"]}
    assert {"lm_head.decoder.bias", "embedding_norm.weight", "layers.0.attention.project.bias"} <= still
    assert len(decaying) + len(still) == len(names)
