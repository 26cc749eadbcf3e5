import json
import shutil
from collections.abc import Callable
from copy import deepcopy
from pathlib import Path
from typing import Any

import pytest
import torch
import torch.nn.functional as F
import transformers as hub
from safetensors.torch import load_file, save_file
from torch import Tensor

from mha.causal.interventions import Ablate, intervene
from mha.hooks import HookError, record, watch
from mha.models.hub import load_hub_model
from mha.watches import SITES, Seen, is_cross_attention
from tests.mha.tiny.models import built, config

CONFIGS = ("bert", "distilbert", "albert", "modernbert", "gpt2", "gpt_neox", "llama", "bart")
MADE: dict[str, Path] = {}


@pytest.fixture
def folder(request: pytest.FixtureRequest, tmp_path_factory: Any) -> Path:
    """Return the folder of a tiny model, made once an architecture."""
    kind = request.param
    if kind not in MADE:
        MADE[kind] = tmp_path_factory.mktemp(kind)
        built(kind).save_pretrained(MADE[kind])
    return MADE[kind]


@pytest.fixture
def model(folder: Path) -> Any:
    """Return the whole model as `transformers` loads it: with the fused kernel."""
    model = hub.AutoModel.from_pretrained(folder).eval()
    assert model.config._attn_implementation == "sdpa"
    return model


def eager(model: Any, inputs: dict[str, Tensor]) -> tuple[Tensor, list[Tensor]]:
    """Return the model's own eager output and its maps in the order in which they are computed."""
    alone = deepcopy(model)
    alone.set_attn_implementation("eager")
    with torch.no_grad():
        output = alone(**inputs, output_attentions=True)
    if not alone.config.is_encoder_decoder:
        return output[0], [*output.attentions]
    crossed = zip(output.decoder_attentions, output.cross_attentions, strict=True)
    return output[0], [*output.encoder_attentions, *(pattern for pair in crossed for pattern in pair)]


@pytest.mark.parametrize("folder", CONFIGS, indirect=True)
def test_what_is_seen_is_the_models_own_eager_attention_and_the_fused_kernel_runs_where_nobody_looks(
    model: Any, inputs: dict[str, Tensor], mask: Tensor, monkeypatch: pytest.MonkeyPatch
) -> None:
    expected, patterns = eager(model, inputs)
    with torch.no_grad(), record(model, SITES) as maps:
        output = model(**inputs)[0]
    assert torch.equal(output, expected)
    assert [*maps.tensors["pattern"]] == [*range(len(patterns))]
    for seen, pattern in zip(maps["pattern"], patterns, strict=True):
        assert torch.equal(seen, pattern)
        assert seen.std() > 0.05
    calls: list[int] = []
    fused = F.scaled_dot_product_attention
    monkeypatch.setattr(F, "scaled_dot_product_attention", lambda *a, **k: calls.append(1) or fused(*a, **k))
    with torch.no_grad(), watch(model, lambda seen: None, ["value", "head_output"]):
        output = model(**inputs)[0]
    assert len(calls) == len(patterns)
    torch.testing.assert_close(output[mask], expected[mask], rtol=0, atol=1e-5)
    with torch.no_grad(), record(model, layers=[1]) as maps:
        model(**inputs)
    assert len(calls) == 2 * len(patterns) - 1
    torch.testing.assert_close(maps["pattern"][0], patterns[1], rtol=0, atol=1e-5)


WRITERS = {
    "bert": lambda model: model.encoder.layer[1].attention.output.dense,
    "distilbert": lambda model: model.transformer.layer[1].attention.out_lin,
    "gpt2": lambda model: model.h[1].attn.c_proj,
    "llama": lambda model: model.layers[1].self_attn.o_proj,
    "modernbert": lambda model: model.layers[1].attn.Wo,
}
"W_O of the second layer."


@pytest.mark.parametrize("folder", [*WRITERS, "albert", "gpt_neox", "bart"], indirect=True)
def test_norms_are_those_of_vectors_behind_the_W_O_of_their_head(model: Any, inputs: dict[str, Tensor]) -> None:
    lengths: list[tuple[Tensor, Tensor]] = []

    def see(seen: Seen) -> None:
        weights = seen.call.output_weights().double()
        direct = torch.einsum("bhtd,hdm->bhtm", seen.tensor.double(), weights).norm(dim=-1)
        lengths.append((seen.written_norms(), direct))

    with torch.no_grad(), watch(model, see, ["value", "head_output"]):
        model(**inputs)
    assert len(lengths) >= 4
    for found, direct in lengths:
        torch.testing.assert_close(found.double(), direct, rtol=1e-5, atol=1e-6)
        assert direct.std() > 0.01


def rows_of_head(projection: Any, head: int) -> Tensor:
    """Return the part of W_O that meets a head of 8 dimensions: columns of a Linear, rows of GPT-2's Conv1D."""
    part = slice(8 * head, 8 * head + 8)
    return projection.weight[:, part].T if isinstance(projection, torch.nn.Linear) else projection.weight[part]


@pytest.mark.parametrize("how", ["zero", "mean"])
@pytest.mark.parametrize("padded", [False, True])
@pytest.mark.parametrize("folder", WRITERS, indirect=True)
def test_ablation_is_a_change_of_W_O(
    how: str, padded: bool, model: Any, inputs: dict[str, Tensor], mask: Tensor
) -> None:
    inputs = inputs if padded else {"input_ids": inputs["input_ids"]}
    real = mask if padded else mask | True
    with torch.no_grad(), record(model, ["head_output"], [1]) as seen:
        before = model(**inputs)[0]
    without = deepcopy(model)
    projection = WRITERS[model.config.model_type](without)
    with torch.no_grad():
        rows = rows_of_head(projection, 2)
        if how == "mean":
            shift = seen["head_output"][0][:, 2][real].mean(0) @ rows
            projection.bias = torch.nn.Parameter(shift + (0 if projection.bias is None else projection.bias))
        rows.zero_()
        with intervene(model, Ablate(1, 2, how=how)):
            ablated = model(**inputs)[0]
        torch.testing.assert_close(ablated[real], without(**inputs)[0][real], rtol=0, atol=1e-5)
        assert not torch.allclose(ablated[real], before[real], atol=1e-3)


@pytest.mark.parametrize("folder", ["bart"], indirect=True)
def test_cross_attention_is_known_by_its_name_where_queries_and_keys_are_as_many(
    model: Any, inputs: dict[str, Tensor]
) -> None:
    crossed: list[bool] = []
    with watch(model, lambda seen: crossed.append(seen.crossed)):
        model(**inputs)
    assert crossed == [False, False, False, True, False, True]
    unknown = Ablate(3, 0, "mean")
    with pytest.raises(HookError, match="layer index 3 attends to other pieces"), intervene(model, unknown):
        model(**inputs)
    site = ["head_output"]
    with intervene(model, Ablate(2, 0, "mean"), Ablate(3, 0, "mean", torch.ones(8))), record(model, site) as seen:
        model(**inputs)
    own, given = (seen["head_output"][layer][:, 0] for layer in (2, 3))
    assert torch.equal(own, own[:1, :1].expand_as(own))
    assert bool((given == 1).all())


@pytest.mark.parametrize("own", ["eager", "sdpa"])
@pytest.mark.parametrize("folder", ["bert", "bart"], indirect=True)
def test_the_models_own_setting_comes_back_after_an_exception(own: str, model: Any, inputs: dict[str, Tensor]) -> None:
    def see(seen: Seen) -> None:
        raise ZeroDivisionError

    model.set_attn_implementation(own)
    before = model(**inputs)[0]
    with record(model):
        with pytest.raises(ZeroDivisionError), watch(model, see):
            model(**inputs)
        assert model.config._attn_implementation == "headscope"
    parts = [m for m in model.modules() if isinstance(m, hub.PreTrainedModel)]
    assert {part.config._attn_implementation for part in parts} == {own}
    assert not any(m._forward_hooks or m._forward_pre_hooks for m in model.modules())
    assert torch.equal(model(**inputs)[0], before)


@pytest.mark.parametrize("folder", ["bert", "bart"], indirect=True)
def test_a_folder_is_loaded_as_an_encoder_and_fresh_weights_follow_the_seed(
    folder: Path, model: Any, inputs: dict[str, Tensor]
) -> None:
    state = torch.random.get_rng_state()
    loaded, fresh, again, other = (load_hub_model(str(folder), random_seed=seed) for seed in (None, 3, 3, 4))
    assert torch.equal(torch.random.get_rng_state(), state)
    assert not loaded.training
    encoder = model.get_encoder() if model.config.is_encoder_decoder else model
    assert torch.equal(loaded(**inputs)[0], encoder(**inputs)[0])
    assert torch.equal(fresh(**inputs)[0], again(**inputs)[0])
    assert not torch.equal(fresh(**inputs)[0], other(**inputs)[0])
    with record(loaded) as maps:
        loaded(**inputs)
    assert len(maps["pattern"]) == (2 if model.config.is_encoder_decoder else 3)


def test_a_t5_of_which_the_encoder_alone_was_saved_is_read(
    inputs: dict[str, Tensor], randomise: Callable[..., None], tmp_path: Path
) -> None:
    encoder = hub.T5EncoderModel(config("t5")).eval()
    randomise(encoder)
    encoder.save_pretrained(tmp_path)
    assert torch.equal(load_hub_model(str(tmp_path))(**inputs)[0], encoder(**inputs)[0])
    with pytest.raises(ValueError, match=r"'decoder\..*' is not among its weights"):
        load_hub_model(str(tmp_path), whole=True)


Tensors = dict[str, Tensor]


def changed(folder: Path, to: Path, change: Callable[[Tensors], Tensors]) -> str:
    """Copy a model's folder with other weights."""
    shutil.copytree(folder, to)
    save_file(change(load_file(folder / "model.safetensors")), to / "model.safetensors", metadata={"format": "pt"})
    return str(to)


@pytest.mark.parametrize(
    ("folder", "change", "message"),
    [
        *(
            (kind, lambda found: {k: v for k, v in found.items() if ".0." not in k}, r"'.*\b0\b..*' is not among its w")
            for kind in ("gpt2", "albert", "bart")
        ),
        ("llama", lambda found: {f"x_{key}": one for key, one in found.items()}, "is not among its weights"),
        (
            "albert",
            lambda found: {f"{one}.{k}": v.clone() for k, v in found.items() for one in ("query", "document")},
            r"holds the model 2 times, .*'document\.' and 'query\.'; save one",
        ),
        (
            "gpt2",
            lambda found: found | {k.replace("h.2.", "h.3."): v.clone() for k, v in found.items() if "h.2." in k},
            r"'h\.3\..*' has no place in the model",
        ),
        (
            "modernbert",
            lambda found: {k: (v * 9).to(torch.int8) if v.ndim == 2 else v for k, v in found.items()},
            r"weight' holds I8, .* take the model before it was quantised",
        ),
        (
            "gpt2",
            lambda found: found | {"h.1.mlp.c_fc.bias": torch.zeros(7)},
            r"'h\.1\.mlp\.c_fc\.bias' has shape \[7\], expected \[128\]",
        ),
    ],
    indirect=["folder"],
)
def test_weights_that_are_not_those_of_the_config_are_refused(
    folder: Path, change: Callable[[Tensors], Tensors], message: str, tmp_path: Path
) -> None:
    """`transformers` would make up at random what is missing: two loads would have different scores."""
    with pytest.raises(ValueError, match=message):
        load_hub_model(changed(folder, tmp_path / "changed", change))


@pytest.mark.parametrize("wrapper", ["", "_orig_mod.", "0.auto_model."])
@pytest.mark.parametrize("folder", ["albert", "gpt2", "bart"], indirect=True)
def test_wrappers_heads_of_tasks_buffers_and_settings_of_programs_change_nothing(
    folder: Path, wrapper: str, model: Any, inputs: Tensors, mask: Tensor, tmp_path: Path
) -> None:
    def wrapped(found: Tensors) -> Tensors:
        buffers = {} if wrapper else {"h.0.attn.bias": torch.ones(4), "h.0.attn.masked_bias": torch.ones(1)}
        return {f"{wrapper}{key}": one for key, one in found.items()} | {
            "score.0.weight": torch.zeros(2, 32),
            **buffers,
        }

    other = Path(changed(folder, tmp_path / "wrapped", wrapped))
    settings = json.loads((other / "config.json").read_text())
    settings |= {"attn_implementation": "flash_attention_2", "return_dict": False}
    (other / "config.json").write_text(json.dumps(settings))
    loaded: Any = load_hub_model(str(other), whole=True)
    assert (loaded.prefix, loaded.left_out) == (wrapper, ("score.0.weight",))
    assert torch.allclose(loaded(**inputs)[0][mask], model(**inputs)[0][mask], atol=1e-5)


def test_usual_names_of_cross_attention_are_known_and_no_others() -> None:
    known = ["decoder.layers.0.encoder_attn", "layer.1.crossattention.self", "h.0.crossattention", "x.cross_attn"]
    known += ["decoder.block.0.layer.1.EncDecAttention", "cross_attention"]
    others = ["decoder.layers.0.self_attn", "cross_encoder.layer.0.attention.self", ""]
    assert [is_cross_attention(name) for name in known + others] == [True] * 6 + [False] * 3
