import math

import pytest
import torch

from experiments.decoders.sinks import sink_share
from mha import Attend, Encoder, EncoderConfig, intervene
from mha.encoder.masked_lm import MaskedBatch

LENGTH = 8


@pytest.fixture
def decoder() -> Encoder:
    torch.manual_seed(0)
    return Encoder(
        EncoderConfig(vocab=20, layers=2, heads=2, model=8, feed_forward=8, positions=LENGTH, causal=True), lm_head=True
    ).eval()


def batch(*blocks: list[int]) -> MaskedBatch:
    pieces = torch.randint(5, 20, (len(blocks), LENGTH), generator=torch.Generator().manual_seed(1))
    nothing = torch.zeros(0, dtype=torch.int64)
    return MaskedBatch(pieces, pieces, torch.tensor(blocks), nothing, nothing)


def to_first(*weights: float) -> torch.Tensor:
    pattern = torch.zeros(len(weights), LENGTH, LENGTH)
    for text, weight in enumerate(weights):
        pattern[text, :, 0], pattern[text, :, 1] = weight, 1 - weight
    return pattern


def test_a_head_has_a_sink_in_the_texts_in_which_it_attends_to_the_first_token(decoder: Encoder) -> None:
    whole = batch([0] * LENGTH, [0] * LENGTH)
    planted = [
        Attend(0, {0: to_first(0.31, 0.29), 1: to_first(0.9, 0.9)}),
        Attend(1, {0: to_first(0.0, 0.0), 1: to_first(0.1, 0.2)}),
    ]
    with intervene(decoder, *planted):
        assert sink_share(decoder, [whole]) == pytest.approx(3 / 8)


def test_the_first_token_itself_is_not_asked(decoder: Encoder) -> None:
    pattern = to_first(0.29)
    pattern[0, 0] = torch.eye(LENGTH)[0]
    with intervene(decoder, *(Attend(layer, {0: pattern, 1: pattern}) for layer in range(2))):
        assert sink_share(decoder, [batch([0] * LENGTH)]) == 0.0


def test_only_texts_that_fill_a_row_are_read(decoder: Encoder) -> None:
    assert math.isnan(sink_share(decoder, [batch([0] * 4 + [1] * 4)]))
