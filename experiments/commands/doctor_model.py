"""What is known of a model once it is open: how it reads texts, what can be measured of it, and what cannot."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import torch

from experiments.commands.doctor import CheckResult
from mha import Model, ModelError, load_model
from mha.batches import collate
from mha.device import device_of
from mha.hooks import HookError, record
from mha.models.masked_prediction import MaskedLM
from mha.models.tokenizer import SENTENCES
from mha.pieces import align

SAME = 1e-4
"Largest difference of a weight of attention between devices that rounding explains."


def examine_model(name: str, device: str) -> list[CheckResult]:
    """Open a model and look at what a run needs of it; raises ModelError, with the reason, for one that is refused."""
    model = load_model(name)
    looked = [_model(model), _tokenizer(model), _padding(model), _norms(model), _masked(model)]
    return [*looked, *_on_device(model, load_model(name, device=device))]


def _model(model: Model) -> CheckResult:
    longest = "texts of any length" if model.max_pieces >= 2**30 else f"texts of up to {model.max_pieces} pieces"
    code = type(model.module).__module__.split(".")[0]
    return CheckResult(
        "model",
        "fine",
        f"{model.architecture}, {model.layers} layers x {model.heads} heads, {longest}; runs in "
        f"{'headscope’s encoder' if code == 'mha' else 'transformers'}",
    )


def _tokenizer(model: Model) -> CheckResult:
    tokenizer: Any = model.tokenizer
    special = ", ".join(f"{role} {tokenizer.id_to_token(piece)}" for role, piece in model.special.items())
    words = sum(map(len, SENTENCES))
    lost = sum(len(pieces.missing()) for pieces in align(tokenizer, SENTENCES))
    return CheckResult(
        "tokenizer",
        "fine",
        f"{type(tokenizer.model).__name__}, {tokenizer.get_vocab_size():,} pieces ({special or 'no special tokens'}); "
        f"cuts {len(SENTENCES)} sentences of several scripts as transformers does; {words - lost} of {words} words "
        "have pieces",
    )


def _padding(model: Model) -> CheckResult:
    if model.padding is None:
        return CheckResult("padding", "missing", "padding changes its maps: texts of one length are read together")
    return CheckResult("padding", "fine", "a text’s maps are the same alone and beside a longer one")


@torch.inference_mode()
def _norms(model: Model) -> CheckResult:
    norms = "norms, circuits, direct effects on logits"
    pieces = torch.from_numpy(align(model.tokenizer, SENTENCES[:1])[0].ids[: model.max_pieces]).long()
    try:
        with record(model.module, ["head_write"]):
            model.run(pieces[None], None)
    except HookError as error:
        return CheckResult("output projection", "missing", f"{error}; cannot be measured: {norms}")
    return CheckResult("output projection", "fine", f"can be measured: {norms}")


def _masked(model: Model) -> CheckResult:
    asked = "minimal pairs, masked words, effects of heads on them"
    try:
        MaskedLM.of(model)
    except ModelError as error:
        return CheckResult("masked-LM head", "missing", f"{error}; cannot be measured: {asked}")
    return CheckResult("masked-LM head", "fine", f"can be measured: {asked}")


def _on_device(model: Model, other: Model) -> Iterator[CheckResult]:
    """Compare the maps of a text on another device with those of the CPU."""
    if (place := device_of(other.module)).type == "cpu":
        return
    here, there = (_maps(one) for one in (model, other))
    apart = max(float((one - two).abs().max()) for one, two in zip(here, there, strict=True))
    yield CheckResult(
        f"maps on {place.type}",
        "fine" if apart <= SAME else "broken",
        f"largest difference from those on the CPU: {apart:.1e}",
    )


@torch.inference_mode()
def _maps(model: Model) -> list[torch.Tensor]:
    batch = collate(align(model.tokenizer, SENTENCES[:1]), padding=model.padding)
    with record(model.module) as maps:
        model.run(batch.ids[:, : model.max_pieces], None)
    return [one.cpu() for one in maps["pattern"]]
