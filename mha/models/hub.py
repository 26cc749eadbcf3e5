"""Models of `transformers` from their folders: no weight made up, none without a place, no code of the folder run."""

from __future__ import annotations

import inspect
import logging
import re
from collections.abc import Mapping
from contextlib import suppress
from copy import deepcopy
from pathlib import Path
from typing import Any

import torch
from torch import nn

from mha.device import device_of
from mha.encoder.families import COUNTING
from mha.files import (
    CONFIG,
    find_prefix,
    read_tensors,
    refuse_integers,
    refuse_several,
    tensor_files,
    weights_path,
    without,
)
from mha.foreign import attention_setting, set_attention
from mha.models.packages import ModelError
from mha.models.tokenizer import SENTENCES
from mha.own_attention import attend_fully

POOLER = re.compile(r"(^|\.)pooler\.")
"Weights that a folder may lack."

PRECISE, ROUGH = 1e-3, 5e-2
"""By how much of its largest number the output of a model object may differ from that of a plain model, both in
float32: on the CPU, and on other devices."""
READ = 512
"Pieces that both read, at the most: what code of one's own does may begin with longer texts."


class HeadMissingError(ValueError):
    """A model of `transformers` that has no trained head of a kind."""


HEADS = {
    "MaskedLM": "MODEL_FOR_MASKED_LM_MAPPING",
    "SequenceClassification": "MODEL_FOR_SEQUENCE_CLASSIFICATION_MAPPING",
    "TokenClassification": "MODEL_FOR_TOKEN_CLASSIFICATION_MAPPING",
    "MultipleChoice": "MODEL_FOR_MULTIPLE_CHOICE_MAPPING",
}
"Kind of a head, as AutoModelFor... is called -> what `transformers` calls the models that can have one."


def load_hub_model(folder: str, *, random_seed: int | None = None, whole: bool = False) -> nn.Module:
    """Load the encoder of a model folder (safetensors only, no remote code), in evaluation mode.

    Of an encoder-decoder the encoder is returned, or with `whole` all of it, always in float32. What a wrapper puts
    before all names is left out and kept as `prefix`; `left_out` names the tensors that are none of the model's. With
    `random_seed` the architecture is built with randomly initialised weights. Raises ValueError for weights that the
    folder lacks, which `transformers` would make up at random, for such of a layer or an embedding that have no place,
    for wrong shapes, and for a model that does not read text.
    """
    from transformers import AutoModel

    config = _config(folder)
    model, info = _open(AutoModel, folder, config, random_seed)
    if model.main_input_name != "input_ids":
        raise ValueError(f"a {config.model_type} reads {model.main_input_name}, no text")
    both = config.is_encoder_decoder or hasattr(model, "shared")  # T5's encoder, saved alone
    encoder = model.get_encoder() if both and not whole else model
    assert isinstance(encoder, nn.Module)
    if not hasattr(encoder, "config"):
        raise ValueError(f"the encoder of a {config.model_type} is no model by itself, with a config")
    if random_seed is None:
        kept: Any = encoder
        kept.prefix, kept.left_out = info["prefix"], _checked(model, encoder, info)
    return encoder.eval()


def load_hub_head(folder: str, kind: str, *, random_seed: int | None = None) -> nn.Module:
    """Load a model folder with a head, one of HEADS (safetensors only, no remote code), in eval mode and float32.

    With `random_seed` the architecture is built with randomly initialised weights. Raises HeadMissingError, with the
    reason, where the architecture has no such head, the folder has no weights for it (`transformers` would make them
    up), or a decoder reads the text once more.
    """
    import transformers

    config = _config(folder)
    if config.is_encoder_decoder:
        raise HeadMissingError(f"a {config.model_type} is an encoder with a decoder, which predicts from left to right")
    if type(config) not in getattr(transformers, HEADS[kind]):
        raise HeadMissingError(f"transformers has none for a {config.model_type}")
    model, info = _open(getattr(transformers, f"AutoModelFor{kind}"), folder, config, random_seed)
    if lacking := sorted([*info["missing_keys"], *(key for key, *_ in info["mismatched_keys"])]):
        raise HeadMissingError(f"{lacking[0]!r} is not among its weights")
    assert isinstance(model, nn.Module)
    return model.eval()


def load_hub_class(kind: Any, folder: str) -> tuple[Any, bool]:
    """Return a model of a class of `transformers`, and whether the folder lacks weights of its head.

    Raises ValueError as `load_hub_model` does.
    """
    model, info = _load(kind, folder, _config(folder))
    _checked(model, model.base_model, info)
    lacking = {*info["missing_keys"], *(key for key, *_ in info["mismatched_keys"])}
    return model.eval(), not lacking.isdisjoint(_others(model, model.base_model))


@torch.no_grad()
def refuse_own_code(model: Any, tokenizer: Any, folder: str, longest: int) -> None:
    """Raise ModelError for a model object whose numbers are not those of a plain one with its weights, in `folder`.

    A changed forward, a module in the place of another and a hook are code, which is not read. What wraps a model of
    `transformers` is not asked, such as a compiled one or a SentenceTransformer. Both read as much as READ and
    `longest`, the model's longest input, allow. The object is put back into the mode that it was in.
    """
    from transformers import PreTrainedModel

    model = next((part for part in model.modules() if isinstance(part, PreTrainedModel)), model)
    theirs = (one for one in type(model).__mro__ if one.__module__.startswith("transformers."))
    if (kind := next((one for one in theirs if issubclass(one, PreTrainedModel)), None)) is None:
        return
    read, lacks = model, True
    other: Any = None
    if runs := kind.forward is not nn.Module.forward:  # as that of a base class is, such as BertPreTrainedModel
        with suppress(ValueError):  # of a head of one's own, which has no place
            other, lacks = load_hub_class(kind, folder)
    if lacks:
        inner = (part for part in model.modules() if part is not model and isinstance(part, PreTrainedModel))
        read = model.base_model if model.base_model is not model or runs else next(inner, model)
        read = model.get_encoder() if model.config.is_encoder_decoder else read
        other = load_hub_model(folder)
    given = tokenizer(" ".join(SENTENCES[0] * READ), truncation=False, verbose=False, return_tensors="pt")
    known = inspect.signature(other.forward).parameters
    pieces = [*range(min(READ, longest) - 1), -1]  # the last is that of the end, which some classes ask for
    inputs = {name: numbers[:, pieces] for name, numbers in given.items() if name in known}
    if "decoder_input_ids" in known:
        inputs["decoder_input_ids"] = inputs["input_ids"]
    training = [part for part in model.modules() if part.training]
    try:
        expected, place = _first(other, inputs), device_of(read)
        exact = all(one.dtype == torch.float32 for one in read.parameters())
        read = (read if exact else deepcopy(read).float()).eval()
        found = _first(read, {name: numbers.to(place) for name, numbers in inputs.items()})
    except Exception as error:  # whatever code of one's own raises
        what = f"it cannot be run on pieces of text alone ({error}); give the part that can, such as its encoder"
        raise ModelError(f"{type(model).__name__}: {what}") from error
    finally:
        for part in training:
            part.training = True
    near = (PRECISE if place.type == "cpu" else ROUGH) * float(expected.abs().max())
    if found.shape != expected.shape or not bool((found - expected).abs().max() <= near):
        raise ModelError(
            f"{type(model).__name__}: of a sentence it makes other numbers than a {type(other).__name__} with its "
            "weights: it has code of its own (a forward, a module in the place of another, a hook), which headscope "
            "does not read; give the part that has none, such as its encoder"
        )


def _first(module: Any, inputs: dict[str, Any]) -> torch.Tensor:
    """Return the first tensor of what a module gives, of choices where it takes such: the last vectors, or logits."""
    if any("MultipleChoice" in one.__name__ for one in type(module).__mro__):
        inputs = {name: numbers[:, None] for name, numbers in inputs.items()}
    found = module(**inputs)
    if not isinstance(found, torch.Tensor):
        found = next(iter(found.values() if isinstance(found, Mapping) else found))
    first: torch.Tensor = found.float().cpu()
    return first


def _config(folder: str) -> Any:
    """Return the config of a model, without what it says of programs and of the form of outputs.

    Raises ValueError where it says that its heads cannot be read as they are.
    """
    from transformers import AutoConfig

    config: Any = AutoConfig.from_pretrained(folder, trust_remote_code=False, local_files_only=True)
    if lost := getattr(config, "pruned_heads", None):
        raise ValueError(f"{CONFIG} has pruned_heads {lost}: heads were taken out, and transformers cannot place them")
    if getattr(config, "languages", None) and not getattr(config, "default_language", None):
        raise ValueError(
            f"it reads each text in one language: add to {CONFIG} default_language, one of {config.languages}"
        )
    parts = [*(getattr(config, "sub_configs", None) or {})]
    other = any(word in part for part in parts for word in ("vision", "audio"))
    if other or not isinstance(getattr(config, "num_hidden_layers", None), int):
        more = f", but {', '.join(parts)}; save the part that reads text alone" if parts else ""
        raise ValueError(f"a {config.model_type} is no one stack of layers that reads text{more}")
    config.return_dict = True
    if attention_setting(config) not in (None, "sdpa", "eager"):  # of a library that need not be here
        set_attention(config, "eager")
    return config


def _open(auto: Any, folder: str, config: Any, seed: int | None) -> tuple[Any, dict[str, Any]]:
    """Return a model that attends to all pieces, and what `transformers` says of its names; with a seed a new one."""
    if seed is None:
        model, info = _load(auto, folder, config)
    else:
        with torch.random.fork_rng(devices=[]):
            torch.manual_seed(seed)
            model = auto.from_config(config, trust_remote_code=False, dtype=torch.float32)
        info = {"missing_keys": (), "mismatched_keys": ()}
    attend_fully(model)
    return model, info


def _checked(model: Any, encoder: nn.Module, info: dict[str, Any]) -> tuple[str, ...]:
    """Return the names of tensors that are left out; all weights of the encoder but a pooler come from the folder."""
    others = _others(model, encoder)
    for key, found, expected in info["mismatched_keys"]:
        if key not in others:
            raise ValueError(f"{key!r} has shape {[*found]}, expected {[*expected]} (from {CONFIG})")
    parts = {key.partition(".")[0] for key in (*model.state_dict(), *encoder.state_dict())}
    left = [key for key in info["unexpected_keys"] if not COUNTING.search(key)]
    unplaced = {key: key.removeprefix(f"{model.base_model_prefix}.") for key in left}
    for what, keys in (
        ("is not among its weights", [k for k in info["missing_keys"] if k not in others and not POOLER.search(k)]),
        ("has no place in the model", [key for key, name in unplaced.items() if name.partition(".")[0] in parts]),
    ):
        if keys:
            more = f" (and {len(keys) - 1} more)" if len(keys) > 1 else ""
            raise ValueError(f"{sorted(keys)[0]!r} {what}{more}")
    return tuple(sorted(unplaced))


def _others(model: Any, encoder: nn.Module) -> set[str]:
    """Return the names of the parameters of a model that its encoder has no part in."""
    own = {id(parameter) for parameter in encoder.parameters()}
    return {name for name, one in model.named_parameters(remove_duplicate=False) if id(one) not in own}


def _load(auto: Any, folder: str, config: Any) -> tuple[Any, dict[str, Any]]:
    """Return a model of a folder and what `transformers` says of its names, without what a wrapper puts before all."""
    place = Path(folder)
    names = tensor_files(place)
    refuse_integers(names)
    model, info = _quiet(auto, folder, config=config)
    own = {name for name, _ in model.named_parameters() if not POOLER.search(name)}
    prefixes = find_prefix(own, info["unexpected_keys"]) if own <= info["missing_keys"] else []
    if not prefixes:
        return model, {**info, "prefix": ""}
    refuse_several(weights_path(place), prefixes)
    inner = without(prefixes[0], read_tensors(place))
    model, info = _quiet(type(model), None, config=model.config, state_dict=inner)
    outer = {name for name in names if not name.startswith(prefixes[0])}
    return model, {**info, "unexpected_keys": outer.union(info["unexpected_keys"]), "prefix": prefixes[0]}


def _quiet(kind: Any, folder: str | None, **more: Any) -> tuple[Any, dict[str, Any]]:
    from transformers.utils import logging as theirs

    settings = {"trust_remote_code": False, "use_safetensors": True, "dtype": torch.float32, "local_files_only": True}
    report = {"output_loading_info": True, "ignore_mismatched_sizes": True}  # wrong shapes are refused by name
    before, bars = theirs.get_verbosity(), theirs.is_progress_bar_enabled()
    theirs.disable_progress_bar()  # type: ignore[no-untyped-call]  # transformers leaves it untyped
    theirs.set_verbosity(logging.ERROR)  # what is missing and what is left over is looked through by who called
    try:
        model, info = kind.from_pretrained(folder, **settings, **report, **more)
    finally:
        theirs.set_verbosity(before)
        if bars:
            theirs.enable_progress_bar()  # type: ignore[no-untyped-call]  # as above
    return model, info
