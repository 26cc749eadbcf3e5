"""Models of `transformers` with attention code of their own, seen at the softmax and at the product that follows it."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from types import MethodType
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor, nn
from torch.overrides import TorchFunctionMode

from mha.attention import in_float32, show_output
from mha.projections import HookError
from mha.watches import SITES, Call, PaddedTexts, call_of, is_cross_attention

SOFTMAX = frozenset({torch.softmax, F.softmax, Tensor.softmax})
PRODUCTS = frozenset({torch.matmul, Tensor.matmul, Tensor.__matmul__, torch.bmm, Tensor.bmm, torch.einsum})
OTHER_PRODUCTS = frozenset({torch.baddbmm, Tensor.baddbmm})
"Products that scores, but no values, are made with."
FORMS = frozenset(
    {F.dropout, torch.dropout, Tensor.to, Tensor.type_as, Tensor.float, Tensor.view, Tensor.reshape, Tensor.contiguous}
)
"What a pattern may go through before it is multiplied with values, its order of heads, queries and keys kept."

MASKED = -1e5
"Lower scores are those of a mask: models add -1e6 (Funnel) to the lowest number there is."

EARLIER = {"LiltSelfAttention": 1}
"Attentions that a module makes before the one of its pieces: LiLT first attends to where they stand on a page."

SPARSE = "a piece attends to some of the others (sparse attention), and no map of all pieces is ever made"
REFUSED = {
    "longformer": SPARSE,
    "led": SPARSE,
    "reformer": SPARSE,
    "fnet": "a Fourier transform mixes its pieces: it has no attention",
    "canine": "its layers attend to groups of characters, four in one, and not to the pieces that it reads",
    "funnel": "from block to block it makes one piece of two, so its maps are not those of the pieces that it reads",
}
"`model_type` -> why its heads are not read."


def refusal(model: Any) -> str | None:
    """Return why the heads of a model of `transformers` cannot be read, or None."""
    config = model.config
    kind = config.model_type
    if kind in REFUSED:
        return REFUSED[kind]
    if kind == "nystromformer" and config.num_landmarks != config.segment_means_seq_len:
        return (
            f"its attention is approximated by {config.num_landmarks} landmarks for segments of "
            f"{config.segment_means_seq_len}, and no map is ever made; one whose numbers are equal can be read"
        )
    if any(type(part).__name__.endswith("BlockSparseAttention") for part in model.modules()):
        return f"{SPARSE}; set_attention_type('original_full') makes it attend to all"
    return None


def attend_fully(model: Any) -> int | None:
    """Have a model with block-sparse attention (BigBird) attend to all pieces, as it does by itself with short texts.

    Returns the length in pieces up to which `transformers` does the same, None for other models.
    """
    config = model.config
    if getattr(config, "attention_type", None) != "block_sparse":
        return None
    for part in [*model.modules()]:  # the first is the largest and does it to those within it
        if hasattr(part, "set_attention_type"):
            part.set_attention_type("original_full")
    return int((5 + 2 * config.num_random_blocks) * config.block_size)


def attention_modules(model: nn.Module) -> list[nn.Module]:
    """Return the modules named for attention that hold no other such module, in the order of the model."""
    named = [part for part in model.modules() if "attention" in type(part).__name__.lower()]
    return [part for part in named if not any(other is not part and other in {*part.modules()} for other in named)]


@contextmanager
def seen_by_softmax(model: nn.Module) -> Iterator[None]:
    """Have hooks see attention modules with code of their own while the block runs, on all threads."""
    modules = attention_modules(model)
    for module in modules:
        module.forward = MethodType(_forward, module)  # a copy of the module has its own
    try:
        yield
    finally:
        for module in modules:
            del module.forward


def _forward(module: Any, *inputs: Any, **named: Any) -> Any:
    call = call_of(module)
    run: Callable[..., Any] = type(module).forward
    if not call.wants(*SITES):
        return run(module, *inputs, **named)
    with _Seeing(call) as seeing:
        output = run(module, *inputs, **named)
    seeing.check()
    return output


@dataclass(frozen=True)
class _Layout:
    """How an operand or a result of a product holds [batch, head, token, head_dim]."""

    heads: tuple[int, int]
    "How many texts and heads."
    order: tuple[int, ...] = (0, 1, 2, 3)
    "Where batch, head, token and head_dim lie."
    folded: bool = False
    "Whether batch and head are one."

    def see(self, tensor: Tensor) -> Tensor:
        """Return a view [batch, head, token, head_dim]; what all heads share is that of each."""
        tensor = tensor.view(*self.heads, *tensor.shape[1:]) if self.folded else tensor
        return tensor.permute(self.order).expand(*self.heads, -1, -1)

    def back(self, tensor: Tensor) -> Tensor:
        """Return [batch, head, token, head_dim] as the product holds it."""
        tensor = tensor.permute([self.order.index(axis) for axis in range(4)])
        return tensor.flatten(0, 1) if self.folded else tensor


def _layouts(equation: str | None, pattern: Tensor, form: Tensor, value: Tensor) -> tuple[_Layout, _Layout] | None:
    """Return how a product of a pattern, in the form it is given in, holds values and head outputs; None if unknown."""
    heads = (pattern.shape[0], pattern.shape[1])
    folded = form.shape == (heads[0] * heads[1], *pattern.shape[2:])
    if value.ndim != form.ndim or not (folded or form.shape == pattern.shape):
        return None
    if equation is None:
        return _Layout(heads, folded=folded), _Layout(heads, folded=folded)
    rows, columns, result = re.split(",|->", equation.replace(" ", ""))
    sizes = set(columns) - set(rows)
    if len(rows) != 4 or len(sizes) != 1 or set(columns) != {rows[0], rows[1], rows[3], *sizes}:
        return None
    orders = [(columns, rows[3]), (result, rows[2])]
    given, made = (_Layout(heads, tuple(map(names.index, (*rows[:2], token, *sizes)))) for names, token in orders)
    return given, made


class _Seeing(TorchFunctionMode):
    """What shows hooks the attention of one call: the softmax of scores, and the product of the pattern with values.

    Every row sums to 1, since the softmax that counts is that over keys, the last dimension.
    """

    def __init__(self, call: Call) -> None:
        super().__init__()
        self.call, self.earlier = call, EARLIER.get(type(call.module).__name__, 0)
        self.softmaxes = self.products = 0
        self.bias: Tensor | None = None
        self.forms: list[Tensor] = []
        "The pattern, and what it was made into on its way to the product."

    def __torch_function__(self, function: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        """Call a function of torch, and show what is attention; what is watched is computed in float32."""
        kwargs = kwargs or {}
        if function not in SOFTMAX | PRODUCTS | OTHER_PRODUCTS:
            result = function(*args, **kwargs)
            if function in FORMS and args and self._is_pattern(args[0]):
                self.forms.append(result)
            return result
        place = 1 if function is torch.einsum else 0
        mixes = function in PRODUCTS and len(args) > place and self._is_pattern(args[place])
        device = next(one for one in (*args, *kwargs.values()) if isinstance(one, Tensor)).device.type
        with in_float32(device) as cast:
            args = [_cast(one, cast) for one in args]
            kwargs = {name: _cast(one, cast) for name, one in kwargs.items()}
            if mixes:
                return self._product(function, args, place)
            if function in SOFTMAX and args:
                return self._softmax(function, args, kwargs)
            return function(*args, **kwargs)

    def _is_pattern(self, tensor: Any) -> bool:
        return any(tensor is form for form in self.forms)

    def _softmax(self, function: Any, args: Any, kwargs: Any) -> Any:
        given, dim = args[0], kwargs.get("dim", args[1] if len(args) > 1 else None)
        scores = self._of_heads(given) if dim in (-1, given.ndim - 1) else None
        self.softmaxes += scores is not None
        if scores is None or self.softmaxes <= self.earlier:
            return function(*args, **kwargs)
        if self.softmaxes > self.earlier + 1:
            raise self._error(f"it makes {self.softmaxes} softmaxes in one call")
        self._check_shape(scores)
        self.bias = self._mask(scores)
        self.call = replace(self.call, crossed=scores.shape[2] != scores.shape[3])
        pattern = function(self.call.show("scores", scores, self.bias), **kwargs | {"dim": -1})
        pattern = self.call.show("pattern", pattern, self.bias)
        self.forms = [pattern, pattern if given.ndim == 4 else pattern.flatten(0, 1)]
        return self.forms[-1]

    def _of_heads(self, scores: Tensor) -> Tensor | None:
        """Return scores [batch, head, query, key], also where batch and head are one; None for what are none."""
        texts = self._texts
        if scores.ndim == 3 and texts is not None and scores.shape[0] % texts.shape[0] == 0:
            return scores.view(texts.shape[0], -1, *scores.shape[1:])
        return scores if scores.ndim == 4 else None

    @property
    def _texts(self) -> PaddedTexts | None:
        return self.call.watches[0][0].texts

    def _product(self, function: Any, args: Any, place: int) -> Tensor:
        if self.products:
            raise self._error("its pattern is multiplied more than once with values")
        form, own = args[place : place + 2]
        layouts = _layouts(args[0] if place else None, self.forms[0], form, own)
        if layouts is None:
            raise self._error(f"its pattern, as {[*form.shape]}, is multiplied with values {[*own.shape]}")
        given, made = layouts
        self.products += 1
        seen = given.see(own)
        value = self.call.show("value", seen, self.bias)
        mixed = made.see(function(*args[:place], form, own if value is seen else given.back(value)))
        output = made.back(show_output(self.call, mixed, self.bias, value))
        return output.clone()  # what was seen stays as it was, even where the model adds to it (Nyströmformer)

    def _mask(self, scores: Tensor) -> Tensor:
        """Return [batch, 1, query, key], 0 where a query may see a key, else the lowest number, as `Seen.bias`."""
        hidden = scores[:, :1] < MASKED
        texts = self._texts
        if texts is not None and texts.real is not None and texts.real.shape[1] == scores.shape[3]:
            hidden = hidden | ~texts.real[:, None, None].to(hidden.device)  # in XLNet padding sees itself
        bias = torch.zeros(hidden.shape, device=hidden.device)
        return bias.masked_fill_(hidden, torch.finfo(bias.dtype).min)

    def _check_shape(self, scores: Tensor) -> None:
        watch, _ = self.call.watches[0]
        found, keys = (scores.shape[0], scores.shape[2]), scores.shape[3]
        wanted = found if self._texts is None else self._texts.shape
        crossed = is_cross_attention(watch.modules[self.call.module])
        if not crossed and (found != wanted or keys < found[1]):
            raise self._error(
                f"its scores are {[*scores.shape]}, expected [{wanted[0]}, heads, {wanted[1]}, {wanted[1]}]"
            )

    def check(self) -> None:
        """Raise HookError where no attention was seen."""
        if self.softmaxes != self.earlier + 1:
            raise self._error(f"it makes {self.softmaxes} softmaxes in one call, expected {self.earlier + 1}")
        if self.products != 1:
            raise self._error("what its pattern is multiplied with was not seen")

    def _error(self, what: str) -> HookError:
        return HookError(f"{type(self.call.module).__name__}: {what}: its heads cannot be seen")


def _cast(given: Any, cast: Callable[[Tensor], Tensor]) -> Any:
    return cast(given) if isinstance(given, Tensor) and given.is_floating_point() else given
