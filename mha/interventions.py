"""Interventions: what heads do is changed while a `with` block runs."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import ClassVar

import torch
from torch import Tensor, nn

from mha.hooks import HookError, Seen, watch


@dataclass(frozen=True)
class Ablate:
    """Switch one head off: replace its output before W_O by zero, or by its mean (Michel et al. 2019, section 2.2).

    The mean is pooled over examples and positions: `mean`, a [head_dim] vector (say from a corpus), or where it is not
    given the mean over the batch at hand, padding left out. In cross-attention nothing says which queries are padding,
    so there `mean` must be given.
    """

    site: ClassVar[str] = "head_output"

    layer: int
    "Index of the layer, from 0."
    head: int
    "Index of the head, from 0."
    how: str = "zero"
    '"zero" or "mean".'
    mean: Tensor | None = None

    def __post_init__(self) -> None:
        """Refuse an unknown way of ablation."""
        if self.how not in ("zero", "mean"):
            raise HookError(f"unknown ablation {self.how!r}; the ways are 'zero' and 'mean'")

    def __call__(self, seen: Seen) -> Tensor:
        """Return the head outputs [batch, head, query, head_dim] with this head's replaced."""
        _check_head(self.layer, self.head, seen)
        changed = seen.tensor.clone()
        changed[:, self.head] = 0 if self.how == "zero" else self._mean(seen)
        return changed

    def _mean(self, seen: Seen) -> Tensor:
        if self.mean is not None:
            return self.mean.to(seen.tensor)
        if seen.crossed:
            raise HookError(
                f"layer index {self.layer} attends to other pieces than its queries (cross-attention or a cache), and "
                "its mask does not say which queries are padding: give the vector to write, Ablate(..., mean=)"
            )
        own, real = seen.tensor[:, self.head], seen.real_keys()
        return (own if real is None else own[real]).flatten(0, -2).mean(0)


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


Change = Ablate | Attend
"What `intervene` takes."


@contextmanager
def intervene(model: nn.Module, *changes: Change) -> Iterator[None]:
    """Apply `changes` to each forward pass of `model` while the block runs.

    >>> with intervene(model, Ablate(layer=2, head=4)): model(**batch)  # doctest: +SKIP

    Changes of one layer and site are applied in the order given. Raises HookError after a forward pass in which a layer
    to be changed was never reached.
    """

    def apply(seen: Seen) -> Tensor:
        tensor = seen.tensor
        for change in changes:
            if (change.layer, change.site) == (seen.layer, seen.site):
                tensor = change(replace(seen, tensor=tensor))
        return tensor

    with watch(model, apply, {change.site for change in changes}, {change.layer for change in changes}):
        yield
