"""Adapters as `peft` writes them, against `peft`'s own merged model."""

import json
import shutil
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import peft
import pytest
import torch
import transformers
from safetensors.torch import load_file, save_file

from mha import MaskedLM, ModelError, load_model, record
from tests.mha.models.test_masked_prediction import SIZE, save_tokenizer

pytestmark = pytest.mark.filterwarnings("ignore::FutureWarning", "ignore::UserWarning")
IDS = torch.tensor([[2, 9, 14, 7, 3]])
Edit = Callable[[Path], None]


def lora(**changes: Any) -> peft.LoraConfig:
    return peft.LoraConfig(**{"r": 4, "lora_alpha": 8, "target_modules": ["query", "value"], **changes})


def bert(kind: str = "BertForMaskedLM") -> Any:
    return getattr(transformers, kind)(transformers.BertConfig(**SIZE))


def roberta() -> Any:
    return transformers.RobertaForMaskedLM(transformers.RobertaConfig(**{**SIZE, "pad_token_id": 1}))


@pytest.fixture
def adapted(
    tmp_path: Path, randomise: Callable[..., None], monkeypatch: pytest.MonkeyPatch
) -> Callable[..., tuple[Path, Any]]:
    """Return the function that saves a base and an adapter of it, and gives the adapter's folder and `peft`'s model."""
    monkeypatch.setenv("HEADSCOPE_CACHE", str(tmp_path / "cache"))

    def save(base: Any, settings: Any, kind: Any = None, **head: Any) -> tuple[Path, Any]:
        randomise(base)
        base.save_pretrained(tmp_path / "base")
        save_tokenizer(tmp_path / "base")
        model = peft.get_peft_model((kind or type(base)).from_pretrained(tmp_path / "base", **head), settings)
        with torch.no_grad():
            for number, parameter in enumerate(p for p in model.parameters() if p.requires_grad):
                parameter.normal_(0, 0.2, generator=torch.Generator().manual_seed(number))
        model.save_pretrained(tmp_path / "adapter")
        return tmp_path / "adapter", model

    return save


@pytest.mark.parametrize(
    ("base", "settings", "kind", "head"),
    [
        (bert, lora(), None, {}),
        (lambda: bert("BertModel"), lora(task_type="FEATURE_EXTRACTION"), None, {}),
        (bert, lora(task_type="SEQ_CLS"), transformers.BertForSequenceClassification, {"num_labels": 5}),
        (roberta, lora(use_dora=True, bias="all"), None, {}),
        (
            roberta,
            lora(target_modules="all-linear", task_type="SEQ_CLS"),
            transformers.RobertaForSequenceClassification,
            {},
        ),
        (bert, lora(modules_to_save=["cls"]), None, {}),
        (bert, peft.IA3Config(target_modules=["key"], feedforward_modules=[]), None, {}),
    ],
)
def test_an_adapter_is_read_as_peft_merges_it(
    base: Callable[[], Any], settings: Any, kind: Any, head: dict[str, Any], adapted: Callable[..., tuple[Path, Any]]
) -> None:
    folder, model = adapted(base(), settings, kind, **head)
    plain = load_model(str(folder.parent / "base"))
    merged = load_model(str(folder))
    oracle = model.merge_and_unload().eval()
    oracle.set_attn_implementation("eager")
    with torch.no_grad(), record(merged.module) as seen, record(plain.module) as before:
        merged.run(IDS, None)
        plain.run(IDS, None)
        expected = oracle(IDS, output_attentions=True)
    for found, pattern in zip(seen["pattern"], expected.attentions, strict=True):
        torch.testing.assert_close(found, pattern, rtol=0, atol=1e-6)
    assert not torch.allclose(seen["pattern"][1], before["pattern"][1], atol=1e-3)
    if type(oracle).__name__.endswith("MaskedLM"):
        logits = MaskedLM.of(merged).log_probabilities(IDS, None, torch.tensor([2]))
        torch.testing.assert_close(logits[0], expected.logits[0, 2].log_softmax(-1), rtol=0, atol=1e-5)
    else:
        with pytest.raises(ModelError, match="has no masked-LM head"):
            MaskedLM.of(merged)


def beside(folder: Path) -> None:
    for path in (folder.parent / "base").iterdir():
        shutil.copy(path, folder)
    shutil.rmtree(folder.parent / "base")


def relative(folder: Path) -> None:
    name(folder, "../base")


def wrapped(folder: Path) -> None:
    path = folder.parent / "base" / "model.safetensors"
    save_file({f"_orig_mod.{key}": one for key, one in load_file(path).items()}, path)


def name(folder: Path, base: str) -> None:
    path = folder / "adapter_config.json"
    path.write_text(json.dumps({**json.loads(path.read_text()), "base_model_name_or_path": base}))


@pytest.mark.parametrize("edit", [beside, relative, wrapped])
@pytest.mark.parametrize("kind", ["bert", "albert"])
def test_the_base_may_lie_anywhere(kind: str, edit: Edit, adapted: Callable[..., tuple[Path, Any]]) -> None:
    albert = transformers.AlbertForMaskedLM(transformers.AlbertConfig(**SIZE, embedding_size=8))
    folder, model = adapted(bert() if kind == "bert" else albert, lora())
    edit(folder)
    merged = load_model(str(folder))
    with torch.no_grad():
        expected = model.merge_and_unload().eval().base_model(IDS)[0]
        torch.testing.assert_close(merged.run(IDS, None), expected, rtol=0, atol=1e-5)


def lose_a_tensor(folder: Path) -> None:
    path = folder / "adapter_model.safetensors"
    tensors = load_file(path)
    del tensors[min(tensors)]
    save_file(tensors, path)


@pytest.mark.parametrize(
    ("edit", "message"),
    [
        (lose_a_tensor, r"adapter_model\.safetensors: with the base .*, lacks 'base_model\.model\.bert\..*lora_A"),
        (lambda folder: name(folder, "someone/base"), r"adapter \(LORA\) of the model 'someone/base', .* hf download"),
        (lambda folder: name(folder, "/gone"), "of the model '/gone', which is no folder here; give the folder"),
        (lambda folder: (folder / "adapter_model.safetensors").unlink(), r"adapter_config\.json without adapter_model"),
        (lambda folder: (folder / "adapter_config.json").write_text("{"), r"adapter_config\.json: not a JSON file"),
        (lambda folder: (folder / "adapter_config.json").unlink(), r"of which adapter_config\.json is missing"),
    ],
)
def test_an_adapter_that_cannot_be_merged_is_refused(
    edit: Edit, message: str, adapted: Callable[..., tuple[Path, Any]]
) -> None:
    folder, _ = adapted(bert(), lora())
    edit(folder)
    with pytest.raises(ValueError, match=message) as refused:
        load_model(str(folder))
    assert "\n" not in str(refused.value)


def test_an_adapter_that_changes_no_weights_is_refused(adapted: Callable[..., tuple[Path, Any]]) -> None:
    settings = peft.PromptTuningConfig(task_type="SEQ_CLS", num_virtual_tokens=2)
    folder, _ = adapted(bert(), settings, transformers.BertForSequenceClassification)
    with pytest.raises(ModelError, match="PROMPT_TUNING puts vectors before a text and changes no weights"):
        load_model(str(folder))


def test_without_peft_the_message_says_how_to_install_it(
    adapted: Callable[..., tuple[Path, Any]], monkeypatch: pytest.MonkeyPatch
) -> None:
    folder, _ = adapted(bert(), lora())
    monkeypatch.setitem(sys.modules, "peft", None)
    with pytest.raises(
        ModelError, match=r"an adapter \(LORA\) of the model '.*base'; .* pip install 'headscope\[peft\]'"
    ):
        load_model(str(folder))
