from copy import deepcopy

import pytest
import torch
from torch import Tensor

from mha.attention import MultiHeadAttention
from mha.causal.interventions import Ablate, Attend, intervene
from mha.encoder.encoder import Encoder
from mha.hooks import HookError, record


def test_ablating_by_zero_is_zeroing_the_rows_of_the_head_in_W_O(
    encoder: Encoder, pieces: Tensor, mask: Tensor
) -> None:
    before, without = encoder(pieces, mask), deepcopy(encoder)
    with torch.no_grad():
        without.layers[1].attention.W_O[2] = 0
    with intervene(encoder, Ablate(layer=1, head=2)):
        ablated = encoder(pieces, mask)
    torch.testing.assert_close(ablated, without(pieces, mask), rtol=0, atol=1e-6)
    assert not torch.allclose(ablated, before, atol=1e-2)
    assert torch.equal(encoder(pieces, mask), before)


def test_ablating_by_mean_writes_the_mean_over_real_pieces_everywhere(
    encoder: Encoder, pieces: Tensor, mask: Tensor
) -> None:
    with record(encoder, ["head_output"], layers=[1]) as seen:
        before = encoder(pieces, mask)
    vectors = [seen["head_output"][0][b, 2, q] for b in range(3) for q in range(9) if mask[b, q]]
    mean, constant = torch.stack(vectors).mean(0), deepcopy(encoder)
    with torch.no_grad():
        attention = constant.layers[1].attention
        attention.output.bias += mean @ attention.W_O[2]
        attention.W_O[2] = 0
    expected = constant(pieces, mask)
    for change in (Ablate(1, 2, how="mean"), Ablate(1, 2, how="mean", mean=mean)):
        with intervene(encoder, change):
            torch.testing.assert_close(encoder(pieces, mask), expected, rtol=0, atol=1e-5)
    assert torch.equal(encoder(pieces, mask), before)


@pytest.mark.parametrize("keys", [4, 6])
def test_the_mean_over_a_batch_is_refused_where_keys_are_other_pieces_than_queries(keys: int) -> None:
    """The mask is of keys: taken for one of queries it would leave real queries out of the mean."""
    attention, query = MultiHeadAttention(16, 2), torch.randn(2, 4, 16, generator=torch.Generator().manual_seed(0))
    mask = torch.arange(keys) < torch.tensor([keys, 2])[:, None]
    change, given = Ablate(0, 1, how="mean"), Ablate(0, 1, how="mean", mean=torch.ones(8))
    message = r"layer index 0 attends to other pieces .* Ablate\(\.\.\., mean=\)"
    with pytest.raises(HookError, match=message), intervene(attention, change):
        attention(query, torch.ones(2, keys, 16), mask=mask)
    with intervene(attention, given), record(attention, ["head_output"]) as seen:
        attention(query, torch.ones(2, keys, 16), mask=mask)
    assert bool((seen["head_output"][0][:, 1] == 1).all())
    for alone in ((query,), (query, query)):
        with intervene(attention, change), record(attention, ["head_output"]) as seen:
            attention(*alone, mask=mask[:, :4])
        assert not bool((seen["head_output"][0][:, 1] == 1).any())


def test_a_head_or_way_that_does_not_exist_is_an_error(encoder: Encoder, pieces: Tensor) -> None:
    for head in (4, -1):
        with (
            pytest.raises(HookError, match=rf"head index {head} is outside layer 1 \(4 heads"),
            intervene(encoder, Ablate(1, head)),
        ):
            encoder(pieces)
    with pytest.raises(HookError, match="layer index 3 does not exist in this model"), intervene(encoder, Ablate(3, 0)):
        encoder(pieces)
    with pytest.raises(HookError, match="unknown ablation 'none'"):
        Ablate(0, 0, how="none")


def test_a_head_attends_as_told_where_it_has_results_and_as_it_would_elsewhere(
    encoder: Encoder, pieces: Tensor, mask: Tensor
) -> None:
    told = torch.zeros(3, 9, 9)
    told[:, 2, 5] = 1
    with record(encoder) as own:
        before = encoder(pieces, mask)
    with intervene(encoder, Attend(0, {1: told})), record(encoder) as seen:
        after = encoder(pieces, mask)
    assert torch.equal(seen["pattern"][0][:, 1, 2], told[:, 2])
    others = torch.arange(9) != 2
    assert torch.equal(seen["pattern"][0][:, 1, others], own["pattern"][0][:, 1, others])
    assert torch.equal(seen["pattern"][0][:, [0, 2, 3]], own["pattern"][0][:, [0, 2, 3]])
    assert not torch.allclose(after, before, atol=1e-3)
    torch.testing.assert_close(encoder(pieces, mask), before, rtol=0, atol=1e-5)
