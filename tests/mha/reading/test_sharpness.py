import math
from dataclasses import replace

import pytest
import torch
import torch.nn.functional as F

from mha import Encoder, EncoderConfig, watch
from mha.encoder.masked_lm import MaskedBatch, masked_lm_loss
from mha.reading.sharpness import entropy, random_scores, score_gradient, sharpness

CONFIG = EncoderConfig(
    vocab=20, layers=2, heads=2, model=8, feed_forward=16, positions=8, dropout=0.0, attention_dropout=0.0
)


def batch() -> MaskedBatch:
    pieces = torch.randint(1, 20, (2, 6), generator=torch.Generator().manual_seed(2))
    blocks = torch.tensor([[0, 0, 0, 1, 1, 1], [0, 0, 0, 0, -1, -1]])
    places = torch.tensor([[0, 1, 2, 0, 1, 2], [0, 1, 2, 3, 0, 0]])
    masked = torch.tensor([1, 4, 7])
    return MaskedBatch(pieces, places, blocks, masked, torch.tensor([3, 5, 7]))


def test_entropy_is_that_of_equal_weights_and_of_one_key() -> None:
    rows = torch.tensor([[0.25] * 4, [1.0, 0, 0, 0], [0.5, 0.5, 0, 0]])
    assert entropy(rows).tolist() == pytest.approx([math.log(4), 0.0, math.log(2)])


def test_the_gradient_is_that_of_the_formula() -> None:
    scores = random_scores(4, 3, 5, seed=0)
    weights = torch.randn(scores.shape, generator=torch.Generator().manual_seed(9))
    pattern = F.softmax(scores, -1)
    by_hand = pattern * (weights - (pattern * weights).sum(-1, keepdim=True))
    assert score_gradient(scores, seed=9) == pytest.approx(float(by_hand.norm(dim=-1).mean()))
    assert score_gradient(1000 * scores, seed=9) < 1e-6


@torch.no_grad()
def test_the_gradient_for_scores_is_what_small_changes_of_them_do() -> None:
    torch.manual_seed(0)
    encoder, one = Encoder(replace(CONFIG, layers=1, heads=1), lm_head=True).eval().double(), batch()

    def loss(shift: torch.Tensor) -> float:
        with watch(encoder, lambda seen: seen.tensor + shift, ["scores"]):
            return float(masked_lm_loss(encoder, one))

    slopes = []
    for place in range(2 * 6 * 6):
        shift = torch.zeros(72, dtype=torch.float64)
        shift[place] = 1e-4
        shift = shift.view(2, 1, 6, 6)
        slopes.append((loss(shift) - loss(-shift)) / 2e-4)
    with torch.enable_grad():
        _, norm = sharpness(encoder, [one])
    assert math.hypot(*slopes) == pytest.approx(norm, rel=1e-4)


def test_sharpness_of_flat_patterns_is_the_logarithm_of_the_keys() -> None:
    torch.manual_seed(0)
    encoder = Encoder(CONFIG, lm_head=True).eval()
    with torch.no_grad():
        for layer in encoder.layers:
            layer.attention.project.weight[:16].zero_()
    found, norm = sharpness(encoder, [batch()])
    assert found == pytest.approx((6 * math.log(3) + 4 * math.log(4)) / 10, abs=1e-5)
    assert norm > 0
