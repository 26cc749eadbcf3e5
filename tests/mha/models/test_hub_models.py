"""Models of `transformers` from folders: whole, wrapped, with heads beside them, with weights that lack or are over."""

import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch
import transformers as hub
from safetensors.torch import load_file, save_file
from torch import Tensor

from mha.hooks import record
from mha.models.hub_models import load_hub_model
from tests.mha.architectures import config

MADE: dict[str, Path] = {}


@pytest.fixture
def folder(request: pytest.FixtureRequest, tmp_path_factory: Any, randomise: Callable[..., None]) -> Path:
    """Return the folder of a tiny model, made once an architecture."""
    kind = request.param
    if kind not in MADE:
        model = hub.AutoModel.from_config(config(kind))
        randomise(model)
        MADE[kind] = tmp_path_factory.mktemp(kind)
        model.save_pretrained(MADE[kind])
    return MADE[kind]


@pytest.fixture
def model(folder: Path) -> Any:
    """Return the whole model as `transformers` loads it: with the fused kernel."""
    model = hub.AutoModel.from_pretrained(folder).eval()
    assert model.config._attn_implementation == "sdpa"
    return model


@pytest.fixture
def inputs(pieces: Tensor, mask: Tensor) -> dict[str, Tensor]:
    """Return a padded batch."""
    return {"input_ids": pieces, "attention_mask": mask.long()}


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


def _changed(folder: Path, to: Path, change: Callable[[dict[str, Tensor]], dict[str, Tensor]]) -> str:
    """Copy a model's folder with other weights."""
    shutil.copytree(folder, to)
    save_file(change(load_file(folder / "model.safetensors")), to / "model.safetensors", metadata={"format": "pt"})
    return str(to)


def _without_the_first_layer(tensors: dict[str, Tensor]) -> dict[str, Tensor]:
    return {key: tensor for key, tensor in tensors.items() if ".0." not in key and "layers.0" not in key}


@pytest.mark.parametrize("folder", ["gpt2", "llama", "albert", "bart"], indirect=True)
def test_a_folder_without_some_of_its_weights_is_refused_by_name(folder: Path, tmp_path: Path) -> None:
    """`transformers` would make them up at random: two loads would have different scores."""
    lacking = _changed(folder, tmp_path / "lacking", _without_the_first_layer)
    with pytest.raises(ValueError, match=r"'.*\b0\..*' is not among its weights \(and \d+ more\)"):
        load_hub_model(lacking)


@pytest.mark.parametrize("folder", ["gpt2", "llama"], indirect=True)
def test_a_folder_whose_weights_have_other_names_is_refused(folder: Path, tmp_path: Path) -> None:
    renamed = _changed(folder, tmp_path / "renamed", lambda found: {f"x_{key}": one for key, one in found.items()})
    with pytest.raises(ValueError, match="is not among its weights"):
        load_hub_model(renamed)


@pytest.mark.parametrize("wrapper", ["_orig_mod.", "module._orig_mod.", "0.auto_model."])
@pytest.mark.parametrize("folder", ["albert", "gpt2", "modernbert", "bart"], indirect=True)
def test_what_a_wrapper_puts_before_names_is_left_out(
    folder: Path, wrapper: str, model: Any, inputs: dict[str, Tensor], tmp_path: Path
) -> None:
    def wrapped(found: dict[str, Tensor]) -> dict[str, Tensor]:
        return {f"{wrapper}{key}": one for key, one in found.items()} | {"head.0.weight": torch.zeros(2, 32)}

    loaded: Any = load_hub_model(_changed(folder, tmp_path / "wrapped", wrapped), whole=True)
    assert (loaded.prefix, loaded.left_out) == (wrapper, ("head.0.weight",))
    assert torch.equal(loaded(**inputs)[0], model(**inputs)[0])


@pytest.mark.parametrize("folder", ["albert"], indirect=True)
def test_a_file_of_two_models_is_refused(folder: Path, tmp_path: Path) -> None:
    def twice(found: dict[str, Tensor]) -> dict[str, Tensor]:
        return {f"{one}.{key}": tensor.clone() for key, tensor in found.items() for one in ("query", "document")}

    with pytest.raises(ValueError, match=r"holds the model 2 times, .*'document\.' and 'query\.'; save one"):
        load_hub_model(_changed(folder, tmp_path / "two", twice))


def test_a_t5_of_which_the_encoder_alone_was_saved_is_read(
    inputs: dict[str, Tensor], randomise: Callable[..., None], tmp_path: Path
) -> None:
    encoder = hub.T5EncoderModel(config("t5")).eval()
    randomise(encoder)
    encoder.save_pretrained(tmp_path)
    assert torch.equal(load_hub_model(str(tmp_path))(**inputs)[0], encoder(**inputs)[0])
    with pytest.raises(ValueError, match=r"'decoder\..*' is not among its weights"):
        load_hub_model(str(tmp_path), whole=True)


@pytest.mark.parametrize("folder", ["gpt2"], indirect=True)
def test_a_layer_that_the_config_does_not_have_is_refused_and_the_head_of_a_task_is_not(
    folder: Path, tmp_path: Path
) -> None:
    def with_a_head(found: dict[str, Tensor]) -> dict[str, Tensor]:
        return found | {"score.weight": torch.zeros(2, 32)}

    loaded: Any = load_hub_model(_changed(folder, tmp_path / "task", with_a_head))
    assert loaded.left_out == ("score.weight",)

    def with_a_layer(found: dict[str, Tensor]) -> dict[str, Tensor]:
        return found | {key.replace("h.2.", "h.3."): one.clone() for key, one in found.items() if "h.2." in key}

    with pytest.raises(ValueError, match=r"'h\.3\..*' has no place in the model"):
        load_hub_model(_changed(folder, tmp_path / "layer", with_a_layer))


@pytest.mark.parametrize("folder", ["gpt2"], indirect=True)
def test_weights_of_another_shape_are_refused(folder: Path, tmp_path: Path) -> None:
    def wider(found: dict[str, Tensor]) -> dict[str, Tensor]:
        return found | {"h.1.mlp.c_fc.bias": torch.zeros(7)}

    with pytest.raises(ValueError, match=r"'h\.1\.mlp\.c_fc\.bias' has shape \[7\], expected \[128\]"):
        load_hub_model(_changed(folder, tmp_path / "wider", wider))
