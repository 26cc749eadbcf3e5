"""Hooks on attention heads: `with` blocks that see or change what heads compute, and leave nothing behind."""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import ExitStack, contextmanager, nullcontext
from dataclasses import dataclass, field
from typing import Any
from weakref import WeakKeyDictionary

from torch import Tensor, nn

from mha.attention import attend
from mha.foreign import attention_setting, has_attention_interface, set_attention
from mha.own_attention import refusal, seen_by_softmax
from mha.projections import HookError as HookError
from mha.watches import OPEN, SITES, PaddedTexts, See, Seen, Watch

NAME = "headscope"
"The name under which `attend` is registered with the attention interface."


@contextmanager
def watch(
    model: nn.Module,
    see: See,
    sites: Collection[str] = ("pattern",),
    layers: Collection[int] | None = None,
    *,
    first: int = 0,
) -> Iterator[None]:
    """Show `see` the tensors of `sites` in each forward pass of `model` while the block runs.

    What `see` returns, if anything, replaces the tensor. Blocks that were entered first see first. The block belongs
    to this thread and to `model` alone; on leaving, also by an exception, nothing of it remains. `first` is the number
    of a pass's first attention call, where it is entered above the lowest layer.

    Raises HookError for an unknown site, for a model whose attention cannot be seen, and at the end of a forward pass
    in which the model made no attention call or none of a layer that was asked for.
    """
    if unknown := set(sites) - set(SITES):
        raise HookError(f"unknown site {sorted(unknown)[0]!r}; the sites are {', '.join(SITES)}")
    modules = {module: name for name, module in model.named_modules()}
    block = Watch(modules, see, frozenset(sites), None if layers is None else frozenset(layers), model, first)

    def begin(_: nn.Module, inputs: Any, named: Any) -> None:
        if block in OPEN.get():
            block.calls, block.texts = first, PaddedTexts.of(model, inputs, named)

    def end(*_: Any) -> None:
        if block not in OPEN.get():
            return
        block.texts = None
        if block.calls == first:
            raise HookError(f"{type(model).__name__} made no attention call that can be seen")
        if missing := set(block.layers or ()) - set(range(first, block.calls)):
            raise HookError(f"layer index {min(missing)} does not exist in this model ({block.calls} layers, from 0)")

    with through_attend(model):
        handles = [model.register_forward_pre_hook(begin, with_kwargs=True), model.register_forward_hook(end)]
        token = OPEN.set((*OPEN.get(), block))
        try:
            yield
        finally:
            OPEN.reset(token)
            for handle in handles:
                handle.remove()


_lock = threading.Lock()
_opened: WeakKeyDictionary[nn.Module, tuple[int, ExitStack]] = WeakKeyDictionary()
"For every model that is open to hooks: how many blocks have it so, and what ends it."


@contextmanager
def through_attend(model: nn.Module) -> Iterator[None]:
    """Have a `transformers` model open to hooks while blocks are; the last one gives it its own attention back."""
    with _lock:
        depth, end = _opened.get(model, (0, ExitStack()))
        if depth == 0:
            end.enter_context(_opened_to_hooks(model))
        _opened[model] = (depth + 1, end)
    try:
        yield
    finally:
        with _lock:
            depth, end = _opened.pop(model)
            if depth > 1:
                _opened[model] = (depth - 1, end)
            else:
                end.close()


@contextmanager
def _opened_to_hooks(model: nn.Module) -> Iterator[None]:
    """Have hooks see the attention of a model of `transformers` while the block runs; other modules stay as they are.

    Attention goes through `attend` where `transformers` lets it be replaced; else the model's own eager code runs, and
    is seen at its softmax. Raises HookError, with the reason, for a model whose heads cannot be seen.
    """
    theirs = sys.modules.get("transformers.modeling_utils")  # a model of theirs has imported it; a tokenizer has not
    if theirs is None or not isinstance(model, theirs.PreTrainedModel):
        yield
        return
    if (reason := refusal(model)) is not None:
        raise HookError(f"{type(model).__name__}: {reason}")
    parts: list[Any] = [part for part in model.modules() if isinstance(part, theirs.PreTrainedModel)]
    own = [(part.config, attention_setting(part.config)) for part in parts]
    replaceable = has_attention_interface(model)
    try:
        if replaceable:
            _register()
            model.set_attn_implementation(NAME)
        else:
            for config, _ in own:
                set_attention(config, "eager")
        with nullcontext() if replaceable else seen_by_softmax(model):
            yield
    finally:
        for config, setting in own:
            set_attention(config, setting)


def _register() -> None:
    from transformers import AttentionInterface, AttentionMaskInterface
    from transformers.masking_utils import eager_mask

    AttentionInterface.register(NAME, attend)
    AttentionMaskInterface.register(NAME, eager_mask)


@dataclass
class Record:
    """What `record` saw of the latest forward pass: `record["pattern"][layer]` is that layer's tensor."""

    sites: tuple[str, ...]
    tensors: dict[str, dict[int, Tensor]] = field(default_factory=dict)

    def __getitem__(self, site: str) -> list[Tensor]:
        """Return the tensors of a site in the order of the layers; shapes as in `Seen`."""
        if site not in self.sites:
            raise HookError(f"site {site!r} was not recorded; recorded were {', '.join(self.sites)}")
        return [tensor for _, tensor in sorted(self.tensors.get(site, {}).items())]

    def keep(self, seen: Seen) -> None:
        """Keep one tensor; the first layer of a new pass forgets the pass before."""
        kept = self.tensors.setdefault(seen.site, {})
        if seen.layer in kept:
            kept.clear()
        kept[seen.layer] = seen.tensor.detach()


@contextmanager
def record(
    model: nn.Module, sites: Sequence[str] = ("pattern",), layers: Collection[int] | None = None
) -> Iterator[Record]:
    """Record the tensors of `sites` while the block runs.

    >>> with record(model) as maps: model(**batch)  # doctest: +SKIP
    """
    kept = Record(tuple(sites))
    with watch(model, kept.keep, sites, layers):
        yield kept


@contextmanager
def entering(module: nn.Module) -> Iterator[list[Tensor]]:
    """Keep what enters any module while the block runs."""
    kept: list[Tensor] = []
    handle = module.register_forward_pre_hook(lambda _, inputs: kept.append(inputs[0]))
    try:
        yield kept
    finally:
        handle.remove()


@contextmanager
def leaving(module: nn.Module, see: Callable[[Tensor], Tensor | None]) -> Iterator[None]:
    """Show `see` what any module returns while the block runs; what it makes of it, if anything, goes on instead."""
    handle = module.register_forward_hook(lambda _module, _inputs, output: see(output))
    try:
        yield
    finally:
        handle.remove()
