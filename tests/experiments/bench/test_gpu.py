"""The benchmark of a GPU: what it tells where there is none, and its parts where the device is the CPU."""

import pytest
import torch

from experiments.bench import gpu
from mha.planted.heads import word_model
from probes import Corpus

CPU = torch.device("cpu")
SMALL = word_model(["ship"], layers=2, heads=5, head_dim=4, positions=32, seed=0)


def test_what_was_not_measured_is_told() -> None:
    none = gpu.blocks({})["gpu cost"]
    assert none.count("not measured") == 1 + len(gpu.SHAPES) * len(gpu.TIMED) + 1
    measured = {"device": "H200", "cores": 2, "processor": "EPYC", "bf16 instructions": True, "corpus": "EWT dev"}
    measured |= {"sentences": 1000, "parity": {"mass": 2e-6}, "minilm": dict.fromkeys(gpu.TIMED, 0.25)}
    some = gpu.blocks(measured)["gpu cost"]
    assert "On one H200 with 2 cores of EPYC with bf16 instructions, 1,000 sentences of EWT dev." in some
    assert "| mass | 2.0e-06 |" in some
    assert f"| minilm |{' 0.25 |' * len(gpu.TIMED)}" in some
    assert some.count("not measured") == 2 * len(gpu.TIMED) + 1


def test_maps_that_differ_are_found() -> None:
    """Weights that are changed by a hundredth move maps, and norms by about as much of the largest."""
    other = word_model(["ship"], layers=2, heads=5, head_dim=4, positions=32, seed=0)
    with torch.no_grad():
        for weight in other.module.parameters():
            weight.mul_(1.01)
    texts = Corpus.generated(2, seed=0).sentences().take(range(3))
    for maps in ("weights", "norms"):
        assert gpu.maps_apart(SMALL, SMALL, texts, maps) == 0
        assert 1e-6 < gpu.maps_apart(SMALL, other, texts, maps) < 0.2


@pytest.mark.slow
def test_a_model_is_timed_in_every_way() -> None:
    texts = Corpus.generated(4, seed=0).sentences().take(range(10))
    found = gpu.cost(gpu.MINILM, texts, CPU)
    assert [*found] == [*gpu.TIMED]
    assert all(seconds > 0 for seconds in found.values())
