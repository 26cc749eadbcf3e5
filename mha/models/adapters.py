"""Adapters of the library `peft` (LoRA and its kin), merged with their base into a folder of the cache."""

from __future__ import annotations

import hashlib
import importlib.util
import os
import shutil
import tempfile
import warnings
from collections import Counter
from copy import deepcopy
from pathlib import Path
from typing import Any

from mha.files import ADAPTER, ADAPTER_WEIGHTS, CONFIG, INDEX, WEIGHTS, read_file, read_json, tensor_files
from mha.messages import OneLineError
from mha.models.hub import load_hub_class
from mha.models.packages import ModelError, made, sha256

INSTALL = "pip install 'headscope[peft]'"
TOKENIZERS = ("tokenizer*", "special_tokens_map.json", "added_tokens.json", "vocab.*", "merges.txt", "*.model")
"Files of a tokenizer."

TASKS = {
    "SEQ_CLS": "AutoModelForSequenceClassification",
    "TOKEN_CLS": "AutoModelForTokenClassification",
    "QUESTION_ANS": "AutoModelForQuestionAnswering",
    "CAUSAL_LM": "AutoModelForCausalLM",
    "SEQ_2_SEQ_LM": "AutoModelForSeq2SeqLM",
    "FEATURE_EXTRACTION": "AutoModel",
}
"`task_type` of adapter_config.json -> the class whose modules the adapter names."

STEM = "base_model.model."
"What peft puts before the names of an adapter's tensors."


def adapter_config(folder: Path) -> dict[str, Any]:
    """Return adapter_config.json of a folder; raises ModelError, also where `peft` is not installed."""
    config = read_json(folder / ADAPTER)
    base = config.get("base_model_name_or_path")
    if importlib.util.find_spec("peft") is None:
        raise ModelError(
            f"{folder}: an adapter ({config.get('peft_type', 'PEFT')}) of the model {base!r}; to have it merged with "
            f"that: {INSTALL}"
        )
    if not (folder / ADAPTER_WEIGHTS).is_file():
        raise ModelError(
            f"{folder}: {ADAPTER} without {ADAPTER_WEIGHTS} (an adapter_model.bin is a pickle, which can run code and "
            f"is not read); if {WEIGHTS} has the adapter in it, take {ADAPTER} away"
        )
    return config


def without_adapters(model: Any) -> Any:
    """Return what an object of `peft` computes, its active adapters merged into a copy; any other object as it is.

    Raises ModelError for one of `transformers` that adapters were added to.
    """
    if not (hasattr(model, "peft_config") and hasattr(model, "merge_and_unload")):
        names = (name for name, _ in model.named_parameters()) if hasattr(model, "named_parameters") else ()
        if any(".base_layer." in name for name in names):  # by add_adapter, or what get_base_model returns
            what = "adapters are in its layers; give it as peft.get_peft_model makes it, or merge them first"
            raise ModelError(f"{type(model).__name__}: {what}")
        return model
    switched_off = any(getattr(part, "disable_adapters", False) is True for part in model.modules())
    if not switched_off:
        _refuse_tied(model, type(model).__name__)
        return deepcopy(model).merge_and_unload()
    copy = deepcopy(model)
    for part in [part for part in copy.modules() if hasattr(part, "original_module")]:
        for name in getattr(part, "modules_to_save", ()):  # which `unload` would put in the place of the original
            part.modules_to_save[name] = part.original_module
    return copy.unload()


def _refuse_tied(adapted: Any, where: object) -> None:
    """Raise ModelError where an adapter changes a matrix that two parts of a model share: merged, both would change."""
    shared = Counter(id(one) for part in adapted.modules() for one in part.parameters(recurse=False))
    for name, part in adapted.named_modules():
        weight = getattr(getattr(part, "base_layer", None), "weight", None)
        if weight is not None and shared[id(weight)] > 1:
            raise ModelError(
                f"{where}: the adapter changes {name.removeprefix(STEM)}, whose matrix another part shares, so that it "
                "cannot be merged; untie the base (tie_word_embeddings) before training the adapter"
            )


def merged(folder: Path, base: Path, config: dict[str, Any]) -> Path:
    """Return a folder of `base` and an adapter merged; raises ModelError where that cannot be exact."""
    files = {f"adapter/{path.name}": path for path in (folder / ADAPTER, folder / ADAPTER_WEIGHTS)}
    tokenizer = _tokenizer(folder) or _tokenizer(base)
    weights = [*dict.fromkeys(tensor_files(base).values())]
    files |= {f"base/{path.name}": path for path in (base / CONFIG, *weights)}
    files |= {f"tokenizer/{path.name}": path for path in tokenizer}
    of = {name: sha256([path]) for name, path in files.items()}
    digest = hashlib.sha256("".join(f"{name} {one}\n" for name, one in sorted(of.items())).encode()).hexdigest()

    def make(target: Path) -> None:
        try:
            with warnings.catch_warnings():  # peft and transformers warn of one another's old names
                warnings.simplefilter("ignore")
                _merge(folder, base, config, target)
        except OneLineError:
            raise
        except Exception as error:  # of peft, of transformers, of torch
            what = f"{type(error).__name__}: {error}".splitlines()[0]
            raise ModelError(f"{folder}: peft cannot merge it with {base} ({what})") from error
        for path in tokenizer:
            shutil.copyfile(path, target / path.name)

    return made(f"adapter-{digest[:16]}", of, make)


def _tokenizer(folder: Path) -> list[Path]:
    return sorted({path for pattern in TOKENIZERS for path in folder.glob(pattern) if path.is_file()})


def _merge(folder: Path, base: Path, config: dict[str, Any], target: Path) -> None:
    import peft

    settings: Any = peft.PeftConfig.from_pretrained(str(folder))
    if settings.is_prompt_learning:
        raise ModelError(f"{folder}: {settings.peft_type.value} puts vectors before a text and changes no weights")
    settings.inference_mode = True
    model, headless = _base_model(folder, base, config)
    body = "" if model.base_model_prefix not in dict(model.named_children()) else f"{STEM}{model.base_model_prefix}."
    adapted: Any = peft.PeftModel(model, settings)
    expected = peft.get_peft_model_state_dict(adapted, save_embedding_layers=False)
    tensors = read_file(folder / ADAPTER_WEIGHTS)
    for key in sorted(expected.keys() | tensors.keys()):
        if key in expected and key in tensors and expected[key].shape == tensors[key].shape:
            continue
        if key.startswith(body or STEM):
            what = "lacks" if key not in tensors else "has another shape of" if key in expected else "has no place for"
            raise ModelError(f"{folder / ADAPTER_WEIGHTS}: with the base {base}, {what} {key!r}")
        of_head = tensors.pop(key, None) is not None
        headless |= of_head and key in expected  # trained for other labels than the base's head has
    _refuse_tied(adapted, folder)
    peft.set_peft_model_state_dict(adapted, {**expected, **tensors})
    whole: Any = adapted.merge_and_unload()
    kept = whole.base_model if headless else whole
    apart = {key: tensor.clone() for key, tensor in kept.state_dict().items()}  # each is written, tied or not
    kept.save_pretrained(target, state_dict=apart)


def _base_model(folder: Path, base: Path, config: dict[str, Any]) -> tuple[Any, bool]:
    """Return the base as the class that the adapter is of, and whether its folder lacks weights of a head."""
    import transformers

    named = (config.get("auto_mapping") or {}).get("base_model_class", "")
    own = (read_json(base / CONFIG).get("architectures") or ["AutoModel"])[0]
    kind = named or TASKS.get(str(config.get("task_type")), own)
    if not hasattr(transformers, kind):
        raise ModelError(f"{folder}: an adapter of a {kind}, which is no class of transformers")
    with tempfile.TemporaryDirectory() as plain:  # an adapter beside its base would be put into it by transformers too
        for path in (base / CONFIG, base / INDEX, *dict.fromkeys(tensor_files(base).values())):
            if path.is_file():
                os.symlink(path.resolve(), Path(plain) / path.name)
        return load_hub_class(getattr(transformers, kind), plain)
