"""Folders as people have them: of sentence-transformers, of the hub, half fetched, without safetensors."""

import json
import shlex
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch
import transformers
from safetensors.torch import load_file, save_file

from mha import Encoder, ModelError, export_encoder, load_model
from mha.files import WeightsError
from mha.models.folders import DESCRIPTIONS, NAMED, copy_modules, find_model, has_sigmoid
from tests.mha.models.test_masked_prediction import save_words
from tests.mha.models.test_text_pairs import MODELS


@pytest.fixture
def folder(build: Callable[..., Encoder], tmp_path: Path) -> Path:
    """Return the folder of an exported BERT with masked-LM head and tokenizer."""
    export_encoder(build(), tmp_path / "model")
    save_words(tmp_path / "model")
    return tmp_path / "model"


def modules(*paths: str) -> str:
    return json.dumps([{"idx": idx, "name": str(idx), "path": path, "type": "Any"} for idx, path in enumerate(paths)])


@pytest.mark.parametrize("inner", ["", "0_Transformer"])
def test_a_folder_of_sentence_transformers_is_read_where_its_transformer_lies(folder: Path, inner: str) -> None:
    outer = folder.parent / "sentences"
    shutil.copytree(folder, outer / inner)
    (outer / "modules.json").write_text(modules(inner, "1_Pooling"))
    if inner:
        (outer / "config.json").write_text('{"__version__": {"sentence_transformers": "0.2.0"}}')
    assert load_model(str(outer)).sha256 == load_model(str(folder)).sha256


@pytest.mark.parametrize(
    ("text", "message"),
    [(modules("../elsewhere"), "names '../elsewhere', which is no folder in"), ("{", "not the list of modules")],
)
def test_modules_that_are_not_there_are_refused(folder: Path, text: str, message: str) -> None:
    (folder / "modules.json").write_text(text)
    (folder.parent / "elsewhere").mkdir()
    with pytest.raises(ModelError, match=rf"modules\.json: {message}"):
        find_model(str(folder))


def test_what_is_no_model_has_results_what_to_give(folder: Path) -> None:
    shutil.copytree(folder, folder.parent / "checkpoint-20")
    for given, message in {
        str(folder.parent): "no config.json, .*; give a folder inside it: checkpoint-20, model",
        str(folder / "model.safetensors"): r"is a file: give the folder of a model, .*model$",
        "./nothing-here": "unknown model .*nothing.*known by name: minilm, .*'hub:owner/name'",
        "MiniLM": r"unknown model 'MiniLM'; did you mean 'minilm'\?",
    }.items():
        with pytest.raises(ModelError, match=message):
            load_model(given)
    assert {*NAMED} == {*DESCRIPTIONS}


def pickled(folder: Path) -> dict[str, torch.Tensor]:
    """Replace the safetensors of a folder by a pickle and return its tensors."""
    tensors = load_file(folder / "model.safetensors")
    torch.save(tensors, folder / "pytorch_model.bin")
    (folder / "model.safetensors").unlink()
    return tensors


def test_the_command_that_a_refused_pickle_names_makes_the_folder_readable(folder: Path) -> None:
    expected = load_model(str(folder)).module.state_dict()
    pickled(folder)
    with pytest.raises(ValueError, match=r"pytorch_model\.bin is a pickle.* To convert it: python -c ") as refused:
        load_model(str(folder))
    _, code = shlex.split(str(refused.value).partition("convert it: python ")[2])
    exec(code)
    for name, tensor in load_model(str(folder)).module.state_dict().items():
        assert torch.equal(tensor, expected[name]), name


def test_the_hub_is_asked_only_for_what_is_said_to_be_there(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[tuple[str, str | None]] = []
    commit = folder / "snapshots" / "0123abcd"
    shutil.copytree(folder, commit)

    def snapshot(repository: str, *, revision: str | None, **_: Any) -> str:
        asked.append((repository, revision))
        if revision == "gone":
            raise ConnectionError("several\nlines")
        return str(commit)

    monkeypatch.setattr("huggingface_hub.snapshot_download", snapshot)
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_OFFLINE", False)
    with pytest.raises(ModelError, match=r"unknown model 'nobody/nothing': no such folder.*'hub:owner/name'"):
        load_model("nobody/nothing")
    assert load_model(str(folder)).revision is None
    assert asked == []
    assert load_model("hub:nobody/nothing@v2").revision == "0123abcd"
    with pytest.raises(
        ModelError, match=r"model 'hub:a/b@gone': the hub did not give it \(.*\); check .* give the folder"
    ):
        load_model("hub:a/b@gone")
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_OFFLINE", True)
    with pytest.raises(ModelError, match=r"\(HF_HUB_OFFLINE is set, and it is not in the cache\)"):
        load_model("hub:a/b@gone")
    pickled(commit)
    with pytest.raises(ModelError, match=r"no safetensors.*\.bin") as refused:
        load_model("hub:owner/name")
    for kind in ("BertForMaskedLM", "AutoTokenizer"):
        assert f"t.{kind}.from_pretrained('owner/name').save_pretrained('name')" in str(refused.value)
    assert asked == [("nobody/nothing", "v2"), ("a/b", "gone"), ("a/b", "gone"), ("owner/name", None)]


SIZES = {"hidden_size": 16, "num_hidden_layers": 1, "num_attention_heads": 2, "intermediate_size": 16}
IMAGES = {"image_size": 8, "patch_size": 4}


@pytest.mark.parametrize(
    ("kind", "settings", "message"),
    [
        ("vit", SIZES | IMAGES, "pixel_values, no"),
        (
            "clip",
            {"text_config": {**SIZES, "vocab_size": 40}, "vision_config": SIZES | IMAGES},
            "a clip is no one stack of layers that reads text, but vision_config, text_config; save the part",
        ),
        (
            "xmod",
            {**SIZES, "vocab_size": 40, "languages": ["en_XX", "de_DE"]},
            r"add to config\.json default_language, one of \['en_XX', 'de_DE'\]",
        ),
        (
            "fsmt",
            {"langs": ["en", "de"], "src_vocab_size": 40, "tgt_vocab_size": 40, "d_model": 16, "encoder_layers": 1},
            "the encoder of a fsmt is no model by itself",
        ),
    ],
)
def test_models_whose_heads_read_no_text_alone_are_refused(
    kind: str, settings: dict[str, Any], message: str, tmp_path: Path
) -> None:
    config = transformers.AutoConfig.for_model(kind, **settings)
    transformers.AutoModel.from_config(config).save_pretrained(tmp_path)
    save_words(tmp_path)
    with pytest.raises(ModelError, match=message):
        load_model(str(tmp_path))


@pytest.mark.parametrize(("kind", "keeps_capitals"), [("roberta", True), ("bert", False)])
def test_where_sentence_transformers_lower_cases_texts_that_is_noted(
    kind: str, keeps_capitals: bool, tmp_path: Path
) -> None:
    for one in MODELS[kind]():
        one.save_pretrained(tmp_path)
    (tmp_path / "sentence_bert_config.json").write_text('{"do_lower_case": true}')
    assert any("do_lower_case" in note for note in load_model(str(tmp_path)).notes) == keeps_capitals


@pytest.mark.parametrize(
    ("pooling", "after", "told"),
    [
        ({"pooling_mode": "mean"}, ["Normalize"], ""),
        ({"pooling_mode_cls_token": False, "pooling_mode_mean_tokens": True}, [], ""),
        ({"pooling_mode": "cls"}, ["Normalize"], "its embeddings are of Pooling (cls); here"),
        ({"pooling_mode_cls_token": True, "pooling_mode_mean_tokens": False}, ["Dense"], "Pooling (cls_token), Dense;"),
    ],
)
def test_where_sentence_transformers_embeds_otherwise_or_puts_a_prompt_before_texts_that_is_noted(
    folder: Path, pooling: dict[str, object], after: list[str], told: str
) -> None:
    kinds = {"": "Transformer", "1_Pooling": "Pooling"} | {f"{idx}_{one}": one for idx, one in enumerate(after, 2)}
    written = [{"idx": n, "path": path, "type": f"any.{kind}"} for n, (path, kind) in enumerate(kinds.items())]
    (folder / "modules.json").write_text(json.dumps(written[::-1]))
    (folder / "1_Pooling").mkdir()
    (folder / "1_Pooling" / "config.json").write_text(json.dumps(pooling))
    settings: dict[str, object] = {"prompts": {"query": "query: "}, "default_prompt_name": None}
    (folder / "config_sentence_transformers.json").write_text(json.dumps(settings))
    notes = load_model(str(folder)).notes
    assert len(notes) == bool(told)
    assert all(told in note for note in notes)
    settings["default_prompt_name"] = "query"
    (folder / "config_sentence_transformers.json").write_text(json.dumps(settings))
    assert "puts 'query: ' before every text, not done here" in load_model(str(folder)).notes[-1]


@pytest.mark.parametrize(
    ("settings", "found"),
    [
        ({"model_type": "CrossEncoder"}, True),
        ({"model_type": "CrossEncoder", "activation_fn": "torch.nn.modules.linear.Identity"}, False),
        ({"model_type": "SentenceTransformer"}, False),
    ],
)
def test_the_number_of_a_cross_encoder_is_behind_what_its_settings_say(
    settings: dict[str, str], found: bool, tmp_path: Path
) -> None:
    (tmp_path / "config_sentence_transformers.json").write_text(json.dumps(settings))
    older = {"sbert_ce_default_activation_function": "torch.nn.modules.linear.Identity"}
    assert has_sigmoid(tmp_path, transformers.BertConfig()) == found
    assert not has_sigmoid(tmp_path, transformers.BertConfig(**older))


def test_modules_are_copied_into_the_new_folder_wherever_their_paths_lead(folder: Path) -> None:
    before = (folder / "model.safetensors").read_bytes()
    for path in (f"../{folder.name}", str(folder)):
        (folder / "modules.json").write_text(json.dumps([{"idx": 0, "path": path, "type": "any.Transformer"}]))
        assert copy_modules(folder, folder.parent / "small") == folder.parent / "small"
    assert (folder / "model.safetensors").read_bytes() == before


def test_weights_are_read_from_the_file_that_the_config_names(folder: Path) -> None:
    expected = load_model(str(folder))
    (folder / "model.safetensors").rename(folder / "other.safetensors")
    save_file({"a": torch.zeros(1)}, folder / "model.safetensors")
    config = json.loads((folder / "config.json").read_text())
    (folder / "config.json").write_text(json.dumps({**config, "transformers_weights": "other.safetensors"}))
    found, ids = load_model(str(folder)), torch.tensor([[1, 2, 3]])
    assert torch.equal(found.run(ids, None), expected.run(ids, None))
    for named in ("../other.safetensors", 5):
        (folder / "config.json").write_text(json.dumps({**config, "transformers_weights": named}))
        with pytest.raises(WeightsError, match="expected a file of this folder"):
            load_model(str(folder))
    (folder / "config.json").write_text(json.dumps({**config, "transformers_weights": "other.safetensors"}))
    (folder / "other.safetensors").unlink()
    with pytest.raises(WeightsError, match=r"other\.safetensors does not exist; config\.json names it"):
        load_model(str(folder))


def test_a_list_of_modules_above_the_folder_of_a_model_may_be_anything(folder: Path) -> None:
    for written in ('{"repos": {}}', modules("query_0_Transformer"), "no JSON"):
        (folder.parent / "modules.json").write_text(written)
        assert load_model(str(folder)).notes == ()


def test_what_is_not_read_of_a_folder_is_noted(folder: Path) -> None:
    assert load_model(str(folder)).notes == ()
    tensors = load_file(folder / "model.safetensors")
    wrapped = {f"module.{key}": one for key, one in tensors.items()} | {"crf.transitions": torch.zeros(2, 2)}
    save_file(wrapped, folder / "model.safetensors")
    config = json.loads((folder / "config.json").read_text())
    (folder / "config.json").write_text(json.dumps({**config, "auto_map": {"AutoModel": "mine.Model"}}))
    prefix, left, code = load_model(str(folder)).notes
    assert "without 'module.bert.'" in prefix
    assert left.endswith("leaves out: crf")
    assert "names code, which is not run: it is read as any bert" in code
    assert load_model(str(folder), "random").notes == (prefix, left, code)
