from typing import Any

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import Tensor, nn

from mha.attention import AttentionError, MultiHeadAttention, additive, attend
from mha.hooks import record, watch
from mha.watches import Seen

HEADS, MODEL = 4, 12


def formula(attention: MultiHeadAttention, query: Tensor, key: Tensor, value: Tensor, allowed: Tensor) -> Tensor:
    """MultiHead(Q, K, V) as printed, a head at a time; `allowed` is [batch, query, key]."""
    heads = []
    for i in range(attention.heads):
        Q = torch.einsum("bqm,md->bqd", query, attention.W_Q[i]) + attention.bias(0)[i]
        K = torch.einsum("bkm,md->bkd", key, attention.W_K[i]) + attention.bias(1)[i]
        V = torch.einsum("bkm,md->bkd", value, attention.W_V[i]) + attention.bias(2)[i]
        weight = torch.exp(torch.einsum("bqd,bkd->bqk", Q, K) / attention.head_dim**0.5) * allowed
        heads.append(torch.einsum("bqk,bkd->bqd", weight / weight.sum(-1, keepdim=True), V))
    W_O = torch.cat([*attention.W_O])
    return torch.einsum("bqc,cm->bqm", torch.cat(heads, -1), W_O) + attention.output.bias


def double(heads: int, head_dim: int, seed: int = 0, **options: Any) -> MultiHeadAttention:
    torch.manual_seed(seed)
    attention = MultiHeadAttention(MODEL, heads, head_dim=head_dim, **options).double()
    for parameter in attention.parameters():
        nn.init.normal_(parameter, std=0.5)
    return attention


def some_mask(shape: tuple[int, ...], seed: int) -> Tensor:
    mask = torch.rand(shape, generator=torch.Generator().manual_seed(seed)) < 0.6
    mask[..., 0] = True
    return mask


@given(
    heads=st.integers(1, 4),
    head_dim=st.integers(1, 5),
    batch=st.integers(1, 3),
    queries=st.integers(1, 6),
    keys=st.integers(1, 6),
    masked=st.sampled_from(["none", "keys", "queries and keys"]),
    inputs=st.sampled_from(["same", "key", "value", "key and value"]),
    seed=st.integers(0, 99),
)
@settings(max_examples=80)
def test_multi_head_attention_is_the_formula(
    heads: int, head_dim: int, batch: int, queries: int, keys: int, masked: str, inputs: str, seed: int
) -> None:
    attention = double(heads, head_dim, seed)
    query = torch.randn(batch, queries, MODEL, dtype=torch.float64)
    keys = queries if inputs in ("same", "value") else keys
    key = torch.randn(batch, keys, MODEL, dtype=torch.float64) if "key" in inputs else None
    value = torch.randn(batch, keys, MODEL, dtype=torch.float64) if "value" in inputs else None
    shape = (batch, keys) if masked == "keys" else (batch, queries, keys)
    mask = None if masked == "none" else some_mask(shape, seed)
    allowed = torch.ones(batch, queries, keys) if mask is None else mask.expand_as(mask) + 0.0
    allowed = allowed[:, None].expand(-1, queries, -1) if allowed.ndim == 2 else allowed
    used_key = query if key is None else key
    expected = formula(attention, query, used_key, used_key if value is None else value, allowed)
    torch.testing.assert_close(attention(query, key, value, mask), expected, rtol=0, atol=1e-10)
    with record(attention) as seen:
        explicit = attention(query, key, value, mask)
    torch.testing.assert_close(explicit, expected, rtol=0, atol=1e-10)
    assert bool(((seen["pattern"][0] > 0) == (allowed > 0)[:, None]).all())


def test_the_projections_are_views_of_the_weights() -> None:
    attention = double(HEADS, 3)
    query = torch.randn(1, 4, MODEL, dtype=torch.float64)
    with torch.no_grad():
        attention.W_O[1] = 0
        attention.W_V[1] = 7
        expected = attention(query)
        attention.W_V[1] = -3
        assert torch.equal(attention(query), expected)
        attention.W_V[2] = 7
    assert not torch.equal(attention(query), expected)


@pytest.mark.parametrize("explicit", [False, True])
def test_gradients_are_those_of_the_formula_and_reach_every_parameter(explicit: bool) -> None:
    attention = double(2, 3)
    query, key, value = (torch.randn(2, n, MODEL, dtype=torch.float64) for n in (3, 4, 4))
    mask = some_mask((2, 4), 3)
    parameters = [*attention.parameters()]
    expected = torch.autograd.grad(
        formula(attention, query, key, value, mask[:, None] + 0.0).square().sum(), parameters
    )
    with watch(attention, lambda seen: None, ["pattern"] if explicit else ["value"]):
        gradients = torch.autograd.grad(attention(query, key, value, mask).square().sum(), parameters)
    for gradient, right in zip(gradients, expected, strict=True):
        torch.testing.assert_close(gradient, right, rtol=1e-9, atol=1e-9)
        assert gradient.abs().max() > 0.01


@pytest.mark.parametrize("site", ["pattern", "value"])
def test_dropout_acts_on_patterns_in_training_alone_and_on_average_on_nothing(site: str) -> None:
    attention = double(HEADS, 3, dropout=0.5)
    query = torch.randn(1, 4, MODEL, dtype=torch.float64)
    seen: list[Seen] = []
    with torch.no_grad(), watch(attention, seen.append, [site]):
        still = attention.eval()(query)
        assert torch.equal(attention(query), still)
        noisy = attention.train()(query.expand(4000, -1, -1))
    assert not torch.equal(noisy[0], noisy[1])
    torch.testing.assert_close(noisy.mean(0), still[0], rtol=0, atol=0.2)
    torch.testing.assert_close(seen[-1].tensor[0], seen[0].tensor[0], rtol=0, atol=1e-12)


@pytest.mark.parametrize("site", ["pattern", "value"])
@pytest.mark.parametrize("more", [{}, {"softcap": 0.5}, {"s_aux": torch.tensor([-1.0, 0, 2, 1]).double()}])
def test_bias_soft_cap_sink_and_grouped_keys_are_those_of_the_formula(more: dict[str, Any], site: str) -> None:
    query, key, value = (torch.randn(2, heads, 5, 4, dtype=torch.float64) for heads in (4, 2, 2))
    bias, mask = torch.randn(1, 4, 5, 5, dtype=torch.float64), -3.0 * some_mask((2, 5), 5)[:, None, None]
    scores = torch.einsum("bgrqd,bgkd->bgrqk", query.view(2, 2, 2, 5, 4), key).flatten(1, 2) * 0.7
    capped = 0.5 * torch.tanh(scores / 0.5) if "softcap" in more else scores
    weight = torch.exp(capped + bias + mask)
    sink = more["s_aux"].exp()[:, None, None] if "s_aux" in more else 0
    pattern = weight / (weight.sum(-1, keepdim=True) + sink)
    module = nn.Identity()
    with record(module, [site]) as seen:
        output, _ = attend(module, query, key, value, mask, scaling=0.7, position_bias=bias, **more)
    expected = torch.einsum("bgrqk,bgkd->bqgrd", pattern.view(2, 2, 2, 5, 5), value).flatten(2, 3)
    torch.testing.assert_close(output, expected, rtol=1e-9, atol=1e-9)
    if site == "pattern":
        torch.testing.assert_close(seen["pattern"][0], pattern, rtol=1e-9, atol=1e-9)


def test_attend_refuses_by_name_what_it_does_not_know() -> None:
    x, others = torch.randn(1, 2, 3, 4), {"something_new": 1.0}
    with pytest.raises(AttentionError, match="Identity passes 'something_new' to its attention"):
        attend(nn.Identity(), x, x, x, None, **others)
    silent = {"sliding_window": 4, "output_router_logits": False, "other": None}
    assert torch.equal(attend(nn.Identity(), x, x, x, None, **silent)[0], attend(nn.Identity(), x, x, x, None)[0])
    with pytest.raises(AttentionError, match="added to scores"):
        attend(nn.Identity(), x, x, x, torch.ones(1, 1, 3, 3, dtype=torch.bool))


@pytest.mark.parametrize("packed", [True, False])
def test_in_half_precision_the_explicit_way_trains_like_the_fused_one(packed: bool) -> None:
    module, generator = torch.nn.Identity(), torch.Generator().manual_seed(0)
    query, key, value, outer = (torch.randn(2, 3, 7, 4, generator=generator) for _ in range(4))
    blocks = torch.tensor([[0, 0, 0, 1, 1, 1, 1], [0, 1, 1, 1, 1, 2, 2]])
    mask = blocks[:, :, None] == blocks[:, None] if packed else None
    gradients = {}
    for dtype in (torch.float64, torch.bfloat16):
        inputs = [x.to(dtype).requires_grad_() for x in (query, key, value)]
        output, pattern = attend(module, *inputs, additive(mask, dtype))
        assert pattern is None
        gradients[dtype] = torch.autograd.grad(output, inputs, outer.transpose(1, 2).to(dtype))
    for exact, rough in zip(*gradients.values(), strict=True):
        torch.testing.assert_close(rough.double(), exact, rtol=0.02, atol=0.03)
        assert exact.abs().max() > 0.5


@pytest.mark.parametrize("trained", [True, False])
def test_pruning_and_restoring_change_nothing_of_what_is_trained(trained: bool) -> None:
    attention = MultiHeadAttention(MODEL, HEADS).requires_grad_(trained)
    for change in (lambda: attention.prune([1]), attention.restore):
        change()
        assert {weight.requires_grad for weight in attention.parameters()} == {trained}
