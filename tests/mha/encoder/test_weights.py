import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch
import transformers
from safetensors import safe_open
from safetensors.torch import load_file, save_file
from torch import Tensor

from mha import record
from mha.encoder.encoder import Encoder, EncoderConfig
from mha.encoder.weights import WeightsError, export_encoder, load_encoder, read_config


def change_weights(folder: Path, change: Callable[[dict[str, Tensor]], None]) -> None:
    tensors = load_file(folder / "model.safetensors")
    change(tensors)
    save_file({key: tensor.contiguous() for key, tensor in tensors.items()}, folder / "model.safetensors")


def change_config(folder: Path, **changes: Any) -> None:
    path = folder / "config.json"
    config = json.loads(path.read_text()) | changes
    path.write_text(json.dumps({key: value for key, value in config.items() if value is not ...}))


def test_minilm_is_exported_without_loss(minilm_folder: Path, tmp_path: Path) -> None:
    encoder = load_encoder(minilm_folder)
    assert encoder.left_out == ("embeddings.position_ids",)
    assert encoder.lm_head is None
    assert encoder.config == EncoderConfig(layers=6, heads=12, model=384, feed_forward=1536)
    export_encoder(encoder, tmp_path)
    theirs, ours = load_file(minilm_folder / "model.safetensors"), load_file(tmp_path / "model.safetensors")
    assert theirs.keys() - ours.keys() == {"embeddings.position_ids"}
    assert all(torch.equal(theirs[key], tensor) for key, tensor in ours.items())
    with safe_open(tmp_path / "model.safetensors", framework="pt") as file:
        assert file.metadata() == {"format": "pt"}  # older releases of transformers insist on it


def test_old_names_and_a_repeated_decoder_are_understood(folder: Path) -> None:
    expected = load_encoder(folder).state_dict()

    def to_old(tensors: dict[str, Tensor]) -> None:
        for key in [*tensors]:
            old = key.replace("LayerNorm.weight", "LayerNorm.gamma").replace("LayerNorm.bias", "LayerNorm.beta")
            tensors[old] = tensors.pop(key)
        tensors["cls.predictions.decoder.weight"] = tensors["bert.embeddings.word_embeddings.weight"].clone()
        tensors["cls.predictions.decoder.bias"] = tensors["cls.predictions.bias"].clone()

    change_weights(folder, to_old)
    for name, parameter in load_encoder(folder).state_dict().items():
        assert torch.equal(parameter, expected[name]), name


@pytest.mark.parametrize("wrapper", ["module._orig_mod.", "net.encoder."])
@pytest.mark.parametrize("family", ["bert", "distilbert"])
def test_what_a_wrapper_puts_before_names_is_left_out(
    family: str, wrapper: str, build: Callable[..., Encoder], tmp_path: Path, pieces: Tensor
) -> None:
    encoder = build(family)
    export_encoder(encoder, tmp_path)

    def wrap(tensors: dict[str, Tensor]) -> None:
        for key in [*tensors]:
            tensors[wrapper + key] = tensors.pop(key)
        tensors[f"{wrapper}classifier.0.weight"] = torch.zeros(2, 32)
        tensors["crf.transitions"] = torch.zeros(2, 2)

    change_weights(tmp_path, wrap)
    again = load_encoder(tmp_path)
    assert again.prefix.startswith(wrapper)
    assert again.left_out == tuple(sorted([f"{wrapper}classifier.0.weight", "crf.transitions"]))
    for name, parameter in encoder.state_dict().items():
        assert torch.equal(again.state_dict()[name], parameter), name


def test_a_head_beside_bare_names_is_left_out_and_two_models_in_a_file_are_refused(folder: Path) -> None:
    def bare(tensors: dict[str, Tensor]) -> None:
        for key in [*tensors]:
            tensors[key.removeprefix("bert.")] = tensors.pop(key)
        tensors["linear.weight"] = torch.zeros(16, 32)

    change_weights(folder, bare)
    assert load_encoder(folder).left_out == ("linear.weight",)

    def twice(tensors: dict[str, Tensor]) -> None:
        for key in [key for key in tensors if key.startswith(("embeddings", "encoder"))]:
            tensors[f"question.{key}"] = tensors.pop(key)
            tensors[f"context.{key}"] = tensors[f"question.{key}"] + 1

    change_weights(folder, twice)
    with pytest.raises(WeightsError, match=r"holds the model 2 times, .*'context\.' and 'question\.'; save one"):
        load_encoder(folder)


def test_a_decoder_of_its_own_is_left_out_with_its_head(folder: Path, pieces: Tensor) -> None:
    expected = load_encoder(folder)
    change_weights(folder, put("cls.predictions.decoder.weight", 40, 32))
    encoder = load_encoder(folder)
    assert encoder.untied_head
    assert encoder.lm_head is None
    assert {key.split(".")[0] for key in encoder.left_out} == {"cls"}
    assert torch.equal(encoder(pieces), expected(pieces))
    change_weights(folder, pop("cls.predictions.decoder.weight"))
    assert not load_encoder(folder).untied_head
    change_config(folder, tie_word_embeddings=False)
    assert load_encoder(folder).untied_head, "its decoder is missing, and may not be made of the embedding"


def test_shards_load_as_one_file(folder: Path) -> None:
    expected = load_encoder(folder).state_dict()
    tensors = load_file(folder / "model.safetensors")
    (folder / "model.safetensors").unlink()
    files = {key: f"model-0000{i % 2 + 1}-of-00002.safetensors" for i, key in enumerate(tensors)}
    for file in {*files.values()}:
        save_file({key: tensor for key, tensor in tensors.items() if files[key] == file}, folder / file)
    (folder / "model.safetensors.index.json").write_text(json.dumps({"weight_map": files}))
    for name, parameter in load_encoder(folder).state_dict().items():
        assert torch.equal(parameter, expected[name]), name
    (folder / "model-00002-of-00002.safetensors").unlink()
    with pytest.raises(WeightsError, match=r"model-00002-of-00002.safetensors does not exist; fetch"):
        load_encoder(folder)


def pop(key: str) -> Callable[[dict[str, Tensor]], None]:
    return lambda tensors: tensors.__delitem__(key)


def put(key: str, *shape: int) -> Callable[[dict[str, Tensor]], None]:
    return lambda tensors: tensors.update({key: torch.zeros(shape)})


def test_weights_that_are_whole_numbers_are_refused(folder: Path) -> None:
    whole = {"bert.encoder.layer.1.attention.self.query.bias": torch.zeros(32, dtype=torch.long)}
    change_weights(folder, lambda tensors: tensors.update(whole))
    with pytest.raises(WeightsError, match=r"holds torch.int64, expected floating-point"):
        load_encoder(folder)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"is_decoder": "yes"}, "is_decoder is 'yes', the encoder can only do False"),
        ({"is_decoder": True, "model_type": "electra"}, "is_decoder is True, the encoder can only do False"),
        ({"hidden_act": "swishy"}, "unknown activation 'swishy'; known are gelu"),
    ],
)
def test_a_config_that_the_encoder_cannot_follow_is_refused(
    folder: Path, changes: dict[str, Any], message: str
) -> None:
    change_config(folder, **changes)
    with pytest.raises(WeightsError, match=message):
        read_config(folder)


def test_settings_that_a_config_leaves_out_have_the_defaults_of_the_family(folder: Path) -> None:
    silent = dict.fromkeys(["hidden_act", "layer_norm_eps", "pad_token_id", "type_vocab_size"], ...)
    before = read_config(folder)
    change_config(folder, **silent)
    assert read_config(folder) == before
    change_config(folder, model_type="roberta")
    config = read_config(folder)
    assert (config.padding, config.position_offset, config.positions) == (1, 2, 22)


@pytest.mark.parametrize(
    ("files", "message"),
    [
        ({"config.json": "[" * 100_000}, "config.json: not a JSON file"),
        (
            {"model.safetensors": "version https://git-lfs.github.com/spec/v1"},
            "model.safetensors: a pointer of git-lfs, .* `git lfs pull`",
        ),
        ({"model.safetensors": None, "pytorch_model.bin": ""}, "pytorch_model.bin is a pickle, .*BertForMaskedLM"),
        ({"model.safetensors": None, "optimizer.pt": "", "best.pt": ""}, "the weights in best.pt are a pickle"),
        (
            {"model.safetensors": None, "model-00002-of-00002.safetensors": ""},
            "index.json is missing beside model-00002",
        ),
        ({"model.safetensors": None, "model.safetensors.index.json": "{}"}, "weight_map is missing"),
    ],
)
def test_a_folder_that_is_no_model_is_refused(folder: Path, files: dict[str, str | None], message: str) -> None:
    for name, text in files.items():
        (folder / name).unlink() if text is None else (folder / name).write_text(text)
    with pytest.raises(WeightsError, match=message):
        load_encoder(folder)


@pytest.mark.parametrize(
    ("family", "changes", "message"),
    [
        ("bert", {"norm": "pre"}, "bert cannot represent norm='pre'.*; pre-norm is written as 'roberta-prelayernorm'"),
        ("bert", {"position_offset": 2}, "position_offset=2, only 0"),
        ("bert", {"token_types": 0}, "token_types=0; 'distilbert' has none"),
        ("roberta", {"position_offset": 2}, "position_offset=2, only 1"),
        ("distilbert", {"eps": 1e-5}, "eps=1e-05, only 1e-12"),
        ("roberta", {"causal": True}, "roberta cannot represent causal=True, only False"),
        ("electra", {"pooler": True}, "electra has no pooler"),
    ],
)
def test_an_encoder_that_the_family_cannot_represent_is_not_written(
    family: str, changes: dict[str, Any], message: str, build: Callable[..., Encoder], tmp_path: Path
) -> None:
    with pytest.raises(WeightsError, match=message):
        export_encoder(build(family, **changes), tmp_path / "new")
    assert not (tmp_path / "new").exists()


@pytest.mark.parametrize("family", ["bert", "distilbert"])
def test_an_encoder_that_does_not_divide_scores_is_written_so_that_readers_who_do_get_its_maps(
    family: str, build: Callable[..., Encoder], tmp_path: Path, pieces: Tensor
) -> None:
    encoder = build(family, scale=False, lm_head=True)
    weights = {name: parameter.clone() for name, parameter in encoder.named_parameters()}
    export_encoder(encoder, tmp_path)
    assert all(torch.equal(weights[name], parameter) for name, parameter in encoder.named_parameters())
    ours = load_encoder(tmp_path)
    assert ours.config.scale
    theirs = transformers.AutoModelForMaskedLM.from_pretrained(tmp_path, attn_implementation="eager").eval()
    with torch.inference_mode(), record(encoder, ["pattern"]) as unscaled, record(ours, ["pattern"]) as scaled:
        assert encoder.lm_head is not None
        logits = encoder.lm_head(encoder(pieces))
        ours(pieces)
        answer = theirs(pieces, output_attentions=True)
    torch.testing.assert_close(answer.logits, logits, rtol=0, atol=1e-5)
    for one, other, third in zip(unscaled["pattern"], scaled["pattern"], answer.attentions, strict=True):
        torch.testing.assert_close(one, other, rtol=0, atol=1e-5)
        torch.testing.assert_close(one, third, rtol=0, atol=1e-5)


def test_electra_without_a_projection_is_written_with_embeddings_of_the_models_size(
    build: Callable[..., Encoder], tmp_path: Path, pieces: Tensor
) -> None:
    encoder = build("electra", embedding=None)
    export_encoder(encoder, tmp_path)
    again = load_encoder(tmp_path)
    assert (again.config.embedding, again.embedding_project) == (32, None)
    assert torch.equal(again(pieces), encoder(pieces))


def test_half_precision_is_loaded_as_float32(folder: Path) -> None:
    change_weights(folder, lambda tensors: tensors.update({key: t.bfloat16() for key, t in tensors.items()}))
    encoder = load_encoder(folder)
    assert {parameter.dtype for parameter in encoder.parameters()} == {torch.float32}
    assert all(parameter.requires_grad for parameter in encoder.parameters())


def test_a_head_that_is_not_whole_is_left_out(folder: Path) -> None:
    change_weights(folder, pop("cls.predictions.bias"))
    encoder = load_encoder(folder)
    assert encoder.lm_head is None
    assert "cls.predictions.transform.dense.weight" in encoder.left_out


def test_an_export_that_fails_leaves_the_folder_as_it_was(
    folder: Path, build: Callable[..., Encoder], monkeypatch: pytest.MonkeyPatch
) -> None:
    before = {f.name: f.read_bytes() for f in folder.iterdir()}
    monkeypatch.setattr(json, "dumps", lambda *_, **__: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        export_encoder(build(heads=2), folder)
    assert {f.name: f.read_bytes() for f in folder.iterdir()} == before
