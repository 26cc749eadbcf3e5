"""Products in bfloat16: what hooks see is float32 all the same, for our encoder and for models of transformers."""

from collections.abc import Callable
from dataclasses import replace

import pytest
import torch
from torch import Tensor

from mha import Encoder, Model, record
from tests.mha.conftest import model_of
from tests.mha.tiny.models import built

ROUNDING = 2**-8
"Of one bfloat16, relative."
SITES = ("pattern", "scores", "value", "head_output")


@pytest.fixture(params=["encoder", "bert", "mpnet"])
def model(request: pytest.FixtureRequest, build: Callable[..., Encoder]) -> Model:
    return model_of(build() if request.param == "encoder" else built(request.param, num_hidden_layers=2), 2)


def seen_of(model: Model, pieces: Tensor, mask: Tensor) -> tuple[dict[str, Tensor], Tensor]:
    with torch.inference_mode(), record(model.module, SITES) as seen:
        output = model.run(pieces, mask)
    return {f"{site} {layer}": one for site in SITES for layer, one in enumerate(seen[site])}, output


def test_what_hooks_see_is_float32_and_near_what_float32_gives(model: Model, pieces: Tensor, mask: Tensor) -> None:
    exact, vectors = seen_of(model, pieces, mask)
    rough, rough_vectors = seen_of(replace(model, precision="bf16"), pieces, mask)
    assert rough.keys() == exact.keys()
    assert {one.dtype for one in (*rough.values(), rough_vectors)} == {torch.float32}
    for layer in range(2):
        found, expected = rough[f"pattern {layer}"], exact[f"pattern {layer}"]
        assert not torch.equal(found, expected)
        assert (found - expected).abs().max() < 0.05
    assert (rough_vectors - vectors).abs().max() < 0.1 * vectors.abs().max()


def test_softmax_and_its_sums_are_those_of_float32(model: Model, pieces: Tensor, mask: Tensor) -> None:
    seen, _ = seen_of(replace(model, precision="bf16"), pieces, mask)
    for layer in range(2):
        pattern, value = seen[f"pattern {layer}"].double(), seen[f"value {layer}"].double()
        scores = seen[f"scores {layer}"].double()
        assert torch.allclose(scores.softmax(-1), pattern, atol=1e-6)
        assert torch.allclose(pattern.sum(-1), torch.ones(()).double(), atol=1e-6)
        mixed = torch.einsum("bhqk,bhkd->bhqd", pattern, value)
        assert (seen[f"head_output {layer}"].double() - mixed).abs().max() < 1e-5 < ROUNDING * mixed.abs().max()
