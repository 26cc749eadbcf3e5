from typing import Any

import pytest
import torch
import torch.nn.functional as F
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import Tensor, nn

from mha.attention import AttentionError, MultiHeadAttention, additive, attend, plain_attention
from mha.hooks import record, watch
from mha.watches import Seen

HEADS, MODEL = 4, 12


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
    allowed = torch.ones(batch, queries, keys, dtype=torch.bool) if mask is None else mask
    allowed = allowed[:, None].expand(-1, queries, -1) if allowed.ndim == 2 else allowed
    used_key = query if key is None else key
    expected = plain_attention(attention, query, used_key, used_key if value is None else value, allowed)
    torch.testing.assert_close(attention(query, key, value, mask), expected, rtol=0, atol=1e-10)
    with record(attention) as seen:
        explicit = attention(query, key, value, mask)
    torch.testing.assert_close(explicit, expected, rtol=0, atol=1e-10)
    assert bool(((seen["pattern"][0] > 0) == allowed[:, None]).all())


@pytest.mark.parametrize("masked", ["keys", "queries and keys"])
def test_multi_head_attention_agrees_with_that_of_torch(masked: str) -> None:
    attention = double(HEADS, MODEL // HEADS)
    theirs = nn.MultiheadAttention(MODEL, HEADS, batch_first=True, dtype=torch.float64)
    theirs.in_proj_weight, theirs.in_proj_bias = attention.project.weight, attention.project.bias
    theirs.out_proj.weight, theirs.out_proj.bias = attention.output.weight, attention.output.bias
    query, key, value = (torch.randn(2, n, MODEL, dtype=torch.float64) for n in (5, 7, 7))
    mask = some_mask((2, 7) if masked == "keys" else (2, 5, 7), 0)
    forbidden = {"key_padding_mask": ~mask} if mask.ndim == 2 else {"attn_mask": ~mask.repeat_interleave(HEADS, 0)}
    expected, patterns = theirs(query, key, value, average_attn_weights=False, **forbidden)
    with record(attention) as seen:
        torch.testing.assert_close(attention(query, key, value, mask), expected, rtol=0, atol=1e-12)
    torch.testing.assert_close(seen["pattern"][0], patterns, rtol=0, atol=1e-12)


@pytest.mark.parametrize("explicit", [False, True])
def test_gradients_are_those_of_the_formula_and_reach_every_parameter(explicit: bool) -> None:
    attention = double(2, 3)
    query, key, value = (torch.randn(2, n, MODEL, dtype=torch.float64) for n in (3, 4, 4))
    mask = some_mask((2, 4), 3)
    parameters = [*attention.parameters()]
    expected = torch.autograd.grad(
        plain_attention(attention, query, key, value, mask[:, None].expand(-1, 3, -1)).square().sum(), parameters
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


def test_heads_must_divide_the_model_unless_head_dim_is_given() -> None:
    with pytest.raises(ValueError, match="5 heads do not divide a model of size 12"):
        MultiHeadAttention(MODEL, 5)
    assert MultiHeadAttention(MODEL, 5, head_dim=2).W_O.shape == (5, 2, MODEL)


@pytest.mark.parametrize("explicit", [False, True])
@pytest.mark.parametrize("cap", [None, 0.5])
def test_a_position_bias_and_a_soft_cap_are_those_of_the_formula(cap: float | None, explicit: bool) -> None:
    query, key, value = (torch.randn(2, 3, 5, 4, dtype=torch.float64) for _ in range(3))
    bias, mask = torch.randn(1, 3, 5, 5, dtype=torch.float64), -3.0 * some_mask((2, 5), 5)[:, None, None]
    scores = torch.einsum("bhqd,bhkd->bhqk", query, key) * 0.7
    expected = scores if cap is None else cap * torch.tanh(scores / cap)
    expected = torch.einsum("bhqk,bhkd->bqhd", torch.softmax(expected + bias + mask, -1), value)
    module = nn.Identity()
    with watch(module, lambda seen: None, ["pattern"] if explicit else ["value"]):
        output, _ = attend(module, query, key, value, mask, scaling=0.7, position_bias=bias, softcap=cap)
    torch.testing.assert_close(output, expected, rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("watched", [False, True])
def test_a_sink_takes_a_share_of_each_row_and_has_no_value(watched: bool) -> None:
    query, key, value = (torch.randn(2, 3, 5, 4, dtype=torch.float64) for _ in range(3))
    sinks = torch.tensor([-1.0, 0.0, 2.0], dtype=torch.float64)
    weights = torch.einsum("bhqd,bhkd->bhqk", query, key).div(2).exp()
    expected = weights / (weights.sum(-1, keepdim=True) + sinks.exp()[:, None, None])
    patterns: list[torch.Tensor] = []
    module = nn.Identity()
    with watch(module, lambda seen: patterns.append(seen.tensor), ["pattern"] if watched else []):
        output, pattern = attend(module, query, key, value, None, s_aux=sinks)
    torch.testing.assert_close(output, torch.einsum("bhqk,bhkd->bqhd", expected, value), rtol=1e-9, atol=1e-9)
    if watched:
        torch.testing.assert_close(patterns, [expected], rtol=1e-9, atol=1e-9)
        assert bool((patterns[0].sum(-1) < 1).all())
    else:
        assert pattern is None


def test_attend_refuses_by_name_what_it_does_not_know() -> None:
    x, others = torch.randn(1, 2, 3, 4), {"something_new": 1.0}
    with pytest.raises(AttentionError, match="Identity passes 'something_new' to its attention"):
        attend(nn.Identity(), x, x, x, None, **others)
    with pytest.raises(AttentionError, match="something_new"):
        attend(nn.Identity(), x, x, x, None, **dict.fromkeys(others, torch.zeros(1)))


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64, torch.bfloat16])
def test_additive_is_zero_where_allowed_and_the_lowest_number_elsewhere(dtype: torch.dtype) -> None:
    low = torch.finfo(dtype).min
    keys = additive(torch.tensor([[True, False, True]]), dtype)
    assert keys is not None
    assert keys.dtype == dtype
    assert keys.tolist() == [[[[0, low, 0]]]]
    pairs = additive(torch.tensor([[[True, False], [False, True]]]), dtype)
    assert pairs is not None
    assert pairs.tolist() == [[[[0, low], [low, 0]]]]
    assert additive(None, dtype) is None


def test_a_boolean_mask_is_refused_since_both_paths_would_read_it_differently() -> None:
    heads = torch.randn(1, 2, 3, 4)
    with pytest.raises(AttentionError, match="added to scores"):
        attend(torch.nn.Identity(), heads, heads, heads, torch.ones(1, 1, 3, 3, dtype=torch.bool))


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


def test_training_in_half_precision_does_not_take_the_slow_kernel(monkeypatch: pytest.MonkeyPatch) -> None:
    calls: list[torch.dtype] = []
    fused = F.scaled_dot_product_attention
    monkeypatch.setattr(
        F, "scaled_dot_product_attention", lambda *a, **k: (calls.append(a[0].dtype), fused(*a, **k))[1]
    )
    for dtype, rate in [(torch.float32, 0.0), (torch.bfloat16, 0.0), (torch.float32, 0.1), (torch.bfloat16, 0.1)]:
        x = torch.randn(1, 2, 3, 4, dtype=dtype, requires_grad=True)
        attend(torch.nn.Identity(), x, x, x, None, dropout=rate)
    with torch.no_grad():
        attend(torch.nn.Identity(), x, x, x, None)
    assert calls == [torch.float32, torch.bfloat16]


@pytest.mark.parametrize("trained", [True, False])
def test_pruning_and_restoring_change_nothing_of_what_is_trained(trained: bool) -> None:
    attention = MultiHeadAttention(MODEL, HEADS).requires_grad_(trained)
    for change in (lambda: attention.prune([1]), attention.restore):
        change()
        assert {weight.requires_grad for weight in attention.parameters()} == {trained}
