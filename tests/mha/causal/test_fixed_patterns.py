import pytest
import torch

from mha.causal.fixed_patterns import PATTERNS, fixed_heads, fixed_pattern
from mha.encoder.encoder import Encoder
from mha.hooks import record

ALL = torch.ones(1, 5, 5, dtype=torch.bool)


@pytest.mark.parametrize(
    ("name", "keys"),
    [
        ("current", [0, 1, 2, 3, 4]),
        ("previous", [0, 0, 1, 2, 3]),
        ("next", [1, 2, 3, 4, 4]),
        ("start", [0, 0, 0, 0, 0]),
        ("end", [4, 4, 4, 4, 4]),
    ],
)
def test_one_token_gets_all_the_attention(name: str, keys: list[int]) -> None:
    assert torch.equal(fixed_pattern(name, ALL)[0], torch.eye(5)[keys])


def test_the_left_has_cubed_weights_that_rise_towards_the_query_and_the_right_is_its_mirror() -> None:
    left = fixed_pattern("left", ALL)[0]
    expected = torch.eye(5)
    expected[2] = torch.tensor([1.0, 0, 0, 0, 0])
    expected[3] = torch.tensor([1.0, 8, 0, 0, 0]) / 9
    expected[4] = torch.tensor([1.0, 8, 27, 0, 0]) / 36
    assert torch.allclose(left, expected)
    assert torch.allclose(fixed_pattern("right", ALL)[0], expected.flip(0, 1))


@pytest.mark.parametrize("name", PATTERNS)
def test_texts_of_a_row_have_patterns_of_their_own(name: str) -> None:
    blocks = torch.tensor([[0, 0, 0, 1, 1, 1, 1, -1]])
    allowed = (blocks[:, :, None] == blocks[:, None]) & (blocks >= 0)[:, None]
    found = fixed_pattern(name, allowed)[0]
    assert torch.allclose(found[:3, :3], fixed_pattern(name, torch.ones(1, 3, 3, dtype=torch.bool))[0])
    assert torch.allclose(found[3:7, 3:7], fixed_pattern(name, torch.ones(1, 4, 4, dtype=torch.bool))[0])
    assert torch.allclose(found.sum(-1), torch.ones(8))


def test_the_first_heads_of_every_layer_are_fixed_and_the_others_left(encoder: Encoder) -> None:
    pieces, mask = torch.tensor([[2, 7, 8, 3, 0]]), torch.tensor([[True, True, True, True, False]])
    with record(encoder) as before:
        encoder(pieces, mask)
    learnt = before["pattern"][0]
    with fixed_heads(encoder, ["previous", "end"]), record(encoder) as maps:
        encoder(pieces, mask)
    for pattern in maps["pattern"]:
        assert pattern[0, 0, :4].argmax(-1).tolist() == [0, 0, 1, 2]
        assert pattern[0, 1, :4].argmax(-1).tolist() == [3, 3, 3, 3]
    assert torch.equal(maps["pattern"][0][:, 2], learnt[:, 2])
    with record(encoder) as after:
        encoder(pieces, mask)
    assert torch.equal(after["pattern"][0], learnt)
