"""Heads with fixed attention patterns that nothing learns (Raganato, Scherrer and Tiedemann 2020, section 3)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager

import torch
import torch.nn.functional as F
from jaxtyping import Bool, Float
from torch import Tensor, nn

from mha.hooks import watch
from mha.watches import Seen

PATTERNS = ("current", "previous", "next", "left", "right", "start", "end")
"""The seven of the paper: one token (the query itself, the one before, the one after, the first, the last), or all that
are two or more places to the left or to the right."""


class PatternError(ValueError):
    """Fixed patterns that an encoder cannot have."""


@contextmanager
def fixed_heads(encoder: nn.Module, names: Sequence[str]) -> Iterator[None]:
    """Give head i of every layer the pattern `names[i]` while the block runs; the other heads attend as they learnt.

    A text is what a query may attend to: in rows of several texts each has its own first and last token. No names
    change nothing. Raises PatternError for an unknown name, and in a forward pass for more names than heads.
    """
    if unknown := set(names) - set(PATTERNS):
        raise PatternError(f"unknown pattern {min(unknown)!r}; known are {', '.join(PATTERNS)}")
    if not names:
        yield
        return

    def fix(seen: Seen) -> Tensor:
        batch, heads, length, _ = seen.tensor.shape
        if len(names) > heads:
            raise PatternError(f"{len(names)} patterns are too many for {heads} heads in a layer")
        allowed = torch.ones(batch, length, length, dtype=torch.bool, device=seen.tensor.device)
        if seen.bias is not None:
            allowed = (seen.bias > torch.finfo(seen.bias.dtype).min / 2)[:, 0].expand(batch, length, length)
        made = torch.stack([fixed_pattern(name, allowed) for name in names], 1)
        return torch.cat([made.to(seen.tensor), seen.tensor[:, len(names) :]], 1)

    with watch(encoder, fix):
        yield


def fixed_pattern(name: str, allowed: Bool[Tensor, "batch token token"]) -> Float[Tensor, "batch token token"]:
    """Return a pattern of PATTERNS; rows sum to 1. What a query is `allowed` to attend to lies side by side.

    A token without one before it, after it, or two places away attends to itself. Of several to the left or right the
    weight is the cube of the distance from the far end, so that nearer ones have more.
    """
    length = allowed.shape[-1]
    key = torch.arange(length, device=allowed.device)
    first = allowed.int().argmax(-1)
    last = length - 1 - allowed.flip(-1).int().argmax(-1)
    own = torch.minimum(torch.maximum(key.expand_as(first), first), last)  # of padding some token
    single = {"current": own, "start": first, "end": last}
    single["previous"] = torch.maximum(own - 1, first)
    single["next"] = torch.minimum(own + 1, last)
    if name in single:
        return F.one_hot(single[name], length).float()
    if name == "left":
        far, inside = key - first[..., None], (key >= first[..., None]) & (key <= own[..., None] - 2)
    else:
        far, inside = last[..., None] - key, (key <= last[..., None]) & (key >= own[..., None] + 2)
    weight = torch.where(inside, (far + 1.0) ** 3, 0.0)
    weight = torch.where(inside.any(-1, keepdim=True), weight, F.one_hot(own, length).float())
    return weight / weight.sum(-1, keepdim=True)
