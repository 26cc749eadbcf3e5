import math

import pytest
import torch

from experiments.decoders.in_context import in_context_score
from mha import Encoder, EncoderConfig
from mha.encoder.masked_lm import MaskedBatch


@pytest.fixture
def decoder() -> Encoder:
    torch.manual_seed(0)
    shape = EncoderConfig(vocab=20, layers=1, heads=2, model=8, feed_forward=8, positions=16, causal=True)
    return Encoder(shape, lm_head=True).eval()


def batch(blocks: list[int]) -> MaskedBatch:
    pieces = torch.randint(5, 20, (1, 16), generator=torch.Generator().manual_seed(1))
    block = torch.tensor([blocks])
    places = torch.tensor([[blocks[:at].count(one) for at, one in enumerate(blocks)]])
    masked = torch.tensor([at for at in range(15) if blocks[at] == blocks[at + 1]])
    return MaskedBatch(pieces, places, block, masked, pieces[0, masked + 1])


def test_the_score_is_the_loss_late_minus_the_loss_early(decoder: Encoder) -> None:
    one = batch([0] * 16)
    assert decoder.lm_head is not None
    with torch.inference_mode():
        logits = decoder.lm_head(decoder(one.pieces))[0].double().log_softmax(-1)
    loss = [-float(logits[at, one.pieces[0, at + 1]]) for at in range(15)]
    expected = sum(loss[12:15]) / 3 - sum(loss[2:4]) / 2
    assert in_context_score(decoder, [one]) == pytest.approx(expected, abs=1e-5)
    assert in_context_score(decoder, [one], [(0, 0)]) != pytest.approx(expected, abs=1e-6)


def test_places_count_from_the_start_of_a_document(decoder: Encoder) -> None:
    assert math.isnan(in_context_score(decoder, [batch([0] * 8 + [1] * 8)]))
