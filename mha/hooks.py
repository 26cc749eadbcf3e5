"""Hooks on attention heads: `with` blocks that see or change what heads compute, and leave nothing behind."""

from __future__ import annotations

import threading
from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field, replace
from typing import Any
from weakref import WeakKeyDictionary

import torch
from torch import Tensor, nn

SITES = ("scores", "pattern", "value", "head_output", "head_write")
"The places of the formula at which a hook may look, in the order in which they are computed."

See = Callable[["Seen"], Tensor | None]


class HookError(RuntimeError):
    """A model whose heads cannot be seen, or a hook that asks for something that does not exist."""


@dataclass(frozen=True)
class Seen:
    """What a hook is shown: one layer's tensor at one site."""

    site: str
    "One of SITES."
    layer: int
    "Number of the attention call within the forward pass, from 0; cross-attention calls count as well."
    tensor: Tensor
    """scores, pattern [batch, head, query, key]; value [batch, head, key, head_dim]; head_output
    [batch, head, query, head_dim]; head_write [batch, head, query, model]. Of a pruned encoder all heads are there:
    `mha.attention.MultiHeadAttention` says what those show that were taken out."""
    bias: Tensor | None
    "The additive attention mask of the call, or None where every key may be attended to."
    crossed: bool = False
    "Whether keys are other pieces than queries (cross-attention, a cache of keys); `bias` is then silent on queries."
    call: Call | None = field(default=None, repr=False)
    "The attention call that is seen."
    value: Tensor | None = field(default=None, repr=False)
    "At the site head_output, the values [batch, head, key, head_dim] that were mixed."

    def texts(self, part: slice) -> Seen:
        """Return what is seen of some texts of the batch, as views."""
        bias = self.bias if self.bias is None or len(self.bias) == 1 else self.bias[part]
        value = None if self.value is None else self.value[part]
        return replace(self, tensor=self.tensor[part], bias=bias, value=value)

    def written_norms(self) -> Tensor:
        """Return [batch, head, token], the length (L2) of each value or head output behind its head's W_O.

        W_O's bias belongs to no head and is left out. Of a value it is ||f(x)|| of Kobayashi et al. 2020, section 3.1.
        With W_O^T = Q R and orthonormal Q it is ||R v||: nothing of the size of the model is made for every token.
        Raises HookError at other sites, and for an architecture whose W_O `mha.hub.OUTPUT_PROJECTIONS` does not know.
        """
        if self.site not in ("value", "head_output") or self.call is None:
            raise HookError(f"norms are those of the sites value and head_output, not of {self.site}")
        triangle = torch.linalg.qr(self.call.output_weights().transpose(1, 2), mode="r").R
        lengths: Tensor = torch.linalg.vector_norm(torch.einsum("bhtd,hkd->bhtk", self.tensor, triangle), dim=-1)
        return lengths

    def real_keys(self) -> Tensor | None:
        """Return [batch, key], True where a key may be attended to by some query; None where all may."""
        if self.bias is None:
            return None
        real = (self.bias > torch.finfo(self.bias.dtype).min / 2).flatten(1, 2).any(1)
        return real.expand(len(self.tensor), -1)


@dataclass(eq=False)
class _Watch:
    """One open `watch` block."""

    modules: dict[nn.Module, str]
    see: See
    sites: frozenset[str]
    layers: frozenset[int] | None
    model: nn.Module
    first: int
    calls: int = 0

    def wants(self, site: str, layer: int) -> bool:
        return site in self.sites and (self.layers is None or layer in self.layers)


@dataclass(frozen=True)
class Call:
    """One attention call and the blocks that watch it, outermost first."""

    module: nn.Module
    watches: tuple[tuple[_Watch, int], ...] = ()
    crossed: bool = False
    "As in `Seen`."

    def wants(self, *sites: str) -> bool:
        """Return whether any block asks for one of the sites."""
        return any(watch.wants(site, layer) for watch, layer in self.watches for site in sites)

    def show(self, site: str, tensor: Tensor, bias: Tensor | None, value: Tensor | None = None) -> Tensor:
        """Show `tensor` to every block that asks for the site, outermost first; return what they make of it.

        `bias` and `value` as in `Seen`.
        """
        from mha.hub import is_cross_attention

        for watch, layer in self.watches:
            if watch.wants(site, layer):
                crossed = self.crossed or is_cross_attention(watch.modules[self.module])
                changed = watch.see(Seen(site, layer, tensor, bias, crossed, self, value))
                if changed is not None and changed.shape != tensor.shape:
                    raise HookError(f"a hook on {site} returned {tuple(changed.shape)}, expected {tuple(tensor.shape)}")
                tensor = tensor if changed is None else changed
        return tensor

    def output_weights(self) -> Tensor:
        """Return W_O of the module that is called: [head, head_dim, model]."""
        from mha.hub import output_weights

        watch, _ = self.watches[0]
        return output_weights(watch.model, self.module, watch.modules[self.module])


_watches: ContextVar[tuple[_Watch, ...]] = ContextVar("headscope_watches", default=())


def call_of(module: nn.Module, crossed: bool = False) -> Call:
    """Count an attention call of `module` in every open block that watches it; `crossed` as in `Seen`."""
    open_blocks = _watches.get()
    if not open_blocks:
        return Call(module, (), crossed)
    numbered = []
    for watch in open_blocks:
        if module in watch.modules:
            numbered.append((watch, watch.calls))
            watch.calls += 1
    return Call(module, tuple(numbered), crossed)


def is_watched(module: nn.Module) -> bool:
    """Return whether an open block watches `module`, at whatever sites."""
    return any(module in watch.modules for watch in _watches.get())


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
    block = _Watch(modules, see, frozenset(sites), None if layers is None else frozenset(layers), model, first)

    def begin(*_: Any) -> None:
        if block in _watches.get():
            block.calls = first

    def end(*_: Any) -> None:
        if block not in _watches.get():
            return
        if block.calls == first:
            raise HookError(
                f"{type(model).__name__} made no attention call that can be seen: it keeps attention code of its own"
            )
        if missing := set(block.layers or ()) - set(range(first, block.calls)):
            raise HookError(f"layer index {min(missing)} does not exist in this model ({block.calls} layers, from 0)")

    with through_attend(model):
        handles = [model.register_forward_pre_hook(begin), model.register_forward_hook(end)]
        token = _watches.set((*_watches.get(), block))
        try:
            yield
        finally:
            _watches.reset(token)
            for handle in handles:
                handle.remove()


_lock = threading.Lock()
_switched: WeakKeyDictionary[nn.Module, tuple[int, Any]] = WeakKeyDictionary()
"For every model that is led through `attend`: how many open blocks lead it there, and its own setting."


@contextmanager
def through_attend(model: nn.Module) -> Iterator[None]:
    """Lead a `transformers` model's attention through `attend` while blocks are open; the last one restores its own."""
    from mha.hub import restore_attention, switch_attention

    with _lock:
        depth, own = _switched.get(model, (0, None))
        if depth == 0:
            own = switch_attention(model)
        _switched[model] = (depth + 1, own)
    try:
        yield
    finally:
        with _lock:
            depth, own = _switched.pop(model)
            if depth > 1:
                _switched[model] = (depth - 1, own)
            else:
                restore_attention(model, own)


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
