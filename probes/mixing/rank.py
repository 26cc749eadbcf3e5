"""Rank collapse: how far the states of a text are from being all the same (Dong et al. 2021)."""

from __future__ import annotations

from jaxtyping import Float, Int
from torch import Tensor

from mha.encoder.encoder import Encoder
from mha.reading.attention_blocks import states_without

WHOLE, NO_FEED_FORWARD, NO_SKIPS, ATTENTION_ALONE = PASSES = (
    "states: all parts",
    "states: no feed-forward nets",
    "states: no skip connections",
    "states: attention alone",
)
"The passes of which states are compared; attention alone has neither feed-forward nets nor skip connections."

PARTS = {WHOLE: (True, True), NO_FEED_FORWARD: (True, False), NO_SKIPS: (False, True), ATTENTION_ALONE: (False, False)}
"Pass -> whether it has skip connections, and feed-forward nets."


def relative_residual(states: Float[Tensor, "*layer piece model"]) -> Float[Tensor, " *layer"]:
    """Return the norm of the states minus their mean over pieces, relative to that of the states; 0 at rank one.

    The norm is the composite one, sqrt(|X|_1 |X|_inf): of the largest sums of absolute values of a column and of a row
    (Dong et al. 2021, section 2).

    >>> import torch
    >>> relative_residual(torch.tensor([[1.0, 2.0], [1.0, 2.0]]))
    tensor(0.)
    """
    return _composite(states - states.mean(-2, keepdim=True)) / _composite(states)


def _composite(states: Tensor) -> Tensor:
    sizes = states.abs()
    return (sizes.sum(-2).amax(-1) * sizes.sum(-1).amax(-1)).sqrt()


def states_of_passes(encoder: Encoder, ids: Int[Tensor, " piece"]) -> dict[str, Float[Tensor, "depth piece model"]]:
    """Return for each of PASSES the input of the first layer and the output of every layer, in double precision."""
    return {
        name: states_without(encoder, ids, skips=skips, feed_forward=feed_forward).double()
        for name, (skips, feed_forward) in PARTS.items()
    }
