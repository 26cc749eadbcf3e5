from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest
import torch
from torch import Tensor

from mha.causal.interventions import Ablate, Patch, intervene
from mha.causal.pruning import smaller, zeroed
from mha.causal.sweep import ModelReader, TextBatch, Variant, head_outputs, sweeping
from mha.encoder.encoder import Encoder, EncoderConfig
from mha.hooks import HookError
from mha.models.masked_prediction import MaskedLM
from mha.models.model import Model
from tests.mha.tiny.models import built

LAYERS, HEADS = 3, 4


def model_of(module: torch.nn.Module) -> Model:
    """In double precision: what is computed in another order is then equal but for the 15th digit."""
    return Model("tiny", "pretrained", "bert", module.double(), None, LAYERS, HEADS, 12, 0, "")


def ours(norm: str = "post", *, causal: bool = False) -> Model:
    torch.manual_seed(0)
    shape: dict[str, Any] = {"model": 32, "feed_forward": 48, "positions": 12, "norm": norm, "causal": causal}
    config = EncoderConfig(vocab=40, layers=LAYERS, heads=HEADS, **shape)
    encoder = Encoder(config).eval()
    for parameter in encoder.parameters():  # heads that are neither uniform nor idle
        if parameter.ndim == 2:
            torch.nn.init.normal_(parameter, std=0.3)
    return model_of(encoder)


def hub(kind: str) -> Model:
    return model_of(built(kind))


MODELS: dict[str, Callable[[], Model]] = {
    "post-norm": ours,
    "pre-norm": lambda: ours("pre"),
    "causal": lambda: ours(causal=True),
    "distilbert": lambda: hub("distilbert"),
    "albert, whose layers are shared": lambda: hub("albert"),
    "deberta-v2": lambda: hub("deberta-v2"),
    "xlm, whose list of layers is one of attention modules": lambda: hub("xlm"),
    "t5, whose layers hand on a bias of no batch": lambda: model_of(built("t5").encoder),
    "openai-gpt, whose layers return lists": lambda: hub("openai-gpt"),
    "xlnet, whose batch is not the first dimension": lambda: hub("xlnet"),
}


@pytest.fixture
def texts() -> TextBatch:
    torch.manual_seed(1)
    real = torch.arange(9) < torch.tensor([[9], [6], [4]])
    return TextBatch(torch.randint(1, 40, (3, 9)).masked_fill(~real, 0), real)


def one_at_a_time(reader: ModelReader, texts: TextBatch, variant: Variant) -> Tensor:
    with torch.no_grad(), intervene(reader.module, *variant):
        return reader.read(texts.ids, texts.real, texts.selected)


def every_way(reader: ModelReader, texts: TextBatch) -> list[Variant]:
    other = head_outputs(reader, replace(texts, ids=texts.ids.flip(1), real=None))
    mean = torch.randn(8, generator=torch.Generator().manual_seed(2))
    places = torch.zeros(3, 9, dtype=torch.bool)
    places[:, 2] = True
    singles: list[Variant] = [(Ablate(layer, head),) for layer in range(LAYERS) for head in range(HEADS)]
    return [
        (),
        *singles,
        (Ablate(2, 1, "uniform"),),
        (Ablate(0, 1, "uniform"),),
        (Ablate(1, 0, "mean", mean=mean),),
        (Ablate(1, 0, "mean", mean=mean[None] * torch.arange(9)[:, None]),),
        (Ablate(1, 3, "resample", other=other[1][:, 3]),),
        (Patch(0, 2, other[0][:, 2], places),),
        (Ablate(0, 1), Ablate(0, 2, "uniform"), Ablate(2, 3, "uniform"), Patch(1, 1, other[1][:, 1])),
        tuple(Ablate(1, head) for head in range(HEADS)),
    ]


@pytest.mark.parametrize("kind", MODELS)
@pytest.mark.parametrize("pieces", [1, 60, 1000])
def test_side_by_side_is_one_at_a_time(kind: str, pieces: int, texts: TextBatch) -> None:
    reader = MODELS[kind]()
    variants = every_way(reader, texts)
    expected = [one_at_a_time(reader, texts, variant) for variant in variants]
    with sweeping(reader) as sweep:
        trace = sweep.trace(texts)
        found = {
            number: one
            for group, out in sweep.run(texts, variants, trace, pieces=pieces)
            for number, one in zip(group, out, strict=True)
        }
    assert sorted(found) == list(range(len(variants)))
    for number, output in enumerate(expected):
        torch.testing.assert_close(found[number][texts.real], output[texts.real], rtol=0, atol=1e-9)
    assert all(float((found[n] - found[0])[texts.real].abs().max()) > 1e-3 for n in range(1, len(variants)))


@pytest.mark.parametrize("kind", MODELS)
def test_after_a_sweep_the_model_is_what_it_was(kind: str, texts: TextBatch) -> None:
    reader = MODELS[kind]()
    with torch.no_grad():
        before = reader.read(texts.ids, texts.real)
        with sweeping(reader) as sweep, pytest.raises(HookError):
            list(sweep.run(texts, [(Ablate(1, 1),), (Ablate(1, HEADS),)], sweep.trace(texts)))
        assert torch.equal(reader.read(texts.ids, texts.real), before)
    assert not any("forward" in vars(module) for module in reader.module.modules())


def test_layers_below_are_not_run_again(texts: TextBatch) -> None:
    reader, ran = hub("distilbert"), []
    layers: Any = reader.module.transformer.layer  # type: ignore[union-attr]  # of a DistilBertModel
    for number, layer in enumerate(layers):
        layer.attention.register_forward_hook(lambda *_, number=number: ran.append(number))
    with sweeping(reader) as sweep:
        trace = sweep.trace(texts)
        ran.clear()
        list(sweep.run(texts, [(Ablate(2, 0),), (Ablate(1, 0),), (Ablate(2, 1),)], trace))
    assert ran == [1, 2, 2]


def test_an_encoder_that_lost_heads_is_refused_and_one_that_was_made_whole_is_read(texts: TextBatch) -> None:
    encoder = ours().module.float()
    assert isinstance(encoder, Encoder)
    gates = torch.ones(LAYERS, HEADS)
    gates[1, 2] = 0
    small = MaskedLM(ours(), smaller(zeroed(encoder, gates)), 4, None)
    with pytest.raises(HookError, match=r"make it whole with mha\.causal\.pruning\.zeroed"), sweeping(small):
        pass
    with sweeping(model_of(zeroed(small.module, torch.ones(LAYERS, HEADS)))) as sweep:
        trace = sweep.trace(texts)
        (_, (same,)), (_, (other,)) = sweep.run(texts, [(Ablate(1, 2),), (Ablate(1, 1),)], trace, pieces=1)
    torch.testing.assert_close(same, trace.output, rtol=0, atol=1e-9)
    assert not torch.allclose(other, trace.output, atol=1e-3)
