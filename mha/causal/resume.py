"""Passes through a model of `transformers` that are entered at a layer: the layers below give what they gave before."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from types import MappingProxyType
from typing import Any

import torch
from torch import Tensor, nn

from mha.hooks import through_attend, watch
from mha.watches import Seen

_known: ContextVar[Mapping[nn.Module, Any]] = ContextVar("headscope_known", default=MappingProxyType({}))
"What layers return that are not to be run, in this thread."

_kept: ContextVar[dict[nn.Module, Any] | None] = ContextVar("headscope_kept", default=None)
"Where what layers return is kept, in this thread."


@contextmanager
def resumable(model: nn.Module, layers: Sequence[nn.Module]) -> Iterator[None]:
    """Let `keeping` and `known` have their way with the layers of a model while the block runs, on all threads."""
    with through_attend(model):
        own = [vars(layer).get("forward") for layer in layers]  # that of an attention module that hooks see
        for layer in layers:
            layer.forward = _resumed(layer)
        try:
            yield
        finally:
            for layer, forward in zip(layers, own, strict=True):
                if forward is None:
                    del layer.forward
                else:
                    layer.forward = forward


def _resumed(layer: nn.Module) -> Any:
    run = layer.forward

    def forward(*inputs: Any, **named: Any) -> Any:
        found, kept = _known.get(), _kept.get()
        output = found[layer] if layer in found else run(*inputs, **named)
        if kept is not None:
            kept[layer] = output
        return output

    return forward


@contextmanager
def keeping() -> Iterator[dict[nn.Module, Any]]:
    """Keep what each layer returns while the block runs, in this thread."""
    kept: dict[nn.Module, Any] = {}
    before = _kept.set(kept)
    try:
        yield kept
    finally:
        _kept.reset(before)


@contextmanager
def known(outputs: Mapping[nn.Module, Any]) -> Iterator[None]:
    """Let layers return these while the block runs, in this thread, without being run."""
    before = _known.set(outputs)
    try:
        yield
    finally:
        _known.reset(before)


def skipped() -> int:
    """Return how many layers are not run in passes that are begun now, in this thread."""
    return len(_known.get())


def copies(output: Any, batch: int, count: int) -> Any:
    """Return what a layer returned for a batch as it were for `count` copies of the batch, one after the other."""
    if isinstance(output, Tensor):  # a bias by position is the same for all texts
        return output.repeat(count, *[1] * (output.ndim - 1)) if len(output) == batch else output
    if type(output) in (tuple, list):
        return type(output)(copies(part, batch, count) for part in output)
    return output


def _by_batch(output: Any) -> bool:
    """Return whether what a layer returned for one text are tensors of one text, alone or in plain tuples and lists."""
    if isinstance(output, Tensor):
        return output.ndim > 0 and len(output) == 1
    return output is None or (type(output) in (tuple, list) and all(map(_by_batch, output)))


def skippable_layers(model: nn.Module, ids: Tensor) -> list[nn.Module]:
    """Return the layers of a model, one for each attention call; none where they cannot be told apart, or copied.

    They are the members of one ModuleList in which the calls were seen, in its order and one call each. Layers that are
    shared (ALBERT), or that make several calls, are not, nor such as do not return texts one after the other (XLNet).
    `ids` are one text, of two pieces or more.
    """
    called: list[nn.Module] = []

    def look(seen: Seen) -> None:
        assert seen.call is not None
        called.append(seen.call.module)

    with torch.inference_mode(), watch(model, look, ["value"]):
        model(input_ids=ids)
    for part in model.modules():
        if isinstance(part, nn.ModuleList) and len(part) == len(called):
            members = [set(layer.modules()) for layer in part]
            if all(module in own for module, own in zip(called, members, strict=True)):
                with torch.inference_mode(), resumable(model, layers := list(part)), keeping() as kept:
                    model(input_ids=ids)
                return layers if all(map(_by_batch, kept.values())) else []
    return []
