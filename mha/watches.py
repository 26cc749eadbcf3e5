"""The blocks that watch a model: which are open, and what each is shown of an attention call."""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable
from contextvars import ContextVar
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

import torch
from torch import Tensor, nn

from mha.projections import HookError, output_projection, output_weights

SITES = ("scores", "pattern", "value", "head_output", "head_write")
"The places of the formula at which a hook may look, in the order in which they are computed."

See = Callable[["Seen"], Tensor | None]

_CROSS = re.compile(r"(^|\.)(\w*cross_?att\w*|encoder_attn|EncDecAttention)(\.|$)")
"What `transformers` calls its modules of cross-attention."


@dataclass(frozen=True)
class Seen:
    """What a hook is shown: one layer's tensor at one site."""

    site: str
    "One of SITES."
    layer: int
    "Number of the attention call within the forward pass, from 0; cross-attention calls count as well."
    tensor: Tensor
    """scores (as softmax is given them, with mask and position biases), pattern [batch, head, query, key]; value
    [batch, head, key, head_dim]; head_output [batch, head, query, head_dim]; head_write [batch, head, query, model]. Of
    a pruned encoder all heads are there: `mha.attention.MultiHeadAttention` says what those taken out show."""
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
        Raises HookError at other sites, and for an architecture that `mha.projections` does not know.
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


class PaddedTexts(NamedTuple):
    """What a model is given to read."""

    shape: tuple[int, int]
    "Number of texts, and of pieces with padding."
    real: Tensor | None
    "[batch, piece] True at real pieces; None where nothing says which are."

    @classmethod
    def of(cls, model: nn.Module, inputs: Any, named: Any) -> PaddedTexts | None:
        """Return what is said by the arguments `input_ids` (or `inputs_embeds`) and `attention_mask` of `forward`."""
        given = inspect.signature(model.forward).bind_partial(*inputs, **named).arguments
        given = given | given.get("kwargs", {})
        pieces = next((given[name] for name in ("input_ids", "inputs_embeds") if given.get(name) is not None), None)
        if pieces is None:
            return None
        shape, mask = (pieces.shape[0], pieces.shape[1]), given.get("attention_mask")
        return cls(shape, mask != 0 if mask is not None and mask.shape == shape else None)


@dataclass(eq=False)
class Watch:
    """One open `watch` block."""

    modules: dict[nn.Module, str]
    see: See
    sites: frozenset[str]
    layers: frozenset[int] | None
    model: nn.Module
    first: int
    calls: int = 0
    texts: PaddedTexts | None = None
    "What the pass that runs reads; None where its arguments have other names than those of `transformers`."

    def wants(self, site: str, layer: int) -> bool:
        """Return whether it looks at a site of a layer."""
        return site in self.sites and (self.layers is None or layer in self.layers)


@dataclass(frozen=True)
class Call:
    """One attention call and the blocks that watch it, outermost first."""

    module: nn.Module
    watches: tuple[tuple[Watch, int], ...] = ()
    crossed: bool = False
    "As in `Seen`."

    def wants(self, *sites: str) -> bool:
        """Return whether any block asks for one of the sites."""
        return any(watch.wants(site, layer) for watch, layer in self.watches for site in sites)

    def show(self, site: str, tensor: Tensor, bias: Tensor | None, value: Tensor | None = None) -> Tensor:
        """Show `tensor` to every block that asks for the site, outermost first; return what they make of it.

        `bias` and `value` as in `Seen`.
        """
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
        watch, _ = self.watches[0]
        return output_weights(watch.model, self.module, watch.modules[self.module])

    def output_projection(self) -> Any:
        """Return the module W_O of the attention module of `transformers` that is called."""
        watch, _ = self.watches[0]
        return output_projection(watch.model, watch.modules[self.module])


OPEN: ContextVar[tuple[Watch, ...]] = ContextVar("headscope_watches", default=())
"The blocks that are open in this thread, outermost first."


def call_of(module: nn.Module, crossed: bool = False) -> Call:
    """Count an attention call of `module` in every open block that watches it; `crossed` as in `Seen`."""
    open_blocks = OPEN.get()
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
    return any(module in watch.modules for watch in OPEN.get())


def is_cross_attention(name: str) -> bool:
    """Return whether a module of that path in its model is one of cross-attention, by the names that are usual."""
    return _CROSS.search(name) is not None
