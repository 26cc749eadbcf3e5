import sys
import threading
from collections.abc import Callable
from typing import Any

import pytest
import torch
import torch.nn.functional as F
from torch import Tensor, nn

from mha.causal.interventions import Ablate, intervene
from mha.encoder.encoder import Encoder
from mha.hooks import HookError, Record, record, watch
from mha.watches import SITES, Seen, call_of


def test_the_sites_are_the_steps_of_the_formula(encoder: Encoder, pieces: Tensor, mask: Tensor) -> None:
    writes: list[Tensor] = []
    handles = [
        layer.attention.output.register_forward_hook(lambda module, inputs, output: writes.append(output))
        for layer in encoder.layers
    ]
    with record(encoder, SITES) as maps:
        encoder(pieces, mask)
    for i, layer in enumerate(encoder.layers):
        scores, pattern, value, output, write = (maps[site][i] for site in SITES)
        torch.testing.assert_close(pattern, scores.softmax(-1))
        torch.testing.assert_close(output, torch.einsum("bhqk,bhkd->bhqd", pattern, value))
        torch.testing.assert_close(write, torch.einsum("bhqd,hdm->bhqm", output, layer.attention.W_O))
        summed = write.sum(1) + layer.attention.output.bias
        torch.testing.assert_close(summed[mask], writes[i], rtol=0, atol=1e-5)
    for handle in handles:
        handle.remove()


def test_an_encoder_of_ours_is_watched_without_the_models_of_transformers(
    encoder: Encoder, pieces: Tensor, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A tokenizer of `transformers` imports none of its models, which take seconds and over 100 MB."""
    monkeypatch.setitem(sys.modules, "transformers", object())
    monkeypatch.delitem(sys.modules, "transformers.modeling_utils")
    with record(encoder) as maps:
        encoder(pieces)
    assert len(maps["pattern"]) == 3


def test_blocks_entered_first_see_first_and_later_ones_see_what_they_made(encoder: Encoder, pieces: Tensor) -> None:
    order: list[tuple[str, int, float]] = []

    def see(name: str, factor: float) -> Callable[[Seen], Tensor]:
        def change(seen: Seen) -> Tensor:
            order.append((name, seen.layer, seen.tensor.max().item()))
            return torch.full_like(seen.tensor, factor)

        return change

    with watch(encoder, see("outer", 3.0)), watch(encoder, see("inner", 5.0)), record(encoder) as maps:
        encoder(pieces)
    assert [(name, layer) for name, layer, _ in order] == [(n, i) for i in range(3) for n in ("outer", "inner")]
    assert all(most == 3.0 for name, _, most in order if name == "inner")
    assert all(most <= 1.0 for name, _, most in order if name == "outer")
    assert all(bool((pattern == 5.0).all()) for pattern in maps["pattern"])


@pytest.mark.parametrize("site", ["scores", "pattern", "value", "head_output"])
def test_what_a_hook_returns_replaces_the_tensor(site: str, encoder: Encoder, pieces: Tensor) -> None:
    """Scores, patterns or values that are equal everywhere make every query's head output the same."""

    def even(seen: Seen) -> Tensor | None:
        return torch.zeros_like(seen.tensor) if site != "pattern" else torch.full_like(seen.tensor, 1 / 9)

    with (
        record(encoder, ["head_output"]) as before,
        watch(encoder, even, [site]),
        record(encoder, ["head_output"]) as now,
    ):
        encoder(pieces)
    assert len(before["head_output"]) == 3
    for output in now["head_output"]:
        torch.testing.assert_close(output, output[:, :, :1].expand_as(output))
        assert bool((output == 0).all()) == (site in ("value", "head_output"))


def test_head_write_can_be_seen_but_not_changed(encoder: Encoder, pieces: Tensor) -> None:
    with (
        pytest.raises(ValueError, match="change head_output instead"),
        watch(encoder, lambda seen: seen.tensor * 2, ["head_write"]),
    ):
        encoder(pieces)


def test_a_replacement_of_another_shape_is_refused(encoder: Encoder, pieces: Tensor) -> None:
    message = r"a hook on pattern returned \(3, 4, 9\), expected \(3, 4, 9, 9\)"
    with pytest.raises(HookError, match=message), watch(encoder, lambda seen: seen.tensor[..., 0]):
        encoder(pieces)


def test_only_the_layers_asked_for_are_recorded_and_take_the_explicit_path(
    encoder: Encoder, pieces: Tensor, monkeypatch: pytest.MonkeyPatch
) -> None:
    calls: list[int] = []
    fused = F.scaled_dot_product_attention
    monkeypatch.setattr(F, "scaled_dot_product_attention", lambda *a, **k: calls.append(1) or fused(*a, **k))
    with record(encoder) as everything:
        expected = encoder(pieces)
    assert calls == []
    with record(encoder, layers=[2, 0]) as maps:
        output = encoder(pieces)
    assert len(calls) == 1
    assert [*maps.tensors["pattern"]] == [0, 2]
    torch.testing.assert_close(maps["pattern"], [everything["pattern"][0], everything["pattern"][2]])
    torch.testing.assert_close(output, expected)
    with watch(encoder, lambda seen: None, ["value", "head_output", "head_write"]):
        encoder(pieces)
    assert len(calls) == 4


@pytest.mark.parametrize("layers", [[3], [0, 7], [-1]])
def test_a_layer_that_does_not_exist_is_an_error(layers: list[int], encoder: Encoder, pieces: Tensor) -> None:
    with pytest.raises(HookError, match=rf"layer index {layers[-1]} does not exist"), record(encoder, layers=layers):
        encoder(pieces)


def test_an_unknown_site_is_an_error(encoder: Encoder) -> None:
    with (
        pytest.raises(HookError, match="unknown site 'patern'; the sites are scores, pattern"),
        record(encoder, ["patern"]),
    ):
        pass
    with pytest.raises(HookError, match="site 'value' was not recorded; recorded were pattern"):
        Record(("pattern",))["value"]


def test_a_model_without_attention_is_an_error() -> None:
    model = nn.Sequential(nn.Linear(2, 2))
    with pytest.raises(HookError, match="Sequential made no attention call that can be seen"), record(model):
        model(torch.zeros(1, 2))


def test_a_record_holds_the_latest_pass(encoder: Encoder, pieces: Tensor) -> None:
    with record(encoder) as maps:
        encoder(pieces)
        first = maps["pattern"]
        encoder(pieces[:2, :4])
        assert [tuple(pattern.shape) for pattern in maps["pattern"]] == [(2, 4, 4, 4)] * 3
    assert [tuple(pattern.shape) for pattern in first] == [(3, 4, 9, 9)] * 3
    assert not any(pattern.requires_grad for pattern in first)


def test_a_pass_that_breaks_off_is_not_mixed_with_the_one_before(encoder: Encoder, pieces: Tensor) -> None:
    def see(seen: Seen) -> None:
        if seen.layer == 1 and len(seen.tensor) == 2:
            raise ZeroDivisionError

    with record(encoder) as maps, watch(encoder, see):
        encoder(pieces)
        with pytest.raises(ZeroDivisionError):
            encoder(pieces[:2])
    assert [len(pattern) for pattern in maps["pattern"]] == [2, 2]


@pytest.mark.parametrize("where", ["hook", "model"])
def test_nothing_remains_after_an_exception(where: str, encoder: Encoder, pieces: Tensor) -> None:
    def see(seen: Seen) -> None:
        assert call_of(encoder).watches
        if where == "hook":
            raise ZeroDivisionError

    before = encoder(pieces)
    error = ZeroDivisionError if where == "hook" else IndexError
    with pytest.raises(error), record(encoder), intervene(encoder, Ablate(0, 0)), watch(encoder, see):
        encoder(pieces if where == "hook" else pieces + 1000)
    assert not call_of(encoder).watches
    assert not any(m._forward_hooks or m._forward_pre_hooks for m in encoder.modules())
    assert torch.equal(encoder(pieces), before)


def test_a_block_in_one_thread_does_not_see_the_passes_of_another(encoder: Encoder, pieces: Tensor) -> None:
    other = Ablate(layer=1, head=0)
    inside, done = threading.Event(), threading.Event()
    seen_there: list[Any] = []

    def there() -> None:
        with intervene(encoder, other), watch(encoder, lambda seen: seen_there.append(seen.layer)):
            inside.set()
            done.wait(20)
            encoder(pieces)

    expected = encoder(pieces)
    thread = threading.Thread(target=there)
    thread.start()
    assert inside.wait(20)
    assert not call_of(encoder).watches
    output = encoder(pieces)
    with record(encoder) as maps:
        encoder(pieces)
    untouched = [*seen_there]
    done.set()
    thread.join(20)
    assert torch.equal(output, expected)
    assert untouched == []
    assert seen_there == [0, 1, 2]
    assert len(maps["pattern"]) == 3
    assert not encoder._forward_hooks


def test_a_mask_for_the_whole_batch_says_which_keys_are_real_in_each_text(encoder: Encoder) -> None:
    bias = torch.zeros(1, 1, 3, 3).masked_fill_(torch.tensor([True, True, False]).logical_not(), -torch.inf)
    real = Seen("head_output", 0, torch.zeros(5, 2, 3, 8), bias).real_keys()
    assert real is not None
    assert real.tolist() == [[True, True, False]] * 5


# --- what a block is shown


def seen(bias: Tensor | None, value: Tensor | None = None) -> Seen:
    return Seen(
        "pattern",
        2,
        torch.arange(4.0).view(4, 1, 1, 1).expand(4, 2, 3, 3),
        bias,
        call=call_of(nn.Identity()),
        value=value,
    )


def test_a_mask_that_all_texts_share_stays_whole_and_none_stays_none() -> None:
    shared = torch.rand(1, 1, 3, 3)
    part = seen(shared).texts(slice(1, 3))
    assert part.bias is shared
    assert part.value is None
    assert seen(None).texts(slice(0, 1)).bias is None
    assert seen(None).real_keys() is None


@pytest.mark.parametrize("dtype", [torch.float32, torch.float16])
def test_a_key_that_no_query_may_attend_to_is_padding(dtype: torch.dtype) -> None:
    bias = torch.zeros(4, 1, 3, 3, dtype=dtype)
    bias[0, ..., 2] = torch.finfo(dtype).min
    bias[1, :, 0, 1] = torch.finfo(dtype).min  # one query alone, as in a causal mask
    bias[2, ..., 0] = -5.0  # a bias that is no mask
    keys = seen(bias).real_keys()
    assert keys is not None
    assert keys.tolist() == [[True, True, False], [True] * 3, [True] * 3, [True] * 3]
