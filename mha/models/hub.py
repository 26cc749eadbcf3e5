"""Models of `transformers`, loaded from their folders."""

from __future__ import annotations

import logging
import re
from typing import Any

import torch
from torch import nn

from mha.own_attention import attend_fully

POOLER = re.compile(r"(^|\.)pooler\.")
"Weights that a folder may lack."

OF_A_LAYER = re.compile(r"\.\d+\.|embed")
"Weights that a folder may not have without a place for them; those of a task's head it may."


class HeadMissingError(ValueError):
    """A model of `transformers` that has no trained masked-LM head."""


def load_hub_model(folder: str, *, random_seed: int | None = None, whole: bool = False) -> nn.Module:
    """Load the encoder of a model folder (safetensors only, no remote code), in evaluation mode.

    Of an encoder-decoder the encoder is returned, or with `whole` all of it, always in float32. With `random_seed`
    the architecture is built with randomly initialised weights. Raises ValueError for weights that the folder lacks,
    which `transformers` would make up at random, for such that no layer has a place for, and for wrong shapes.
    """
    from transformers import AutoConfig, AutoModel

    config = AutoConfig.from_pretrained(folder, trust_remote_code=False, local_files_only=True)
    auto: Any = AutoModel
    if random_seed is None:
        model = _whole(auto, folder)
    else:
        with torch.random.fork_rng(devices=[]):
            torch.manual_seed(random_seed)
            model = auto.from_config(config, trust_remote_code=False, dtype=torch.float32)
    attend_fully(model)
    encoder = model.get_encoder() if config.is_encoder_decoder and not whole else model
    assert isinstance(encoder, nn.Module)
    return encoder.eval()


def load_hub_masked_lm(folder: str, *, random_seed: int | None = None) -> nn.Module:
    """Load a model folder with its masked-LM head (safetensors only, no remote code), in evaluation mode and float32.

    With `random_seed` the architecture is built with randomly initialised weights. Raises HeadMissingError, with the
    reason, where the architecture has no such head, the folder has no weights for it (`transformers` would make them
    up), or a decoder reads the text once more.
    """
    from transformers import MODEL_FOR_MASKED_LM_MAPPING, AutoConfig, AutoModelForMaskedLM

    config = AutoConfig.from_pretrained(folder, trust_remote_code=False, local_files_only=True)
    if config.is_encoder_decoder:
        raise HeadMissingError(f"a {config.model_type} is an encoder with a decoder, which predicts from left to right")
    if type(config) not in MODEL_FOR_MASKED_LM_MAPPING:
        raise HeadMissingError(f"transformers has none for a {config.model_type}")
    auto: Any = AutoModelForMaskedLM
    if random_seed is not None:
        with torch.random.fork_rng(devices=[]):
            torch.manual_seed(random_seed)
            fresh: nn.Module = auto.from_config(config, trust_remote_code=False, dtype=torch.float32)
        attend_fully(fresh)
        return fresh.eval()
    model, info = _load(auto, folder)
    if lacking := sorted([*info["missing_keys"], *(key for key, *_ in info["mismatched_keys"])]):
        raise HeadMissingError(f"{lacking[0]!r} is not among its weights")
    assert isinstance(model, nn.Module)
    attend_fully(model)
    return model.eval()


def _whole(auto: Any, folder: str) -> Any:
    """Return a model all of whose weights come from the folder, but for a pooler, which no head has a part in."""
    model, info = _load(auto, folder)
    for key, found, expected in info["mismatched_keys"]:
        raise ValueError(f"{key!r} has shape {[*found]}, expected {[*expected]} (from config.json)")
    for what, keys in (
        ("is not among its weights", [key for key in info["missing_keys"] if not POOLER.search(key)]),
        ("has no place in the model", [key for key in info["unexpected_keys"] if OF_A_LAYER.search(key)]),
    ):
        if keys:
            more = f" (and {len(keys) - 1} more)" if len(keys) > 1 else ""
            raise ValueError(f"{sorted(keys)[0]!r} {what}{more}")
    return model


def _load(auto: Any, folder: str) -> tuple[Any, dict[str, Any]]:
    from transformers.utils.logging import get_verbosity, set_verbosity

    settings = {"trust_remote_code": False, "use_safetensors": True, "dtype": torch.float32, "local_files_only": True}
    report = {"output_loading_info": True, "ignore_mismatched_sizes": True}  # wrong shapes are refused by name
    before = get_verbosity()
    set_verbosity(logging.ERROR)  # what is missing and what is left over is looked through by who called
    try:
        model, info = auto.from_pretrained(folder, **settings, **report)
    finally:
        set_verbosity(before)
    return model, info
