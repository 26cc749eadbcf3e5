"""Models with attention code of their own: what hooks see and change is checked by hooks of torch on other modules."""

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from copy import deepcopy
from pathlib import Path
from typing import Any

import pytest
import torch
import transformers as hub
from torch import Tensor, nn

from mha.causal.interventions import Ablate, Attend, Patch, gated, intervene
from mha.hooks import HookError, record, watch
from mha.models.hub import load_hub_head
from mha.models.model import load_model
from mha.own_attention import attention_modules
from mha.watches import SITES, Seen
from tests.mha.tiny.models import built, config, save
from tests.small_words import randomise_weights

HEAD = 1
DROPOUTS = ("deberta-v2", "deberta", "mpnet", "convbert", "bloom", "lilt", "xlnet")
"Each gives its pattern to a module of dropout before values are mixed: torch's own hooks can change it there."

FORMS = (*DROPOUTS, "falcon", "xlm", "squeezebert", "nystromformer", "ibert", "luke", "gptj")


@contextmanager
def at_dropout(model: nn.Module, layer: int, change: Callable[[Tensor], Tensor]) -> Iterator[None]:
    """Have the pattern of a layer changed by a hook of torch on the dropout that it goes through."""
    module: Any = attention_modules(model)[layer]
    dropout = module.get_submodule("attention_dropout" if hasattr(module, "attention_dropout") else "dropout")
    passed: list[int] = []

    def hook(_: nn.Module, __: Any, output: Tensor) -> Tensor | None:
        if output.ndim != 4 or output.shape[2] != output.shape[3]:
            return None
        passed.append(1)
        earlier = type(module).__name__ == "LiltSelfAttention" and len(passed) == 1
        return None if earlier else change(output)

    handle = dropout.register_forward_hook(hook)
    try:
        yield
    finally:
        handle.remove()
    assert passed


def with_head(pattern: Tensor, head: Tensor | float) -> Tensor:
    """Return a copy of a pattern in which one head has another."""
    changed = pattern.clone()
    changed[:, HEAD] = head
    return changed


@pytest.mark.parametrize("kind", DROPOUTS)
def test_gates_and_their_gradients_are_those_of_a_pattern_that_is_multiplied(
    kind: str, inputs: dict[str, Tensor]
) -> None:
    model = built(kind)
    gate = torch.tensor(0.3, requires_grad=True)
    with at_dropout(model, 1, lambda pattern: with_head(pattern, pattern[:, HEAD] * gate)):
        expected = model(**inputs)[0]
    with record(model, layers=[0]) as maps:
        model(**inputs)
    gates = torch.ones(len(attention_modules(model)), maps["pattern"][0].shape[1])
    gates[1, HEAD] = 0.3
    gates.requires_grad_()
    with gated(model, gates):
        output = model(**inputs)[0]
    torch.testing.assert_close(output, expected, rtol=0, atol=1e-5)
    (by_hand,) = torch.autograd.grad(expected.square().sum(), gate)
    (found,) = torch.autograd.grad(output.square().sum(), gates)
    torch.testing.assert_close(found[1, HEAD], by_hand, rtol=1e-4, atol=1e-5)
    assert by_hand.abs() > 1e-3


@pytest.mark.parametrize("kind", DROPOUTS)
def test_a_pattern_that_is_given_to_a_head_is_what_it_attends_with(kind: str, inputs: dict[str, Tensor]) -> None:
    model = built(kind)
    given = torch.rand(3, 9, 9).softmax(-1)
    with torch.no_grad():
        with at_dropout(model, 0, lambda pattern: with_head(pattern, given)):
            expected = model(**inputs)[0]
        with intervene(model, Attend(0, {HEAD: given})), record(model) as maps:
            output = model(**inputs)[0]
    assert torch.equal(output, expected)
    assert torch.equal(maps["pattern"][0][:, HEAD], given)


@pytest.mark.parametrize("how", ["mean", "patch"])
def test_a_head_of_deberta_that_is_patched_is_a_change_of_what_W_O_reads(
    how: str, inputs: dict[str, Tensor], mask: Tensor
) -> None:
    model = built("deberta-v2")
    other = inputs | {"input_ids": inputs["input_ids"].flip(0).where(mask, 0)}
    part, dense = slice(8 * HEAD, 8 * HEAD + 8), model.encoder.layer[1].attention.output.dense
    read: list[Tensor] = []

    def swap(_: nn.Module, given: tuple[Tensor]) -> tuple[Tensor]:
        changed = given[0].clone()
        changed[..., part] = changed[..., part][mask].mean(0) if how == "mean" else read[0][..., part]
        return (changed,)

    with torch.no_grad():
        handle = dense.register_forward_pre_hook(lambda _, given: read.append(given[0]))
        model(**other)
        handle.remove()
        handle = dense.register_forward_pre_hook(swap)
        expected = model(**inputs)[0]
        handle.remove()
        change = Ablate(1, HEAD, "mean") if how == "mean" else Patch(1, HEAD, read[0][..., part])
        with intervene(model, change):
            output = model(**inputs)[0]
    torch.testing.assert_close(output, expected, rtol=0, atol=1e-6)


@pytest.mark.parametrize("kind", FORMS)
def test_the_sites_are_the_steps_of_the_formula_and_say_what_is_padding(
    kind: str, inputs: dict[str, Tensor], mask: Tensor
) -> None:
    model = built(kind)
    biases: list[Tensor] = []
    reals: list[Tensor] = []
    sites = [site for site in SITES if site != "head_write"]

    def see(seen: Seen) -> None:
        assert seen.bias is not None
        assert not seen.crossed
        biases.append(seen.bias)
        reals.append(seen.real_keys())

    with torch.no_grad(), record(model, sites) as maps, watch(model, see):
        model(**inputs)
    assert len(maps["pattern"]) == len(biases) == len(attention_modules(model)) >= 2
    for scores, pattern, value, output in zip(*(maps[site] for site in sites), strict=True):
        assert value.shape[:2] == pattern.shape[:2]
        torch.testing.assert_close(pattern, scores.softmax(-1))
        torch.testing.assert_close(output, torch.einsum("bhqk,bhkd->bhqd", pattern, value), rtol=1e-4, atol=1e-5)
    expected = mask[:, None, None, :].expand(3, 1, 9, 9)
    if kind in ("bloom", "falcon", "gptj"):
        expected = expected & torch.ones(9, 9, dtype=torch.bool).tril()
    for bias, real in zip(biases, reals, strict=True):
        assert torch.equal((bias == 0).expand(3, 1, 9, 9)[mask[:, None]], expected[mask[:, None]])
        assert torch.equal(real, mask)


@pytest.mark.parametrize("kind", ["deberta-v2", "falcon", "xlnet"])
def test_one_layer_is_seen_alone_and_watching_changes_no_bit(kind: str, inputs: dict[str, Tensor]) -> None:
    model = built(kind)
    model.config._attn_implementation = "eager"
    with torch.no_grad():
        expected = model(**inputs)[0]
        with record(model) as every, record(model, SITES[:-1], [1]) as one:
            output = model(**inputs)[0]
    assert torch.equal(output, expected)
    assert [*one.tensors["pattern"]] == [1]
    assert torch.equal(one["pattern"][0], every["pattern"][1])
    with pytest.raises(HookError, match="layer index 7 does not exist"), record(model, layers=[7]):
        model(**inputs)


def test_a_model_has_its_own_attention_back_after_an_exception(inputs: dict[str, Tensor]) -> None:
    model = built("falcon")
    assert model.config._attn_implementation == "sdpa"
    before = model(**inputs)[0]
    with record(model):
        with pytest.raises(ZeroDivisionError), watch(model, lambda seen: 1 / 0):
            model(**inputs)
        assert model.config._attn_implementation == "eager"
    assert model.config._attn_implementation == "sdpa"
    assert not any("forward" in vars(part) or part._forward_hooks for part in model.modules())
    assert torch.equal(model(**inputs)[0], before)


def test_a_copy_that_is_made_in_a_block_has_weights_of_its_own(inputs: dict[str, Tensor]) -> None:
    model = built("mpnet")
    with record(model):
        copy = deepcopy(model)
    before = model(**inputs)[0]
    randomise_weights(copy, seed=5)
    assert not torch.allclose(copy(**inputs)[0], before, atol=0.1)


def test_passes_of_another_thread_are_not_seen(inputs: dict[str, Tensor]) -> None:
    model = built("deberta")
    with record(model) as maps:
        thread = threading.Thread(target=lambda: model(**inputs))
        thread.start()
        thread.join(20)
        assert maps["pattern"] == []
        model(**inputs)
    assert len(maps["pattern"]) == 3


@pytest.mark.parametrize(
    ("kind", "changes", "reason"),
    [
        ("longformer", {}, "sparse attention"),
        ("fnet", {}, "Fourier transform .* no attention"),
        ("canine", {}, "groups of characters"),
        ("big_bird", {}, "sparse attention.*set_attention_type"),
        ("nystromformer", {"num_landmarks": 4}, "4 landmarks for segments of 8"),
    ],
)
def test_attention_that_makes_no_map_is_refused_by_name(kind: str, changes: dict[str, Any], reason: str) -> None:
    model = hub.AutoModel.from_config(config(kind, **changes))
    own = model.config._attn_implementation
    with pytest.raises(HookError, match=f"^{type(model).__name__}: .*{reason}"):
        record(model).__enter__()
    assert model.config._attn_implementation == own
    assert not model._forward_hooks


def test_bigbird_attends_to_all_in_texts_in_which_it_does_so_by_itself(tmp_path: Path) -> None:
    folder = save("big_bird", tmp_path, block_size=2, num_random_blocks=1)
    model = load_model(str(folder))
    assert model.max_pieces == (5 + 2) * 2
    ids = torch.randint(5, 40, (1, 14), generator=torch.Generator().manual_seed(0))
    own = hub.AutoModel.from_pretrained(folder).eval()
    with torch.no_grad():
        assert torch.equal(model.run(ids, None), own(input_ids=ids, attention_mask=torch.ones_like(ids))[0])
    hub.BigBirdForMaskedLM(config("big_bird", block_size=2, num_random_blocks=1)).save_pretrained(folder)
    lm = load_hub_head(str(folder), "MaskedLM")
    with record(lm) as maps:
        lm(input_ids=ids)
    assert len(maps["pattern"]) == 3


class OddAttention(nn.Module):
    """One head of size 4 that does something odd."""

    def __init__(self, odd: str) -> None:
        super().__init__()
        self.odd, self.mix = odd, nn.Linear(1, 1)

    def forward(self, x: Tensor) -> Tensor:
        """Return [batch, piece, 4]."""
        if self.odd == "folded":
            return torch.bmm(torch.softmax(x @ x.transpose(1, 2), dim=2), x)
        keys = x[:, None, ::2] if self.odd == "half" else x[:, None]
        pattern = torch.softmax(x[:, None] @ keys.transpose(2, 3), -1)
        if self.odd == "twice":
            pattern = torch.softmax(pattern, -1)
        if self.odd == "talks":
            pattern = self.mix(pattern[..., None])[..., 0]
        if self.odd == "by query":
            return torch.matmul(pattern.view(-1, 1, x.shape[1]), keys.repeat_interleave(6, 0)[:, 0]).view_as(x)
        if self.odd == "more":
            return (pattern @ keys)[:, 0] + (pattern @ keys)[:, 0]
        return x if self.odd == "unused" else (pattern @ keys)[:, 0]


class OddModel(hub.PreTrainedModel):
    """A model of one such layer."""

    config_class = hub.BertConfig

    def __init__(self, odd: str) -> None:
        super().__init__(hub.BertConfig(vocab_size=9, hidden_size=4, num_attention_heads=1))
        self.pieces, self.attention = nn.Embedding(9, 4), OddAttention(odd)

    def forward(self, input_ids: Tensor) -> Tensor:
        """Return [batch, piece, 4]."""
        return self.attention(self.pieces(input_ids))


@pytest.mark.parametrize(
    ("odd", "reason"),
    [
        ("half", r"its scores are \[2, 1, 6, 3\], expected \[2, heads, 6, 6\]"),
        ("twice", "it makes 2 softmaxes in one call"),
        ("talks", "what its pattern is multiplied with was not seen"),
        ("by query", r"its pattern, as \[12, 1, 6\], is multiplied with values \[12, 6, 4\]"),
        ("more", "its pattern is multiplied more than once with values"),
        ("unused", "what its pattern is multiplied with was not seen"),
    ],
)
def test_attention_of_another_form_is_refused_and_never_absent(odd: str, reason: str) -> None:
    model = OddModel(odd).eval()
    with pytest.raises(HookError, match=f"^OddAttention: {reason}: its heads cannot be seen"), record(model):
        model(torch.arange(6).repeat(2, 1))


@pytest.mark.parametrize("odd", ["none", "folded"])
def test_attention_of_the_usual_form_is_seen_in_an_unknown_model(odd: str) -> None:
    model = OddModel(odd).eval()
    ids = torch.arange(6).repeat(2, 1)
    with torch.no_grad(), record(model, SITES[:-1]) as maps:
        output = model(ids)
        x = model.pieces(ids)
    expected = torch.softmax(x @ x.transpose(1, 2), -1)
    torch.testing.assert_close(maps["pattern"][0][:, 0], expected)
    torch.testing.assert_close(maps["value"][0][:, 0], x)
    torch.testing.assert_close(output, expected @ x)
    with intervene(model, Attend(0, {0: torch.eye(6).expand(2, 6, 6)})):
        assert torch.equal(model(ids), x)


def test_dropout_while_a_model_is_trained_is_drawn_as_without_hooks(inputs: dict[str, Tensor]) -> None:
    model = built("deberta-v2").train()
    torch.manual_seed(3)
    expected = model(**inputs)[0]
    torch.manual_seed(3)
    with record(model, SITES) as maps:
        output = model(**inputs)[0]
    assert torch.equal(output, expected)
    torch.testing.assert_close(maps["pattern"][0], maps["scores"][0].softmax(-1))
