"""What a training step minimises: the loss at masked or next pieces, and attention on arcs where it has a part."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import torch
from jaxtyping import Float, Int
from torch import Tensor, nn

from mha.causal.fixed_patterns import fixed_heads
from mha.encoder.encoder import Encoder
from mha.encoder.masked_lm import MaskedBatch, masked_lm_loss, masked_logits
from mha.hooks import watch
from mha.watches import Seen


@dataclass(frozen=True)
class ArcBatch:
    """Arcs between words of a batch, as cells of its attention patterns."""

    cells: Int[Tensor, " cell"]
    "Index of each cell in the flattened [batch, query, key]."
    share: Float[Tensor, " cell"]
    """What a cell counts: 1 / (pieces of the query's word) / (words that have an arc). With it the sum over cells is
    the mean over these words of the attention to all words that an arc joins them with."""

    def to(self, device: torch.device | str) -> ArcBatch:
        """Return the batch on another device."""
        return ArcBatch(self.cells.to(device, non_blocking=True), self.share.to(device, non_blocking=True))


class MaskedLMObjective(nn.Module):
    """The loss as a module, for the wrapper that adds up gradients between processes."""

    def __init__(self, encoder: Encoder, fixed: Sequence[str] = ()) -> None:
        """Wrap an encoder that has a masked-LM head; `fixed` are the patterns of its first heads, if any."""
        super().__init__()
        self.encoder, self.fixed = encoder, tuple(fixed)

    def forward(self, batch: MaskedBatch, arcs: ArcBatch | None = None) -> tuple[Tensor, Tensor]:
        """Return the loss in nats, 0 where nothing is predicted, and the attention on `arcs`, 0 without any."""
        found: list[Tensor] = []
        with fixed_heads(self.encoder, self.fixed):
            if arcs is None:
                loss = self._loss(batch)
                return loss, loss.new_zeros(())
            with watch(self.encoder, lambda seen: found.append(attention_on(seen, arcs))):
                loss = self._loss(batch)
        return loss, torch.stack(found).mean()

    def _loss(self, batch: MaskedBatch) -> Tensor:
        if len(batch.gold):
            return masked_lm_loss(self.encoder, batch)
        return masked_logits(self.encoder, batch).sum()  # of no number, but it leads to every weight


def attention_on(seen: Seen, arcs: ArcBatch) -> Float[Tensor, ""]:
    """Return the attention of a layer on arcs, mean over its heads; in [0, 1] where shares are those of `ArcBatch`."""
    cells = seen.tensor.float().mean(1).flatten().index_select(0, arcs.cells)
    return torch.dot(cells, arcs.share)
