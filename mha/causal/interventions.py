"""Interventions: what heads do is changed while a `with` block runs."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import partial
from typing import ClassVar

import torch
from jaxtyping import Bool, Float
from torch import Tensor, nn

from mha.hooks import HookError, watch
from mha.watches import Seen

WAYS = ("zero", "uniform", "mean", "resample")
"What stands in the place of a head that is switched off."


@dataclass(frozen=True)
class Ablate:
    """Switch one head off: replace its output before W_O.

    zero: by zero (Michel et al. 2019, section 2.2). uniform: by what it would write if it attended to all keys alike
    (Kovaleva et al. 2019). mean: by its mean, pooled over examples and positions where `mean` is a vector
    [head_dim] (or not given: then the mean over the batch at hand, padding left out), or by the mean of each position
    where it is [position, head_dim]. resample: by its output on another example, `other`, at the same position. In
    cross-attention nothing says which queries are padding, so there `mean` must be given.
    """

    site: ClassVar[str] = "head_output"

    layer: int
    "Index of the layer, from 0."
    head: int
    "Index of the head, from 0."
    how: str = "zero"
    "One of WAYS."
    mean: Tensor | None = None
    other: Tensor | None = None
    "[batch, query, head_dim]"

    def __post_init__(self) -> None:
        """Refuse an unknown way of ablation."""
        if self.how not in WAYS:
            raise HookError(f"unknown ablation {self.how!r}; the ways are {', '.join(map(repr, WAYS))}")
        if self.how == "resample" and self.other is None:
            raise HookError("resample: give the head's output on other examples, Ablate(..., other=)")

    def __call__(self, seen: Seen) -> Tensor:
        """Return what stands for the head's output, [batch, query, head_dim] or a shape that broadcasts to it."""
        own = seen.tensor[:, self.head]
        if self.how == "zero":
            return own.new_zeros(())
        if self.how == "uniform":
            return _mean_value(seen, self.head)
        if self.how == "mean":
            return self._mean(seen)
        assert self.other is not None
        if self.other.shape != own.shape:
            raise HookError(f"resample: `other` is {tuple(self.other.shape)}, expected {tuple(own.shape)}")
        return self.other.to(own)

    def _mean(self, seen: Seen) -> Tensor:
        own = seen.tensor[:, self.head]
        if self.mean is not None:
            mean = self.mean.to(own)
            if mean.ndim == 2 and len(mean) < own.shape[1]:
                raise HookError(f"the mean is that of {len(mean)} positions, and the text has {own.shape[1]}")
            return mean if mean.ndim == 1 else mean[: own.shape[1]]
        if seen.crossed:
            raise HookError(
                f"layer index {self.layer} attends to other pieces than its queries (cross-attention or a cache), and "
                "its mask does not say which queries are padding: give the vector to write, Ablate(..., mean=)"
            )
        real = seen.real_keys()
        return (own if real is None else own[real]).flatten(0, -2).mean(0)


def _mean_value(seen: Seen, head: int) -> Tensor:
    """Return [batch, 1, head_dim], or [batch, query, head_dim] where queries see other keys: the mean of the values."""
    assert seen.value is not None, "shown at head_output"
    values = seen.value[:, head]
    if seen.bias is None:
        return values.mean(1, keepdim=True)
    allowed = (seen.bias > torch.finfo(seen.bias.dtype).min / 2).to(values)
    share = allowed[:, 0] if allowed.shape[1] == 1 else allowed[:, head]
    share = (share / share.sum(-1, keepdim=True).clamp_min(1)).expand(len(values), -1, -1)
    return torch.bmm(share, values)


@dataclass(frozen=True)
class Patch:
    """Give one head the output that it had in another run, at all positions or at some (Vig et al. 2020)."""

    site: ClassVar[str] = "head_output"

    layer: int
    "Index of the layer, from 0."
    head: int
    "Index of the head, from 0."
    clean: Float[Tensor, "batch query head_dim"]
    "The head's output in the other run, for texts of the same pieces' length."
    places: Bool[Tensor, "batch query"] | None = None
    "True where it is given; None for everywhere."

    def __call__(self, seen: Seen) -> Tensor:
        """Return what the head is to give, [batch, query, head_dim]."""
        own, clean = seen.tensor[:, self.head], self.clean.to(seen.tensor)
        if own.shape != clean.shape:
            raise HookError(f"the patch is {tuple(clean.shape)}, expected {tuple(own.shape)}")
        return clean if self.places is None else torch.where(self.places.to(own.device)[..., None], clean, own)


@dataclass(frozen=True)
class Borrow:
    """Mix the values of one head by another's attention, at all positions."""

    site: ClassVar[str] = "head_output"

    layer: int
    "Index of the layer, from 0."
    head: int
    "Index of the head, from 0."
    pattern: Float[Tensor, "batch query key"]
    "The attention that it borrows; rows sum to 1."

    def __call__(self, seen: Seen) -> Tensor:
        """Return what the head is to give, [batch, query, head_dim]."""
        assert seen.value is not None, "shown at head_output"
        return torch.bmm(self.pattern.to(seen.value), seen.value[:, self.head])


@dataclass(frozen=True)
class Attend:
    """Let heads of one layer attend as told: rows of their patterns are replaced, and everything after them follows."""

    site: ClassVar[str] = "pattern"

    layer: int
    "Index of the layer, from 0."
    patterns: Mapping[int, Tensor]
    "For each head (index from 0) [batch, query, key], what it is to attend to; a row of zeros leaves the head's own."

    def __call__(self, seen: Seen) -> Tensor:
        """Return the patterns [batch, head, query, key] with those of the heads replaced."""
        changed = seen.tensor.clone()
        for head, pattern in self.patterns.items():
            _check_head(self.layer, head, seen)
            own, given = changed[:, head], pattern.to(changed)
            if own.shape != given.shape:
                raise HookError(
                    f"the pattern for layer index {self.layer}, head index {head} is {tuple(given.shape)}, "
                    f"expected {tuple(own.shape)}"
                )
            own.copy_(torch.where(given.any(-1, keepdim=True), given, own))
        return changed


def _check_head(layer: int, head: int, seen: Seen) -> None:
    if not 0 <= head < seen.tensor.shape[1]:
        raise HookError(f"head index {head} is outside layer {layer} ({seen.tensor.shape[1]} heads, from 0)")


Change = Ablate | Patch | Borrow | Attend
"What `intervene` takes."


@contextmanager
def intervene(model: nn.Module, *changes: Change) -> Iterator[None]:
    """Apply `changes` to each forward pass of `model` while the block runs.

    >>> with intervene(model, Ablate(layer=2, head=4)): model(**batch)  # doctest: +SKIP

    Changes of one layer and site are applied in the order given. Raises HookError after a forward pass in which a layer
    to be changed was never reached.
    """
    with watch(model, partial(changed, changes), {change.site for change in changes}, {c.layer for c in changes}):
        yield


def changed(changes: Sequence[Change], seen: Seen) -> Tensor:
    """Return what is seen as `changes` make it; those of other layers and sites do nothing."""
    tensor = seen.tensor
    for change in changes:
        if (change.layer, change.site) != (seen.layer, seen.site):
            continue
        if isinstance(change, Attend):
            tensor = change(replace(seen, tensor=tensor))
            continue
        _check_head(change.layer, change.head, seen)
        made = change(replace(seen, tensor=tensor))
        tensor = tensor.clone() if tensor is seen.tensor else tensor
        tensor[:, change.head] = made
    return tensor


@contextmanager
def gated(model: nn.Module, gates: Float[Tensor, "*batch layer head"]) -> Iterator[None]:
    """Multiply the output of every head, before W_O, by its gate while the block runs (Michel et al. 2019, 2.2).

    `gates` are [layer, head], or [batch, layer, head] for each text its own; gradients flow into them.
    """

    def apply(seen: Seen) -> Tensor:
        gate = gates[..., seen.layer, :].to(seen.tensor)
        if gate.shape[-1] != seen.tensor.shape[1]:
            raise HookError(f"{gate.shape[-1]} gates for the {seen.tensor.shape[1]} heads of layer index {seen.layer}")
        return seen.tensor * gate[..., None, None]

    with watch(model, apply, ["head_output"]):
        yield
