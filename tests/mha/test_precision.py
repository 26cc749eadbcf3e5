"""Products in bfloat16: what hooks see is float32 all the same, for our encoder and for models of transformers."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest
import torch
from torch import Tensor
from transformers import BertConfig, BertModel

from mha import Encoder, Model, record
from mha.models.model import Model as AnyModel
from mha.precision import autocast, name_of_precision, uses_bf16

CPU = torch.device("cpu")
ROUNDING = 2**-8
"Of one bfloat16, relative."
SITES = ("pattern", "scores", "value", "head_output")


def model_of(module: torch.nn.Module) -> Model:
    return AnyModel("m", "pretrained", "bert", module, None, 2, 4, 24, 0, "")


@pytest.fixture(params=["encoder", "transformers"])
def model(request: pytest.FixtureRequest, build: Callable[..., Encoder], randomise: Callable[..., None]) -> Model:
    if request.param == "encoder":
        return model_of(build())
    config = BertConfig(
        vocab_size=40,
        hidden_size=32,
        num_hidden_layers=2,
        num_attention_heads=4,
        intermediate_size=48,
        max_position_embeddings=24,
    )
    module = BertModel(config).eval()
    randomise(module)
    return model_of(module)


def seen_of(model: Model, pieces: Tensor, mask: Tensor) -> tuple[dict[str, Tensor], Tensor]:
    with torch.inference_mode(), record(model.module, SITES) as seen:
        output = model.run(pieces, mask)
    return {f"{site} {layer}": one for site in SITES for layer, one in enumerate(seen[site])}, output


def test_auto_is_what_the_processor_has_instructions_for() -> None:
    assert uses_bf16("bf16", CPU)
    assert not uses_bf16("fp32", CPU)
    assert name_of_precision("auto", CPU) == ("bf16" if uses_bf16("auto", CPU) else "fp32")


def test_products_are_made_in_bfloat16_where_it_is_used() -> None:
    x = torch.ones(2, 2)
    with autocast(True, CPU):
        assert (x @ x).dtype == torch.bfloat16
    with autocast(False, CPU):
        assert (x @ x).dtype == torch.float32


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


def test_without_a_watcher_the_vectors_are_near_too(model: Model, pieces: Tensor, mask: Tensor) -> None:
    with torch.inference_mode():
        rough: Any = replace(model, precision="bf16").run(pieces, mask)
        exact = model.run(pieces, mask)
    assert rough.dtype == torch.float32
    real = mask[..., None]
    assert 0 < ((rough - exact) * real).abs().max() < 0.1 * exact.abs().max()
