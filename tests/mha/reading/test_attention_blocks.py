from dataclasses import replace

import pytest
import torch

from mha.encoder.encoder import Encoder
from mha.hooks import entering
from mha.models.model import Model
from mha.reading.attention_blocks import attention_blocks, states_without
from tests.mha.conftest import model_of

IDS = torch.tensor([7, 30, 12, 9, 30, 21])


@pytest.fixture
def tiny(encoder: Encoder) -> Model:
    return model_of(encoder)


def test_what_heads_write_the_residual_and_the_bias_are_what_layer_norm_reads(tiny: Model) -> None:
    with torch.no_grad(), entering(tiny.module.layers[1].expand) as normed:
        tiny.run(IDS[None], None)
    block = attention_blocks(tiny, IDS)[1]
    whole = block.written(block.pattern) + block.x + block.layer.attention.output.bias
    torch.testing.assert_close(block.layer.attention_norm(whole), normed[0], atol=1e-5, rtol=1e-5)
    spread = whole.var(-1, unbiased=False, keepdim=True).sqrt()
    shifted = block.scaled(whole) / spread + block.layer.attention_norm.bias
    torch.testing.assert_close(shifted, normed[0], atol=1e-4, rtol=1e-4)


def test_with_all_parts_the_states_are_those_of_the_model(tiny: Model) -> None:
    states = states_without(tiny, IDS, skips=True, feed_forward=True)
    assert states.shape == (4, 6, 32)
    torch.testing.assert_close(states[-1], tiny.run(IDS[None], None)[0])
    torch.testing.assert_close(states[:3], torch.stack([block.x for block in attention_blocks(tiny, IDS)]))


def test_a_pre_norm_pass_with_all_parts_is_the_model_before_its_last_norm(tiny: Model) -> None:
    encoder = Encoder(replace(tiny.module.config, norm="pre")).eval()
    states = states_without(replace(tiny, module=encoder), IDS, skips=True, feed_forward=True)
    torch.testing.assert_close(encoder.final_norm(states[-1]), encoder(IDS[None])[0])
    block = attention_blocks(replace(tiny, module=encoder), IDS)[0]
    torch.testing.assert_close(block.scaled(block.x), block.x)


def test_attention_alone_is_what_heads_write_behind_layer_norm(tiny: Model) -> None:
    block = attention_blocks(tiny, IDS)[0]
    written = block.written(block.pattern) + block.layer.attention.output.bias
    with torch.no_grad():
        nets = block.layer.feed_forward_norm(block.layer.feed_forward(block.layer.attention_norm(written)))
        normed = block.layer.attention_norm(written)
    alone = states_without(tiny, IDS, skips=False, feed_forward=False)
    torch.testing.assert_close(alone[1], normed)
    torch.testing.assert_close(states_without(tiny, IDS, skips=False, feed_forward=True)[1], nets)
