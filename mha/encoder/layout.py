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
    bias: Float[Tensor, "batch 1 _ key"] | None = None
    "What is added to scores: 0 where a key may be attended to; None where all may."

    @classmethod
    def of(
        cls, mask: Bool[Tensor, "batch length"] | None, batch: int, length: int, dtype: torch.dtype = torch.float32
    ) -> Packing:
        """Return the packing of a batch whose mask is True at real tokens; `dtype` is that of the scores."""
        if mask is None or bool(mask.all()):
            return cls(batch, length, None, None)
        return cls(batch, length, *_places_of(mask), additive(mask, dtype))

    @classmethod
    def of_blocks(cls, blocks: Int[Tensor, "batch length"], dtype: torch.dtype = torch.float32) -> Packing:
        """Return the packing of rows of several documents: tokens attend within their block, -1 is padding."""
        real = blocks >= 0
        batch, length = blocks.shape
        places, source = (None, None) if bool(real.all()) else _places_of(real)
        if places is None and bool((blocks == blocks[:, :1]).all()):
            return cls(batch, length, None, None)
        same = (blocks[:, :, None] == blocks[:, None]) & real[:, None]
        return cls(batch, length, places, source, additive(same, dtype))

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


def _places_of(mask: Tensor) -> tuple[Tensor, Tensor]:
    flat = mask.flatten()
    return flat.nonzero().squeeze(1), (flat.cumsum(0) - 1).clamp_(min=0)
