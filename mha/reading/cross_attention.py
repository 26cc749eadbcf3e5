"""Models of an encoder and a decoder: who attends to whom within them and between them."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch
from torch import Tensor

from mha.hooks import watch
from mha.models.folders import find_model
from mha.models.maps import READERS
from mha.models.model import Model
from mha.models.packages import ModelError
from mha.pieces import CLS, SEP, Pieces
from mha.watches import Seen

KINDS = ("encoder", "decoder", "cross")
"""The source attends to itself; the target attends to itself, up to the piece that is read; the target attends to the
source. Each has its layers, numbered from 0 (Vaswani et al. 2017, section 3.2.3)."""

TEXT = "a"
"What is cut to see what a tokenizer writes before a text."


def has_decoder(model: Model) -> bool:
    """Return whether a model is an encoder-decoder, or the encoder of one."""
    return bool(getattr(getattr(model.module, "config", None), "is_encoder_decoder", False))


def decoder_input(model: Model, target: Pieces) -> Pieces:
    """Return what a decoder reads when it is told a target: its start piece, and the target up to the last word.

    What stands at a place is read there, and the next piece is predicted. Where a tokenizer writes the language before
    a text, as that of NLLB does, it is the target's. Raises ModelError for a model without a decoder, and where that
    language is not known.
    """
    if not has_decoder(model):
        raise ModelError(f"{model.name} is a {model.architecture}, which has no decoder that could read a target")
    config: Any = model.module.config
    if (start := getattr(config, "decoder_start_token_id", None)) is None:
        raise ModelError(f"{model.name}: its config.json has no decoder_start_token_id, so its decoder cannot begin")
    end = len(target) - (target.word[-1:].tolist() == [SEP])
    begin = int(np.argmax(target.word != CLS))
    language = _language(model) if begin else None  # mBART writes it after a text
    before = [start, *(target.ids[:begin] if language is None else language)]
    ids = np.concatenate([before, target.ids[begin:end]]).astype(np.int32)
    word = np.concatenate([[CLS] * len(before), target.word[begin:end]]).astype(np.int32)
    return Pieces(ids, word, target.words)


def _language(model: Model) -> list[int] | None:
    """Return what a tokenizer of several languages writes before a target; None for other tokenizers."""
    from transformers import AutoTokenizer

    tokenizer: Any = AutoTokenizer.from_pretrained(find_model(model.name), local_files_only=True)
    if not hasattr(tokenizer, "tgt_lang"):
        return None
    if not tokenizer.tgt_lang:
        raise ModelError(
            f"{model.name}: its tokenizer writes the language of a target before it, and does not say which: "
            f"add tgt_lang to tokenizer_config.json, as src_lang is {tokenizer.src_lang!r}"
        )
    found = tokenizer(text_target=TEXT, return_special_tokens_mask=True)
    return list(found["input_ids"][: found["special_tokens_mask"].index(0)])


@torch.inference_mode()
def cross_maps(model: Model, source: Pieces, target: Pieces, *, maps: str = "weights") -> dict[str, list[Tensor]]:
    """Return the maps of pieces of every kind of KINDS, a layer each: [1, head, query, key].

    `model` is loaded as a `whole`, `target` comes from `decoder_input`, `maps` is "weights" or "norms" as in
    `mha.models.maps.MAPS`: rollout mixes what a layer is made of, which in a decoder is more than one text. Raises
    ModelError for it, HookError or AttentionError for a model whose attention cannot be seen.
    """
    if maps == "rollout":
        raise ModelError("rollout follows one text through the layers, and a decoder reads two: take weights or norms")
    module: Any = model.module
    encoder = set(module.get_encoder().modules())
    found: dict[str, list[Tensor]] = {kind: [] for kind in KINDS}
    reader = READERS[maps]()

    def see(seen: Seen) -> None:
        if (pattern := reader.read(seen)) is not None:
            inside = seen.call is not None and seen.call.module in encoder
            found["encoder" if inside else "cross" if seen.crossed else "decoder"].append(pattern.cpu())

    with watch(module, see, reader.sites), model.arithmetic():
        read, told = (torch.from_numpy(pieces.ids).long()[None].to(model.device) for pieces in (source, target))
        module(input_ids=read, decoder_input_ids=told, use_cache=False)
    return found
