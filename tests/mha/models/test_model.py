import hashlib
import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch
from safetensors.torch import load_file, save_file
from tokenizers import Tokenizer, models, normalizers, pre_tokenizers, processors
from torch import Tensor

from mha import Encoder, Model, ModelError, align, export_encoder, load_model
from mha.attention import MultiHeadAttention
from mha.encoder.weights import WeightsError
from mha.models.folders import DESCRIPTIONS, MINILM_SHA256, NAMED
from mha.models.hub import load_hub_model
from mha.models.model import SOURCES, permute_weights, untrained
from mha.models.tokenizer import load_tokenizer
from mha.parallel import side_by_side
from mha.training.vocabulary import save_tokenizer

PIECES = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "the", "ship", "un", "##sink", "##able"]
WORDS = ["the", "unsinkable", "ship"]


def save_words(folder: Path) -> None:
    tokenizer = Tokenizer(models.WordPiece({piece: i for i, piece in enumerate(PIECES)}, unk_token="[UNK]"))
    tokenizer.normalizer = normalizers.BertNormalizer()
    tokenizer.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    ends = [("[CLS]", 2), ("[SEP]", 3)]
    tokenizer.post_processor = processors.TemplateProcessing(single="[CLS] $A [SEP]", special_tokens=ends)
    tokenizer.enable_truncation(4)
    tokenizer.enable_padding(length=12)
    save_tokenizer(tokenizer, folder, 512)


QUERY = "encoder.layer.1.attention.self.query.weight"


@pytest.fixture
def folder(build: Callable[..., Encoder], tmp_path: Path) -> Path:
    """Return the folder of an exported BERT with its tokenizer, which says that it truncates and pads."""
    export_encoder(build(padding=0), tmp_path)
    save_words(tmp_path)
    return tmp_path


def tensors_of(model: Model) -> dict[str, Tensor]:
    return dict(model.module.named_parameters())


def matrices_of(module: torch.nn.Module) -> dict[str, Tensor]:
    """Every weight matrix by name, with the query, key and value projections apart."""
    found = {name: parameter for name, parameter in module.named_parameters() if parameter.ndim > 1}
    for name, part in module.named_modules():
        if isinstance(part, MultiHeadAttention):
            whole = found.pop(f"{name}.project.weight")
            found |= {f"{name}.{letter}": one for letter, one in zip("QKV", whole.chunk(3), strict=True)}
    return found


def test_a_folder_is_loaded_with_what_a_run_has_to_know(folder: Path) -> None:
    model = load_model(str(folder))
    assert (model.name, model.source, model.architecture) == (str(folder), "pretrained", "bert")
    assert (model.layers, model.heads, model.max_pieces, model.padding) == (2, 4, 24, 0)
    assert model.layers_of_weights == 2
    assert model.sha256 == hashlib.sha256((folder / "model.safetensors").read_bytes()).hexdigest()
    assert isinstance(model.module, Encoder)
    assert not model.module.training


def test_what_the_tokenizer_file_says_of_truncation_and_padding_is_switched_off(folder: Path) -> None:
    long, short = align(load_model(str(folder)).tokenizer, [WORDS * 5, ["ship"]])
    assert (len(long), len(short)) == (27, 3)
    assert long.missing() == []


def test_running_a_model_gives_the_vectors_of_its_encoder(folder: Path) -> None:
    model = load_model(str(folder))
    ids, mask = torch.tensor([[2, 4, 3], [2, 3, 0]]), torch.tensor([[True] * 3, [True, True, False]])
    with torch.no_grad():
        assert torch.equal(model.run(ids, mask), model.module(ids, mask))
        assert model.run(ids, None).shape == (2, 3, 32)


def test_random_weights_are_new_ones_of_the_same_shapes_and_follow_the_seed(folder: Path) -> None:
    loaded = load_model(str(folder))
    before = torch.random.get_rng_state()
    first, again, other = (load_model(str(folder), "random", seed) for seed in (3, 3, 4))
    assert torch.equal(torch.random.get_rng_state(), before)
    assert (first.source, first.sha256) == ("random", loaded.sha256)
    for name, tensor in tensors_of(loaded).items():
        if name not in tensors_of(first):  # heads of the pre-training task are not needed
            continue
        assert torch.equal(tensors_of(first)[name], tensors_of(again)[name])
        if tensor.ndim > 1:
            assert not torch.equal(tensors_of(first)[name], tensor)
            assert not torch.equal(tensors_of(first)[name], tensors_of(other)[name])
            assert 0.01 < tensors_of(first)[name].std() < 0.03


def test_permuted_weights_keep_the_numbers_of_each_matrix_and_follow_the_seed(folder: Path) -> None:
    loaded = matrices_of(load_model(str(folder)).module)
    first, again, other = (matrices_of(load_model(str(folder), "permuted", seed).module) for seed in (3, 3, 4))
    assert len(loaded) == len(first) > 12
    for name, tensor in loaded.items():
        assert torch.equal(first[name].flatten().sort().values, tensor.flatten().sort().values), name
        assert not torch.equal(first[name], tensor)
        assert torch.equal(first[name], again[name])
        assert not torch.equal(first[name], other[name])


@pytest.mark.parametrize("source", ["random", "permuted"])
def test_untrained_weights_of_an_open_model_are_those_that_loading_gives(folder: Path, source: str) -> None:
    trained = load_model(str(folder))
    before = {name: tensor.clone() for name, tensor in tensors_of(trained).items()}
    made, loaded = untrained(trained, source, 3), load_model(str(folder), source, 3)
    assert (made.name, made.source, made.sha256) == (loaded.name, loaded.source, loaded.sha256)
    assert tensors_of(made).keys() == tensors_of(loaded).keys()
    assert all(torch.equal(tensors_of(made)[name], tensor) for name, tensor in tensors_of(loaded).items())
    assert all(torch.equal(tensors_of(trained)[name], tensor) for name, tensor in before.items())


@pytest.mark.parametrize("source", ["random", "permuted"])
def test_untrained_weights_do_not_depend_on_what_is_drawn_on_other_threads(folder: Path, source: str) -> None:
    trained, before = load_model(str(folder)), torch.get_num_threads()
    torch.set_num_threads(4)
    try:
        made = side_by_side(lambda seed: untrained(trained, source, seed), range(40))
    finally:
        torch.set_num_threads(before)
    for seed, model in enumerate(made):
        alone = tensors_of(untrained(trained, source, seed))
        assert all(torch.equal(tensors_of(model)[name], tensor) for name, tensor in alone.items()), seed


def test_permuting_leaves_biases_and_layer_norms(folder: Path) -> None:
    loaded, permuted = load_model(str(folder)), load_model(str(folder), "permuted")
    vectors = {name: tensor for name, tensor in tensors_of(loaded).items() if tensor.ndim == 1}
    assert vectors
    assert all(torch.equal(tensors_of(permuted)[name], tensor) for name, tensor in vectors.items())


@pytest.mark.parametrize("shape", [(3, 4), (300, 400)])
def test_weights_are_permuted_in_the_order_that_torch_draws_in_long_integers(shape: tuple[int, int]) -> None:
    module = torch.nn.Linear(*shape, bias=False)
    before = module.weight.detach().flatten().clone()
    permute_weights(module, 5)
    order = torch.randperm(len(before), generator=torch.Generator().manual_seed(5))
    assert torch.equal(module.weight.flatten(), before[order])


def test_permuting_keeps_tied_weights_tied(build: Callable[..., Encoder]) -> None:
    encoder = build()
    permute_weights(encoder, 0)
    assert encoder.lm_head is not None
    assert encoder.lm_head.decoder.weight is encoder.pieces.weight


@pytest.mark.parametrize("source", SOURCES)
def test_a_hub_architecture_is_loaded_from_its_folder_in_every_source(source: str, tmp_path: Path) -> None:
    from transformers import AlbertConfig, AlbertModel

    sizes: dict[str, Any] = {"vocab_size": 40, "hidden_size": 32, "num_hidden_layers": 3, "num_attention_heads": 4}
    config = AlbertConfig(**sizes, embedding_size=16, intermediate_size=48, max_position_embeddings=24, pad_token_id=0)
    hub = AlbertModel(config).eval()
    hub.save_pretrained(tmp_path)
    save_words(tmp_path)
    (tmp_path / "tokenizer_config.json").write_text(json.dumps({"tokenizer_class": "PreTrainedTokenizerFast"}))
    model, again = load_model(str(tmp_path), source, 1), load_model(str(tmp_path), source, 1)
    assert (model.architecture, model.layers, model.heads, model.max_pieces) == ("albert", 3, 4, 24)
    assert align(model.tokenizer, [WORDS * 5])[0].words == 15
    ids, mask = torch.tensor([[2, 4, 3], [2, 3, 0]]), torch.tensor([[True] * 3, [True, True, False]])
    with torch.no_grad():
        output, expected = model.run(ids, mask), hub(ids, attention_mask=mask.long())[0]
        assert torch.equal(output, again.run(ids, mask))
    assert torch.allclose(output[mask], expected[mask], atol=1e-5) == (source == "pretrained")


def test_a_near_miss_of_a_name_is_told_what_was_meant() -> None:
    for wrong in ("minilmm", "MiniLM", "mini-lm"):
        with pytest.raises(ModelError, match=rf"unknown model '{wrong}'; did you mean 'minilm'\?"):
            load_model(wrong)


def test_a_folder_that_does_not_exist_is_told_the_known_names(tmp_path: Path) -> None:
    for wrong in (str(tmp_path / "nothing"), "./nothing-here"):
        with pytest.raises(ModelError, match=r"unknown model .*nothing.*known by name: minilm"):
            load_model(wrong)


def test_the_hub_is_asked_only_for_what_is_said_to_be_there(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[tuple[str, str | None]] = []

    commit = folder / "snapshots" / "0123abcd"
    shutil.copytree(folder, commit)

    def snapshot(repository: str, *, revision: str | None, allow_patterns: list[str]) -> str:
        asked.append((repository, revision))
        return str(commit)

    monkeypatch.setattr("huggingface_hub.snapshot_download", snapshot)
    with pytest.raises(ModelError, match=r"unknown model 'nobody/nothing': no such folder.*'hub:owner/name'"):
        load_model("nobody/nothing")
    assert load_model(str(folder)).revision is None
    assert asked == []
    assert load_model("hub:nobody/nothing").revision == "0123abcd"
    load_model("hub:nobody/nothing@v2")
    assert asked == [("nobody/nothing", None), ("nobody/nothing", "v2")]


def test_a_model_that_the_hub_does_not_give_is_one_line(monkeypatch: pytest.MonkeyPatch) -> None:
    def snapshot(repository: str, **settings: object) -> str:
        raise ConnectionError("several\nlines")

    monkeypatch.setattr("huggingface_hub.snapshot_download", snapshot)
    with pytest.raises(ModelError, match=r"model 'hub:a/b': the hub did not give it \(ConnectionError\)$"):
        load_model("hub:a/b")


def test_an_unknown_source_is_told_the_sources() -> None:
    with pytest.raises(
        ModelError, match="unknown model source 'trained'; the sources are pretrained, random, permuted"
    ):
        load_model("minilm", "trained")


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (None, "no config.json, so this is not the folder of a model"),
        ("{", "not a JSON file"),
        ("[]", "expected a JSON object"),
    ],
)
def test_a_folder_without_a_readable_config_is_no_model(content: str | None, message: str, tmp_path: Path) -> None:
    if content is not None:
        (tmp_path / "config.json").write_text(content)
    with pytest.raises((ModelError, WeightsError), match=message):
        load_model(str(tmp_path))


def test_a_model_without_a_tokenizer_is_refused(folder: Path) -> None:
    (folder / "tokenizer.json").unlink()
    with pytest.raises(ModelError, match="tokenizer"):
        load_model(str(folder))


def test_a_model_without_weights_is_refused(folder: Path) -> None:
    (folder / "model.safetensors").unlink()
    with pytest.raises(WeightsError, match="does not exist"):
        load_model(str(folder))


def test_minilm_is_the_pinned_one_and_reads_words(minilm_folder: Path) -> None:
    model = load_model("minilm")
    assert (model.layers, model.heads, model.max_pieces) == (6, 12, 512)
    assert model.sha256 == MINILM_SHA256["model.safetensors"]
    (pieces,) = align(model.tokenizer, [["Unsinkable", "ships", "sank"] * 200])
    assert pieces.words == 600
    assert len(pieces) > 602
    assert pieces.missing() == []


@pytest.mark.parametrize("file", sorted(MINILM_SHA256))
def test_files_that_are_not_the_pinned_ones_are_refused(
    minilm_folder: Path, file: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(MINILM_SHA256, file, "0" * 64)
    with pytest.raises(ModelError, match=f"{file} is not that of minilm"):
        load_model("minilm")


@pytest.mark.parametrize("value", [float("nan"), float("inf")])
@pytest.mark.parametrize("source", ["pretrained", "permuted"])
def test_weights_that_are_no_numbers_are_refused(folder: Path, value: float, source: str) -> None:
    tensors = load_file(folder / "model.safetensors")
    next(tensor for key, tensor in tensors.items() if key.endswith(QUERY))[2, 3] = value
    save_file(tensors, folder / "model.safetensors")
    with pytest.raises(ModelError, match=r"1 of \d+ numbers of 'layers.1.attention.*' are not finite"):
        load_model(str(folder), source)


def test_a_tokenizer_with_a_piece_that_has_no_embedding_is_refused(folder: Path) -> None:
    tokenizer = Tokenizer.from_file(str(folder / "tokenizer.json"))
    tokenizer.add_tokens([f"more{number}" for number in range(200)])
    save_tokenizer(tokenizer, folder, 512)
    with pytest.raises(
        ModelError, match=r"its tokenizer has a piece 208 \('more199'\), but the model has \d+ embeddings"
    ):
        load_model(str(folder))


@pytest.mark.parametrize("content", ["{", "[]", '{"model": 3}', "\x00", '{"model": {"type": "WordPiece"}}'])
@pytest.mark.parametrize("kind", ["bert", "roberta"])
def test_a_malformed_tokenizer_is_one_line(folder: Path, kind: str, content: str) -> None:
    (folder / "config.json").write_text(json.dumps({"model_type": kind}))
    (folder / "tokenizer.json").write_text(content)
    with pytest.raises(ModelError, match="tokenizer") as error:
        load_tokenizer(folder)
    assert "\n" not in str(error.value)


def test_the_tokenizer_is_known_by_its_hash(folder: Path) -> None:
    before = load_model(str(folder)).tokenizer_sha256
    assert before == load_model(str(folder)).tokenizer_sha256
    tokenizer = Tokenizer.from_file(str(folder / "tokenizer.json"))
    tokenizer.add_tokens(["more"])
    save_tokenizer(tokenizer, folder, 512)
    assert load_model(str(folder)).tokenizer_sha256 != before


def test_every_named_model_is_described() -> None:
    assert set(NAMED) == set(DESCRIPTIONS)


def test_a_vocabulary_in_plain_text_is_enough_for_a_tokenizer(folder: Path) -> None:
    expected = align(load_model(str(folder)).tokenizer, [WORDS])[0]
    for name in ("tokenizer.json", "tokenizer_config.json"):
        (folder / name).unlink()
    (folder / "vocab.txt").write_text("\n".join(PIECES) + "\n", "utf-8")
    (pieces,) = align(load_model(str(folder)).tokenizer, [WORDS])
    assert pieces.ids.tolist() == expected.ids.tolist()
    assert pieces.word.tolist() == expected.word.tolist()


def test_an_architecture_whose_code_lies_in_the_folder_is_refused_by_name(folder: Path) -> None:
    code = {"AutoConfig": "configuration.NeoBERTConfig", "AutoModel": "model.NeoBERT"}
    (folder / "config.json").write_text(json.dumps({"model_type": "neobert", "auto_map": code}), encoding="utf-8")
    with pytest.raises(ModelError, match=r"'neobert' is code in the folder itself, which headscope never runs"):
        load_model(str(folder))


def test_half_precision_checkpoints_are_scored_in_float32(tmp_path: Path) -> None:
    from transformers import LlamaConfig, LlamaModel

    sizes = {"hidden_size": 16, "num_hidden_layers": 2, "num_attention_heads": 2, "intermediate_size": 16}
    LlamaModel(LlamaConfig(vocab_size=20, **sizes)).bfloat16().save_pretrained(tmp_path)
    assert {parameter.dtype for parameter in load_hub_model(str(tmp_path)).parameters()} == {torch.float32}


@pytest.mark.parametrize("config", ['{"model_type": "foo"}', '{"vocab_size": 3}'])
def test_a_folder_that_transformers_cannot_load_is_told_in_one_line(tmp_path: Path, config: str) -> None:
    (tmp_path / "config.json").write_text(config)
    with pytest.raises(ModelError, match="transformers cannot load it: ") as error:
        load_model(str(tmp_path))
    assert "\n" not in str(error.value)
