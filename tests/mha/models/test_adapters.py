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
import transformers as hub
from safetensors.torch import load_file, save_file

from headscope import load
from mha import HookError, MaskedLM, ModelError, load_model, record
from probes.causal.labels import TEXTS, Classifier
from tests.mha.models.test_masked_prediction import SIZE, save_words

pytestmark = pytest.mark.filterwarnings("ignore::FutureWarning", "ignore::UserWarning")
IDS = torch.tensor([[2, 9, 14, 7, 3]])
Adapted = Callable[..., tuple[Path, Any]]


def lora(**changes: Any) -> peft.LoraConfig:
    return peft.LoraConfig(**{"r": 4, "lora_alpha": 8, "target_modules": ["query", "value"], **changes})


def bert() -> Any:
    return hub.BertForMaskedLM(hub.BertConfig(**SIZE))


def roberta() -> Any:
    return hub.RobertaForMaskedLM(hub.RobertaConfig(**{**SIZE, "pad_token_id": 1}))


@pytest.fixture
def adapted(tmp_path: Path, randomise: Callable[..., None], monkeypatch: pytest.MonkeyPatch) -> Adapted:
    """Return the function that saves a base and an adapter of it, and gives the adapter's folder and `peft`'s model."""
    monkeypatch.setenv("HEADSCOPE_CACHE", str(tmp_path / "cache"))

    def save(base: Any, settings: Any, kind: Any = None, **head: Any) -> tuple[Path, Any]:
        randomise(base)
        base.save_pretrained(tmp_path / "base")
        save_words(tmp_path / "base")
        model = peft.get_peft_model((kind or type(base)).from_pretrained(tmp_path / "base", **head), settings)
        with torch.no_grad():
            for number, parameter in enumerate(p for p in model.parameters() if p.requires_grad):
                parameter.normal_(0, 0.2, generator=torch.Generator().manual_seed(number))
        model.save_pretrained(tmp_path / "adapter")
        return tmp_path / "adapter", model

    return save


def test_of_an_object_the_active_adapter_on_the_base_as_it_is_now_is_read(adapted: Adapted) -> None:
    folder, model = adapted(bert(), lora())
    model.add_adapter("second", lora(r=2))
    model.set_adapter("second")
    with torch.no_grad():
        for number, parameter in enumerate(model.parameters()):  # the base among them
            parameter.add_(torch.empty_like(parameter).normal_(0, 0.1, generator=torch.Generator().manual_seed(number)))
    found = load(model, hub.AutoTokenizer.from_pretrained(folder.parent / "base"))
    with torch.no_grad():
        expected = model.eval().base_model.model.bert(IDS).last_hidden_state
        torch.testing.assert_close(found.run(IDS, None), expected, rtol=0, atol=1e-5)
        with model.disable_adapter():
            plain = load(model, hub.AutoTokenizer.from_pretrained(folder.parent / "base"))
            expected = model.base_model.model.bert(IDS).last_hidden_state
        torch.testing.assert_close(plain.run(IDS, None), expected, rtol=0, atol=1e-5)


@pytest.mark.parametrize("added", [False, True])
def test_a_model_with_adapters_in_its_layers_is_refused(added: bool, adapted: Adapted) -> None:
    folder, model = adapted(bert(), lora())
    base = model.get_base_model()
    if added:
        base = hub.BertModel.from_pretrained(folder.parent / "base")
        base.add_adapter(lora())
    with pytest.raises(ModelError, match=r"adapters are in its layers; give it as peft\.get_peft_model makes it"):
        load(base, hub.AutoTokenizer.from_pretrained(folder.parent / "base"))


@pytest.mark.parametrize("target", ["decoder", "word_embeddings"])
def test_an_adapter_of_a_matrix_that_two_parts_share_is_refused(target: str, adapted: Adapted) -> None:
    folder, model = adapted(bert(), lora(target_modules=["query", target]))
    for given in (
        lambda: load_model(str(folder)),
        lambda: load(model, hub.AutoTokenizer.from_pretrained(folder.parent / "base")),
    ):
        with pytest.raises(ModelError, match=rf"{target}, whose matrix another part shares"):
            given()


def test_parts_trained_beside_an_adapter_that_is_disabled_have_no_part_in_the_model(adapted: Adapted) -> None:
    folder, model = adapted(bert(), lora(modules_to_save=["word_embeddings"]))
    with torch.no_grad(), model.disable_adapter():
        expected = model.get_base_model().bert(IDS)[0]
        found = load(model, hub.AutoTokenizer.from_pretrained(folder.parent / "base")).run(IDS, None)
    torch.testing.assert_close(found, expected, rtol=0, atol=1e-5)
    with torch.no_grad():
        assert float((model.get_base_model().bert(IDS)[0] - expected).abs().max()) > 1e-3


def test_what_heads_write_is_not_read_beside_an_adapter(adapted: Adapted) -> None:
    _, model = adapted(bert(), lora(target_modules=["attention.output.dense"]))
    with (
        pytest.raises(HookError, match=r"has an adapter beside its weight; merge that first"),
        record(model.base_model.model, ["head_write"]),
    ):
        model(IDS)


def test_a_head_for_other_labels_than_the_base_s_is_not_taken_for_the_base_s_own(adapted: Adapted) -> None:
    two = hub.BertForSequenceClassification(hub.BertConfig(**SIZE, num_labels=2))
    more: dict[str, Any] = {"num_labels": 3, "ignore_mismatched_sizes": True}
    folder, _ = adapted(two, lora(task_type="SEQ_CLS"), hub.BertForSequenceClassification, **more)
    with pytest.raises(ModelError, match="no head for rows with one label"):
        Classifier.of(load_model(str(folder)), TEXTS)


@pytest.mark.parametrize(
    ("base", "settings", "kind", "head"),
    [
        (bert, lora(), None, {}),
        (bert, lora(task_type="SEQ_CLS"), hub.BertForSequenceClassification, {"num_labels": 5}),
        (roberta, lora(use_dora=True, bias="all"), None, {}),
        (bert, lora(modules_to_save=["cls"]), None, {}),
    ],
)
def test_an_adapter_is_read_as_peft_merges_it(
    base: Callable[[], Any], settings: Any, kind: Any, head: dict[str, Any], adapted: Adapted
) -> None:
    folder, model = adapted(base(), settings, kind, **head)
    merged = load_model(str(folder))
    oracle = model.merge_and_unload().eval()
    oracle.set_attn_implementation("eager")
    with torch.no_grad(), record(merged.module) as seen:
        merged.run(IDS, None)
        expected = oracle(IDS, output_attentions=True)
    for found, pattern in zip(seen["pattern"], expected.attentions, strict=True):
        torch.testing.assert_close(found, pattern, rtol=0, atol=1e-6)
    if kind is None:
        logits = MaskedLM.of(merged).log_probabilities(IDS, None, torch.tensor([2]))
        torch.testing.assert_close(logits[0], expected.logits[0, 2].log_softmax(-1), rtol=0, atol=1e-5)


def test_what_sentence_transformers_does_around_an_adapter_is_noted(adapted: Adapted) -> None:
    folder, _ = adapted(bert(), lora())
    kinds = {"": "Transformer", "1_Pooling": "Pooling"}
    modules = [{"idx": n, "path": path, "type": f"any.{kind}"} for n, (path, kind) in enumerate(kinds.items())]
    (folder / "modules.json").write_text(json.dumps(modules))
    (folder / "1_Pooling").mkdir()
    (folder / "1_Pooling" / "config.json").write_text('{"pooling_mode": "cls"}')
    assert "its embeddings are of Pooling (cls)" in " ".join(load_model(str(folder)).notes)


def beside(folder: Path) -> None:
    for path in (folder.parent / "base").iterdir():
        shutil.copy(path, folder)
    shutil.rmtree(folder.parent / "base")
    name(folder, ".")


def name(folder: Path, base: str) -> None:
    path = folder / "adapter_config.json"
    path.write_text(json.dumps({**json.loads(path.read_text()), "base_model_name_or_path": base}))


def wrapped(folder: Path) -> None:
    path = folder.parent / "base" / "model.safetensors"
    save_file({f"_orig_mod.{key}": one for key, one in load_file(path).items()}, path)


@pytest.mark.parametrize("edit", [beside, lambda folder: name(folder, "../base"), wrapped])
def test_the_base_may_lie_anywhere(edit: Callable[[Path], None], adapted: Adapted) -> None:
    folder, model = adapted(hub.AlbertForMaskedLM(hub.AlbertConfig(**SIZE, embedding_size=8)), lora())
    edit(folder)
    with torch.no_grad():
        expected = model.merge_and_unload().eval().base_model(IDS)[0]
        torch.testing.assert_close(load_model(str(folder)).run(IDS, None), expected, rtol=0, atol=1e-5)


def test_the_base_beside_an_adapter_is_not_the_model_of_the_working_folder(
    adapted: Adapted, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder, model = adapted(hub.AlbertForMaskedLM(hub.AlbertConfig(**SIZE, embedding_size=8)), lora())
    other = shutil.copytree(folder.parent / "base", folder.parent / "other")
    wrong = {key: 2 * one for key, one in load_file(other / "model.safetensors").items()}
    save_file(wrong, other / "model.safetensors")
    beside(folder)
    monkeypatch.chdir(other)
    with torch.no_grad():
        expected = model.merge_and_unload().eval().base_model(IDS)[0]
        torch.testing.assert_close(load_model(str(folder)).run(IDS, None), expected, rtol=0, atol=1e-5)


def test_weights_beside_an_adapter_are_not_taken_for_its_base_unasked(adapted: Adapted) -> None:
    folder, model = adapted(hub.AlbertForMaskedLM(hub.AlbertConfig(**SIZE, embedding_size=8)), lora())
    with torch.no_grad():
        merged = model.merge_and_unload().eval()
        merged.save_pretrained(folder)  # which leaves adapter_config.json and its weights where they are
        expected = merged.base_model(IDS)[0]
        torch.testing.assert_close(load_model(str(folder)).run(IDS, None), expected, rtol=0, atol=1e-5)
    shutil.rmtree(folder.parent / "base")
    with pytest.raises(ModelError, match=r'which is no folder here.* weights beside it are "\." if they are the base'):
        load_model(str(folder))


def lose_a_tensor(folder: Path) -> None:
    path = folder / "adapter_model.safetensors"
    save_file(dict(sorted(load_file(path).items())[1:]), path)


@pytest.mark.parametrize(
    ("edit", "message"),
    [
        (lose_a_tensor, r"adapter_model\.safetensors: with the base .*, lacks 'base_model\.model\.bert\..*lora_A"),
        (lambda folder: name(folder, "someone/base"), r"adapter \(LORA\) of the model 'someone/base', .* hf download"),
        (lambda folder: name(folder, "/gone"), "of the model '/gone', which is no folder here; give the folder"),
        (lambda folder: (folder / "adapter_model.safetensors").unlink(), r"adapter_config\.json without adapter_model"),
        (lambda folder: (folder / "adapter_config.json").unlink(), r"of which adapter_config\.json is missing"),
        (None, r"an adapter \(LORA\) of the model '.*base'; .* pip install 'headscope\[peft\]'"),
    ],
)
def test_an_adapter_that_cannot_be_merged_is_refused(
    edit: Callable[[Path], None] | None, message: str, adapted: Adapted, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder, _ = adapted(bert(), lora())
    monkeypatch.setitem(sys.modules, "peft", None) if edit is None else edit(folder)
    with pytest.raises(ValueError, match=message) as refused:
        load_model(str(folder))
    assert "\n" not in str(refused.value)


def test_an_adapter_that_changes_no_weights_is_refused(adapted: Adapted) -> None:
    settings = peft.PromptTuningConfig(task_type="SEQ_CLS", num_virtual_tokens=2)
    folder, _ = adapted(bert(), settings, hub.BertForSequenceClassification)
    with pytest.raises(ValueError, match="PROMPT_TUNING puts vectors before a text and changes no weights"):
        load_model(str(folder))
