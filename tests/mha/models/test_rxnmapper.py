import importlib.util
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch
from torch import Tensor

from mha import Model, ModelError, align, load_model
from mha.hooks import watch
from mha.models.masked_prediction import MaskedLM
from mha.models.rxnmapper import convert, smiles_tokenizer

VOCABULARY = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", "C", "c", "O", "(", ")", "=", "1", "Cl", ">>", "[Na+]", "."]
GOLDEN = Path(__file__).parents[2] / "golden" / "rxnmapper.json"


@pytest.fixture
def tiny(tmp_path: Path, randomise: Callable[..., None]) -> tuple[Path, Any]:
    """Return a folder as in the package, of a tiny model, and that model."""
    from transformers import AlbertConfig, AlbertForMaskedLM

    sizes = {"embedding_size": 8, "hidden_size": 16, "num_hidden_layers": 3, "num_attention_heads": 4}
    config = AlbertConfig(vocab_size=len(VOCABULARY), intermediate_size=24, max_position_embeddings=32, **sizes)
    model = AlbertForMaskedLM(config).eval()
    randomise(model)
    weights = dict(model.state_dict())
    weights["predictions.decoder.weight"] = weights["albert.embeddings.word_embeddings.weight"]
    weights["predictions.decoder.bias"] = weights["predictions.bias"]
    weights |= {"albert.pooler.weight": torch.ones(16, 16), "albert.pooler.bias": torch.ones(16)}
    weights = {name: tensor for name, tensor in weights.items() if "position_ids" not in name}
    torch.save(weights, tmp_path / "pytorch_model.bin")
    (tmp_path / "vocab.txt").write_text("\n".join(VOCABULARY) + "\n")
    (tmp_path / "config.json").write_text(json.dumps({**config.to_dict(), "architectures": ["AlbertForMaskedLM"]}))
    return tmp_path, model


def maps_of(model: Model, ids: Tensor) -> Tensor:
    """Return [layer, head, query, key] of one text."""
    seen: list[Tensor] = []
    with torch.inference_mode(), watch(model.module, lambda one: seen.append(one.tensor.clone()), ("pattern",)):
        model.run(ids, None)
    return torch.cat(seen)


def test_a_converted_model_attends_and_predicts_as_the_pickle_does(tiny: tuple[Path, Any], tmp_path: Path) -> None:
    folder = tmp_path / "converted"
    folder.mkdir()
    convert(tiny[0], folder)
    model = load_model(str(folder))
    assert (model.architecture, model.layers, model.heads) == ("albert", 3, 4)
    assert model.layers_of_weights == 1  # all layers are one
    (pieces,) = align(model.tokenizer, [["C", "(", "Cl", ")", ">>", "[Na+]"]])
    ids = torch.tensor([pieces.ids.tolist()])
    tiny[1].set_attn_implementation("eager")
    with torch.inference_mode():
        expected = tiny[1](input_ids=ids, output_attentions=True)
        logits = MaskedLM.of(model).read(ids, None, torch.arange(ids.shape[1]))
    assert torch.allclose(maps_of(model, ids), torch.cat(expected.attentions), atol=1e-6)
    assert torch.allclose(logits, expected.logits[0], atol=1e-5)


def test_a_pickle_that_would_run_code_is_not_opened(tiny: tuple[Path, Any], tmp_path: Path) -> None:
    torch.save({"weights": Path("anything")}, tiny[0] / "pytorch_model.bin")
    with pytest.raises(Exception, match=r"(?i)weights.only"):
        convert(tiny[0], tmp_path)


def test_smiles_are_cut_into_atoms_bonds_and_brackets() -> None:
    tokenizer = smiles_tokenizer(VOCABULARY)
    cut = tokenizer.encode("c1cC(Cl)=O.[Na+]>>CBr")
    tokens = "[CLS] c 1 c C ( Cl ) = O . [Na+] >> C [UNK] [SEP]"
    assert cut.tokens == tokens.split()
    (pieces,) = align(tokenizer, [["Cl", ">>", "[Na+]", "Br"]])
    assert pieces.word.tolist() == [-1, 0, 1, 2, 3, -2]


@pytest.fixture(scope="module")
def installed() -> Model:
    """Return the model of the package."""
    if importlib.util.find_spec("rxnmapper") is None:
        pytest.skip("the package rxnmapper is not installed")
    return load_model("rxnmapper")


def test_its_maps_are_those_that_the_package_gives(installed: Model) -> None:
    golden = json.loads(GOLDEN.read_text())
    encoded = installed.tokenizer.encode(golden["reaction"])
    assert encoded.tokens == golden["tokens"]
    maps = maps_of(installed, torch.tensor([encoded.ids]))
    for name, layer, head in (("11-6", 10, 5), ("1-1", 0, 0)):
        assert torch.allclose(maps[layer, head], torch.tensor(golden["maps"][name]), atol=1e-5)


def test_weights_that_are_tied_in_name_only_are_refused(tiny: tuple[Path, Any], tmp_path: Path) -> None:
    weights = torch.load(tiny[0] / "pytorch_model.bin", weights_only=True)
    weights["predictions.decoder.weight"] = weights["predictions.decoder.weight"] + 1
    torch.save(weights, tiny[0] / "pytorch_model.bin")
    with pytest.raises(ModelError, match=r"'predictions.decoder.weight' is not 'albert.embeddings.word"):
        convert(tiny[0], tmp_path)
