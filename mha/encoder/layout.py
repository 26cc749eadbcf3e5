"""Where the real tokens of a batch lie, and which of them may attend to which."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor

from mha.attention import additive


@dataclass(frozen=True)
class Packing:
    """Where the real tokens of a padded batch lie, so that everything but attention runs on them alone."""

    batch: int
    length: int
    real: Int[Tensor, " token"] | None
    "Indices of the real tokens in the flattened batch; None where every token is real."
    source: Int[Tensor, " slot"] | None
    "For every place of the flattened batch the real token that stands there; any at padding."
    bias: Float[Tensor, "_ 1 _ key"] | None = None
    "What is added to scores: 0 where a key may be attended to; None where all may."

    @classmethod
    def of(
        cls,
        mask: Bool[Tensor, "batch length"] | None,
        like: Int[Tensor, "batch length"],
        dtype: torch.dtype = torch.float32,
        *,
        causal: bool = False,
    ) -> Packing:
        """Return the packing of a batch whose mask is True at real tokens, all where it is None.

        `like` is any tensor of its shape, such as its pieces; `dtype` is that of the scores. Where attention is
        `causal`, a token attends to none after itself.
        """
        mask = None if mask is None or bool(mask.all()) else mask
        places, source = (None, None) if mask is None else _places_of(mask)
        allowed = None if mask is None else mask[:, None]
        if causal:
            before = _before(like)
            allowed = before if allowed is None else allowed & before
        batch, length = like.shape
        return cls(batch, length, places, source, additive(allowed, dtype))

    @classmethod
    def of_blocks(
        cls, blocks: Int[Tensor, "batch length"], dtype: torch.dtype = torch.float32, *, causal: bool = False
    ) -> Packing:
        """Return the packing of rows of several documents: tokens attend within their block, -1 is padding."""
        real = blocks >= 0
        if bool((blocks == blocks[:, :1]).all()) and bool(real.all()):
            return cls.of(None, blocks, dtype, causal=causal)
        places, source = (None, None) if bool(real.all()) else _places_of(real)
        allowed = (blocks[:, :, None] == blocks[:, None]) & real[:, None]
        if causal:
            allowed = allowed & _before(blocks)
        batch, length = blocks.shape
        return cls(batch, length, places, source, additive(allowed, dtype))

    def index(self, places: Int[Tensor, " chosen"]) -> Int[Tensor, " chosen"]:
        """Indices among the real tokens of real places of the flattened batch."""
        return places if self.source is None else self.source.index_select(0, places)

    def pack(self, x: Tensor) -> Tensor:
        """[batch, length, ...] -> [token, ...]."""
        flat = x.flatten(0, 1)
        return flat if self.real is None else flat.index_select(0, self.real)

    def unpack(self, x: Tensor) -> Tensor:
        """[token, ...] -> [batch, length, ...]; what stands at padding is some token's, which the mask hides."""
        flat = x if self.source is None else x.index_select(0, self.source)
        return flat.view(self.batch, self.length, *x.shape[1:])

    def unpack_zero(self, x: Tensor) -> Tensor:
        """[token, ...] -> [batch, length, ...], zero at padding."""
        if self.real is None:
            return self.unpack(x)
        padded = x.new_zeros(self.batch * self.length, *x.shape[1:]).index_copy_(0, self.real, x)
        return padded.view(self.batch, self.length, *x.shape[1:])


def _before(like: Int[Tensor, "batch length"]) -> Bool[Tensor, "1 query key"]:
    """Return where a key stands at the query or before it."""
    length = like.shape[1]
    return torch.ones(1, length, length, dtype=torch.bool, device=like.device).tril()


def _places_of(mask: Tensor) -> tuple[Tensor, Tensor]:
    flat = mask.flatten()
    return flat.nonzero().squeeze(1), (flat.cumsum(0) - 1).clamp_(min=0)
