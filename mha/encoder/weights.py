"""BERT-family weights into `Encoder` and back, with every key and shape checked."""

from __future__ import annotations

import difflib
import json
import os
import shutil
import tempfile
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import fields
from pathlib import Path
from typing import Any

import torch
from safetensors.torch import save_file
from torch import Tensor
from torch.overrides import TorchFunctionMode

from mha.encoder.encoder import Encoder, EncoderConfig
from mha.encoder.families import (
    DECODER,
    FAMILIES,
    PIECES,
    POOLER,
    PRUNED,
    SETTINGS_REFUSED,
    Family,
    read_pruned,
    write_pruned,
)
from mha.files import CONFIG, WEIGHTS, WeightsError, find_prefix, read_json, read_tensors, refuse_several, weights_path

__all__ = ["FAMILIES", "WeightsError", "export_encoder", "load_encoder", "read_config"]

DEFAULTS = {f.name: f.default for f in fields(EncoderConfig)}
SIZES = ("vocab", "layers", "heads", "model", "feed_forward", "positions", "embedding")


def read_config(folder: Path) -> EncoderConfig:
    """Read config.json of a model folder. Raises WeightsError for what the encoder does not do."""
    path = folder / CONFIG
    found = read_json(path)
    kind = str(found.get("model_type"))
    if kind not in FAMILIES:
        raise WeightsError(f"{path}: model_type {kind!r} is none of {', '.join(FAMILIES)}{_hint(kind, FAMILIES)}")
    family = FAMILIES[kind]
    causal = family.causal and found.get(DECODER) is True
    for key, possible in SETTINGS_REFUSED.items():
        if key in found and found[key] not in possible and not (causal and key == DECODER):
            raise WeightsError(f"{path}: {key} is {found[key]!r}, the encoder can only do {possible[0]!r}")
    values = {**family.defaults, **{ours: _setting(path, found, family, ours) for ours in family.settings}}
    if family.positions_after_padding:
        values["position_offset"] = values["padding"] + 1
        values["positions"] -= values["position_offset"]
    try:
        return EncoderConfig(family=kind, causal=causal, pruned=read_pruned(found.get(PRUNED)), **values)
    except ValueError as error:
        raise WeightsError(f"{path}: {error}") from None


def _setting(path: Path, found: dict[str, Any], family: Family, ours: str) -> Any:
    theirs = family.settings[ours]
    value = found.get(theirs)
    if value is None:
        if ours in SIZES:
            raise WeightsError(f"{path}: {theirs} is missing{_hint(theirs, found)}")
        return family.defaults.get(ours, DEFAULTS[ours])
    kind = str if ours == "activation" else float if "dropout" in ours or ours == "eps" else int
    if isinstance(value, bool) or not isinstance(value, (int, float) if kind is float else kind):
        raise WeightsError(f"{path}: {theirs} is {value!r}, expected {'a name' if kind is str else 'a number'}")
    return kind(value)


def load_encoder(folder: Path) -> Encoder:
    """Load a model folder (safetensors only, one file or shards) into an Encoder in evaluation mode, as float32.

    What a wrapper puts before all names is left out and kept as `encoder.prefix`. Pooler and masked-LM head are there
    where the file has them, a head only if its decoder is the piece embedding. `encoder.left_out` names the tensors
    that are none of the encoder's. Raises WeightsError for one of an embedding or a layer that is missing, unknown or
    of a wrong shape.
    """
    config = read_config(folder)
    family, path, tensors = FAMILIES[config.family], weights_path(folder), read_tensors(folder)
    prefix, places = _places(path, family, config.layers, tensors)
    tied = read_json(folder / CONFIG).get("tie_word_embeddings") is not False
    places, repeated, tied_head = _tie(family, tied, places, tensors)
    pooler = any(key in places for key in family.weights(POOLER, 1))
    if not (lm_head := family.weights(family.head, 1) <= places.keys()):  # none, or one of another make
        places = {name: key for name, key in places.items() if family.of_body(name)}
    with _NoInitialisation():
        encoder = Encoder(config, pooler=pooler, lm_head=lm_head)
    encoder.untied_head = not tied_head
    encoder.prefix = "" if prefix == family.prefix else prefix
    encoder.left_out = tuple(sorted(tensors.keys() - {*places.values()} - repeated))
    names = family.names(encoder)
    _check_keys(path, [key for theirs in names.values() for key in theirs], [*places])
    for ours, parameter in encoder.named_parameters():
        parts = parameter.data.chunk(len(names[ours]))
        for key, part in zip(names[ours], parts, strict=True):
            _check_tensor(path, key, tensors[places[key]], part.shape)
            part.copy_(tensors[places[key]])
    return encoder.eval()


def _places(path: Path, family: Family, layers: int, names: Iterable[str]) -> tuple[str, dict[str, str]]:
    """Return what stands before the encoder's names; and the family's names, its head's too, -> the file's.

    Names of other tensors are left out.
    """
    modern = {
        name.replace("LayerNorm.gamma", "LayerNorm.weight").replace("LayerNorm.beta", "LayerNorm.bias"): name
        for name in names
    }
    body, head = (find_prefix(family.weights(table, layers), modern) for table in (family.body, family.head))
    refuse_several(path, body)
    before = {
        owns: prefixes[0] if prefixes else "" for owns, prefixes in ((family.of_body, body), (family.of_head, head))
    }
    places = {
        name.removeprefix(prefix): key
        for owns, prefix in before.items()
        for name, key in modern.items()
        if name.startswith(prefix) and owns(name.removeprefix(prefix))
    }
    return before[family.of_body], places


def _tie(
    family: Family, tied: bool, places: Mapping[str, str], tensors: Mapping[str, Tensor]
) -> tuple[dict[str, str], set[str], bool]:
    """Return `places` without second names, the file's names of tensors that only repeat one, and whether a head may.

    A head is left out whose decoder is no repetition, or is not there and not `tied`: it is none that an Encoder has.
    """
    once = {name: key for name, key in places.items() if name not in family.tied}
    repeated, tied_head = set(), True
    for second, first in family.tied.items():
        key = places.get(second)
        if key is None:
            tied_head &= tied or first != PIECES
        elif tied and first not in once:
            once[first] = key
        elif first in once and torch.equal(tensors[key], tensors[once[first]]):
            repeated.add(key)
        else:
            tied_head = False
    body = {name: key for name, key in once.items() if family.of_body(name)}
    return (once, repeated, True) if tied_head or body == once else (body, repeated, False)


class _NoInitialisation(TorchFunctionMode):
    """Leaves memory as it is where torch.nn.init would fill it with numbers that loading writes over."""

    def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        if getattr(func, "__module__", "") == "torch.nn.init":
            return args[0] if args else kwargs["tensor"]
        return func(*args, **(kwargs or {}))


def _check_keys(path: Path, expected: Sequence[str], found: Sequence[str]) -> None:
    missing = [key for key in expected if key not in found]
    unknown = [key for key in found if key not in expected]
    if missing:
        raise WeightsError(f"{path}: {missing[0]!r} is missing{_more(missing)}{_hint(missing[0], unknown, 'is it')}")
    if unknown:
        raise WeightsError(f"{path}: unknown key {unknown[0]!r}{_more(unknown)}{_hint(unknown[0], expected)}")


def _check_tensor(path: Path, key: str, tensor: Tensor, expected: torch.Size) -> None:
    if tensor.shape != expected:
        raise WeightsError(f"{path}: {key!r} has shape {[*tensor.shape]}, expected {[*expected]} (from {CONFIG})")
    if not tensor.is_floating_point():
        raise WeightsError(f"{path}: {key!r} holds {tensor.dtype}, expected floating-point numbers")


def _more(keys: Sequence[str]) -> str:
    return f" (and {len(keys) - 1} more)" if len(keys) > 1 else ""


def _hint(word: object, known: Iterable[str], question: str = "did you mean") -> str:
    close = difflib.get_close_matches(str(word), known, n=1)
    return f"; {question} {close[0]!r}?" if close else ""


def export_encoder(encoder: Encoder, folder: Path) -> None:
    """Write config.json and model.safetensors that `transformers` opens as the encoder's family.

    An encoder that does not divide scores by sqrt(head_dim) is written with its query projections times sqrt(head_dim),
    for the family always divides: its maps are the same, and loaded back it is an encoder that divides. One that lost
    heads is written smaller, with `pruned_heads` (`mha.encoder.families.PRUNED`) as `transformers` 4 did; version 5
    refuses such a folder for the shapes of its matrices, and opens what `mha.causal.pruning.zeroed` makes. With a
    language-model head the folder is one of <family>ForMaskedLM, or BertLMHeadModel where it is causal, else of
    <family>Model; a pooler beside a head is written too, and `transformers` says that it leaves it out. Each file
    appears whole or not at all. Raises WeightsError for an encoder that the family cannot represent.
    """
    config = encoder.config
    if config.family not in FAMILIES:
        raise WeightsError(f"family {config.family!r} is none of {', '.join(FAMILIES)}")
    family = FAMILIES[config.family]
    _refuse_export(encoder, family)
    prefix = "" if encoder.lm_head is None else family.prefix
    tensors: dict[str, Tensor] = {}
    names = family.names(encoder)
    for ours, parameter in encoder.named_parameters():
        parts = list(parameter.detach().cpu().chunk(len(names[ours])))
        if not config.scale and ".attention.project." in ours:
            parts[0] = parts[0] * (config.model // config.heads) ** 0.5
        before = "" if ours.startswith("lm_head.") else prefix
        tensors |= {before + key: part.clone() for key, part in zip(names[ours], parts, strict=True)}
    _write_folder(folder, _settings(encoder, family), tensors)


def _settings(encoder: Encoder, family: Family) -> dict[str, Any]:
    config = encoder.config
    values = {theirs: getattr(config, ours) for ours, theirs in family.settings.items()}
    values["max_position_embeddings"] = config.positions + config.position_offset
    if "embedding" in family.settings:
        values["embedding_size"] = config.embedding or config.model
    kind = "Model" if encoder.lm_head is None else "LMHeadModel" if config.causal else "ForMaskedLM"
    return {
        "architectures": [family.architecture + kind],
        "model_type": config.family,
        **values,
        **({PRUNED: write_pruned(config.pruned)} if config.pruned else {}),
        **({DECODER: True} if config.causal else {}),
        "tie_word_embeddings": True,
        "dtype": str(encoder.pieces.weight.dtype).removeprefix("torch."),
    }


def _refuse_export(encoder: Encoder, family: Family) -> None:
    """Raise WeightsError where config.json of the family has no words for what the encoder does."""
    config, name = encoder.config, encoder.config.family
    fixed = {"norm": "post", "scale": config.scale, "position_offset": 0, "embedding": None, "eps": DEFAULTS["eps"]}
    fixed |= family.defaults
    if family.positions_after_padding:
        fixed["position_offset"] = config.padding + 1
    if not family.causal:
        fixed["causal"] = False
    for ours, expected in fixed.items():
        if ours not in family.settings and (value := getattr(config, ours)) != expected:
            raise WeightsError(f"{name} cannot represent {ours}={value!r}, only {expected!r}{_other_family(ours)}")
    if "token_types" in family.settings and not config.token_types:
        raise WeightsError(f"{name} cannot represent token_types=0; 'distilbert' has none")
    if encoder.pooler is not None and "pooler" not in family.body:
        raise WeightsError(f"{name} has no pooler")


def _other_family(ours: str) -> str:
    norm = "; pre-norm is written as 'roberta-prelayernorm', whose positions start at padding + 1"
    return norm if ours == "norm" else ""


def _write_folder(folder: Path, settings: dict[str, Any], tensors: dict[str, Tensor]) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    partial = Path(tempfile.mkdtemp(prefix=".partial-", dir=folder))
    try:
        save_file(tensors, partial / WEIGHTS, metadata={"format": "pt"})
        (partial / CONFIG).write_text(json.dumps(settings, indent=2) + "\n", "utf-8")
        for name in (WEIGHTS, CONFIG):
            os.replace(partial / name, folder / name)
    finally:
        shutil.rmtree(partial)
