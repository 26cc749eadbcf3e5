from dataclasses import replace
from typing import Any

import pytest
import torch
from torch import Tensor, nn

from mha.causal.direct_logits import DirectLogitError, direct_logits, linear_readout
from mha.causal.sweep import TextBatch, head_outputs
from mha.encoder.encoder import Encoder, EncoderConfig, MaskedLMHead
from mha.models.circuits import layers_of
from mha.models.masked_prediction import MaskedLM
from mha.models.model import Model

FORMS = torch.tensor([[5, 6], [7, 8], [5, 8]])


def linear_lm(norm: str = "pre", *, linear: bool = True, silent: bool = True) -> MaskedLM:
    """Return a masked LM in double precision whose last feed-forward net writes nothing if it is to be `silent`."""
    torch.manual_seed(3)
    encoder: Any = Encoder(
        EncoderConfig(vocab=30, layers=2, heads=3, model=24, feed_forward=32, positions=9, norm=norm), lm_head=True
    )
    if linear:
        encoder.lm_head = nn.Linear(24, 30)
    for parameter in encoder.parameters():
        nn.init.normal_(parameter, std=0.4)
    if silent:
        nn.init.zeros_(encoder.layers[-1].contract.weight)
    encoder = encoder.double().eval()
    return MaskedLM(Model("tiny", "pretrained", "bert", encoder, None, 2, 3, 9, 0, ""), encoder, 4, 1)


@pytest.fixture
def runs() -> tuple[TextBatch, TextBatch]:
    torch.manual_seed(1)
    real = torch.arange(8) < torch.tensor([[8], [6], [4]])
    corrupted = TextBatch(torch.randint(5, 30, (3, 8)).masked_fill(~real, 0), real, torch.tensor([2, 8 + 5, 16]))
    ids = corrupted.ids.clone()
    ids[:, 1] = 9
    return replace(corrupted, ids=ids), corrupted


def difference(logits: Tensor) -> Tensor:
    row = torch.arange(3)
    return logits[row, FORMS[:, 0]] - logits[row, FORMS[:, 1]]


def test_all_heads_and_all_else_that_is_written_sum_to_the_difference_of_logits(
    runs: tuple[TextBatch, TextBatch],
) -> None:
    lm, (texts, _) = linear_lm(), runs
    encoder, norm, readout = linear_readout(lm)
    kept: list[Tensor] = []
    norm.register_forward_pre_hook(lambda _, inputs: kept.append(inputs[0]))
    with torch.no_grad():
        logits = lm.read(texts.ids, texts.real, texts.selected)
        heads = direct_logits(lm, texts, head_outputs(lm, texts), FORMS)
        x, rest, row, place = kept[0], kept[0], torch.arange(3), torch.tensor([2, 5, 0])
        for layer, output in zip(layers_of(encoder), head_outputs(lm, texts), strict=True):
            rest = rest - torch.einsum("chd,hdm->cm", output[row, :, place], layer.attention.W_O)
        scaled = (rest - rest.mean(-1, keepdim=True)) / (x.var(-1, unbiased=False) + norm.eps).sqrt()[:, None]
        other = difference((scaled * norm.weight + norm.bias) @ readout.weight.T + readout.bias)
    torch.testing.assert_close(heads.sum((1, 2)) + other, difference(logits), rtol=0, atol=1e-9)


def test_models_of_which_it_cannot_be_told_are_refused_with_the_reason() -> None:
    with pytest.raises(DirectLogitError, match="tiny is post-norm: what a head writes passes two LayerNorms"):
        linear_readout(linear_lm("post"))
    curved = linear_lm(linear=False)
    assert isinstance(curved.module, Encoder)
    assert isinstance(curved.module.lm_head, MaskedLMHead)
    with pytest.raises(DirectLogitError, match="its masked-LM head has a nonlinear transform"):
        linear_readout(curved)
    with pytest.raises(DirectLogitError, match="pre-norm encoders of headscope's own kind"):
        linear_readout(replace(curved, module=nn.Identity()))
    with pytest.raises(ValueError, match="say which"):
        direct_logits(linear_lm(), TextBatch(torch.ones(1, 2, dtype=torch.int64)), [], FORMS)
