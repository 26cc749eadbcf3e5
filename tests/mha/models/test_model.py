import hashlib
import json
from collections.abc import Callable
from pathlib import Path

import pytest
import torch
from safetensors.torch import load_file, save_file
from tokenizers import Tokenizer
from torch import Tensor
from transformers import AutoModelForMaskedLM

from mha import Encoder, Model, ModelError, align, export_encoder, load_model
from mha.attention import MultiHeadAttention
from mha.models.folders import MINILM_SHA256
from mha.models.hub import load_hub_model
from mha.models.masked_prediction import with_head
from mha.models.model import SOURCES, permute_weights, untrained
from mha.parallel import side_by_side
from mha.training.vocabulary import save_tokenizer
from tests.mha.tiny.models import built, config
from tests.small_words import randomise_weights, word_pieces

PIECES = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "the", "ship", "un", "##sink", "##able"]
WORDS = ["the", "unsinkable", "ship"]


def save_words(folder: Path) -> None:
    tokenizer = word_pieces(PIECES)
    tokenizer.enable_truncation(4)
    tokenizer.enable_padding(length=12)
    save_tokenizer(tokenizer, folder, 512)


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
    model, permuted = load_model(str(folder)), load_model(str(folder), "permuted", 3)
    loaded = matrices_of(model.module)
    first, again, other = (matrices_of(load_model(str(folder), "permuted", seed).module) for seed in (3, 3, 4))
    assert len(loaded) == len(first) > 12
    for name, tensor in loaded.items():
        assert torch.equal(first[name].flatten().sort().values, tensor.flatten().sort().values), name
        assert not torch.equal(first[name], tensor)
        assert torch.equal(first[name], again[name])
        assert not torch.equal(first[name], other[name])
    vectors = {name: tensor for name, tensor in tensors_of(model).items() if tensor.ndim == 1}
    assert all(torch.equal(tensors_of(permuted)[name], tensor) for name, tensor in vectors.items())
    tied = permuted.module
    assert tied.lm_head.decoder.weight is tied.pieces.weight


@pytest.mark.parametrize("source", ["random", "permuted"])
def test_untrained_weights_are_those_of_loading_whatever_is_drawn_on_other_threads(folder: Path, source: str) -> None:
    trained, before = load_model(str(folder)), torch.get_num_threads()
    whole = {name: tensor.clone() for name, tensor in tensors_of(trained).items()}
    torch.set_num_threads(4)
    try:
        made = side_by_side(lambda seed: untrained(trained, source, seed), range(20))
    finally:
        torch.set_num_threads(before)
    for seed, model in enumerate(made):
        loaded = load_model(str(folder), source, seed) if seed < 2 else untrained(trained, source, seed)
        assert (model.name, model.source, model.sha256) == (loaded.name, source, loaded.sha256)
        assert model.seed == loaded.seed == seed
        assert tensors_of(model).keys() == tensors_of(loaded).keys()
        assert all(torch.equal(tensors_of(model)[name], tensor) for name, tensor in tensors_of(loaded).items()), seed
    assert all(torch.equal(tensors_of(trained)[name], tensor) for name, tensor in whole.items())


@pytest.mark.parametrize("shape", [(3, 4), (300, 400)])
def test_weights_are_permuted_in_the_order_that_torch_draws_in_long_integers(shape: tuple[int, int]) -> None:
    module = torch.nn.Linear(*shape, bias=False)
    before = module.weight.detach().flatten().clone()
    permute_weights(module, 5)
    order = torch.randperm(len(before), generator=torch.Generator().manual_seed(5))
    assert torch.equal(module.weight.flatten(), before[order])


@pytest.mark.parametrize("source", SOURCES)
def test_a_hub_architecture_is_loaded_from_its_folder_in_every_source(source: str, tmp_path: Path) -> None:
    hub = built("albert")
    hub.save_pretrained(tmp_path)
    save_words(tmp_path)
    (tmp_path / "tokenizer_config.json").write_text(json.dumps({"tokenizer_class": "PreTrainedTokenizerFast"}))
    model, again = load_model(str(tmp_path), source, 1), load_model(str(tmp_path), source, 1)
    assert (model.architecture, model.layers, model.heads, model.max_pieces) == ("albert", 3, 4, 64)
    assert align(model.tokenizer, [WORDS * 5])[0].words == 15
    ids, mask = torch.tensor([[2, 4, 3], [2, 3, 0]]), torch.tensor([[True] * 3, [True, True, False]])
    with torch.no_grad():
        output, expected = model.run(ids, mask), hub(ids, attention_mask=mask.long())[0]
        assert torch.equal(output, again.run(ids, mask))
    assert torch.allclose(output[mask], expected[mask], atol=1e-5) == (source == "pretrained")


@pytest.mark.parametrize("again", [lambda one: untrained(one, "permuted", 1), lambda one: with_head(one, "MaskedLM")])
def test_nothing_more_is_read_of_a_folder_whose_weights_have_changed(
    again: Callable[[Model], object], tmp_path: Path
) -> None:
    made = AutoModelForMaskedLM.from_config(config("albert"))
    made.save_pretrained(tmp_path)
    save_words(tmp_path)
    model = load_model(str(tmp_path))
    again(model)
    randomise_weights(made)
    made.save_pretrained(tmp_path)
    with pytest.raises(ModelError, match="its folder has other weights than when it was loaded; load it again"):
        again(model)


def test_minilm_is_the_pinned_one_and_reads_words(minilm_folder: Path) -> None:
    model = load_model("minilm")
    assert (model.layers, model.heads, model.max_pieces) == (6, 12, 512)
    assert model.sha256 == MINILM_SHA256["model.safetensors"]
    (pieces,) = align(model.tokenizer, [["Unsinkable", "ships", "sank"] * 200])
    assert pieces.words == 600
    assert len(pieces) > 602
    assert pieces.missing() == []


def test_files_that_are_not_the_pinned_ones_are_refused(minilm_folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(MINILM_SHA256, "tokenizer.json", "0" * 64)
    with pytest.raises(ModelError, match=r"tokenizer.json is not that of minilm"):
        load_model("minilm")


def edit_weights(change: Callable[[Tensor], object]) -> Callable[[Path], None]:
    def edit(folder: Path) -> None:
        tensors = load_file(folder / "model.safetensors")
        change(next(tensor for key, tensor in tensors.items() if key.endswith("layer.1.attention.self.query.weight")))
        save_file(tensors, folder / "model.safetensors")

    return edit


def add_pieces(folder: Path) -> None:
    tokenizer = Tokenizer.from_file(str(folder / "tokenizer.json"))
    tokenizer.add_tokens([f"more{number}" for number in range(200)])
    save_tokenizer(tokenizer, folder, 512)


def put(name: str, text: str) -> Callable[[Path], object]:
    return lambda folder: (folder / name).write_text(text)


@pytest.mark.parametrize(
    ("edit", "message"),
    [
        (edit_weights(lambda one: one[2, 3].fill_(torch.inf)), r"1 of \d+ numbers of 'layers.1.*' are not finite"),
        (add_pieces, r"its tokenizer has a piece 208 \('more199'\), but the model has \d+ embeddings"),
        (put("tokenizer.json", "version https://git-lfs.github.com/spec/v1"), r"tokenizer\.json: a pointer of git-lfs"),
        (put("config.json", "[]"), "expected a JSON object"),
        (put("config.json", '{"model_type": "foo"}'), "transformers cannot load it: "),
        (
            put("config.json", '{"model_type": "neobert", "auto_map": {"AutoConfig": "c.C", "AutoModel": "m.M"}}'),
            "'neobert' is code in the folder itself, which headscope never runs",
        ),
    ],
)
def test_a_folder_with_a_fault_is_refused_in_one_line(
    edit: Callable[[Path], object], message: str, folder: Path
) -> None:
    edit(folder)
    with pytest.raises(ValueError, match=message) as refused:
        load_model(str(folder))
    assert "\n" not in str(refused.value)


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


def test_a_vocabulary_in_plain_text_is_enough_for_a_tokenizer(folder: Path) -> None:
    expected = align(load_model(str(folder)).tokenizer, [WORDS])[0]
    for name in ("tokenizer.json", "tokenizer_config.json"):
        (folder / name).unlink()
    (folder / "vocab.txt").write_text("\n".join(PIECES) + "\n", "utf-8")
    (pieces,) = align(load_model(str(folder)).tokenizer, [WORDS])
    assert pieces.ids.tolist() == expected.ids.tolist()
    assert pieces.word.tolist() == expected.word.tolist()


def test_half_precision_checkpoints_are_scored_in_float32(tmp_path: Path) -> None:
    built("llama").bfloat16().save_pretrained(tmp_path)
    assert {parameter.dtype for parameter in load_hub_model(str(tmp_path)).parameters()} == {torch.float32}
