"""How much attention mixes in one text: ratios, effective attention, and states that become alike.

Mixing ratios after Kobayashi et al. 2021, effective attention and identifiability after Brunner et al. 2020, and rank
collapse after Dong et al. 2021.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import torch
from jaxtyping import Float, Int
from torch import Tensor

from mha.encoder.encoder import Encoder
from mha.pieces import CLS, SEP, Pieces
from mha.reading.attention_blocks import AttentionBlock, states_without

WEIGHTS, HALF, NORMS, RESIDUAL, BLOCK = RATIOS = (
    "weights",
    "weights, residual",
    "norms",
    "norms, residual",
    "norms, residual, LayerNorm",
)
"""What is taken into account: attention weights, averaged over heads; half of them, half the piece itself (Abnar and
Zuidema 2020); the vectors that heads write; these and the residual; and LayerNorm too, all of the block."""


def mixing_ratios(block: AttentionBlock) -> dict[str, Float[Tensor, " piece"]]:
    """Return each of RATIOS for every piece, in [0, 1]: 0 where nothing comes from other pieces.

    Of vectors it is |c| / (|c| + |o|), c the sum of what comes from other pieces and o what comes from the piece itself
    (Kobayashi et al. 2021, equation 13). The biases of W_O and LayerNorm come from no piece and are left out.
    """
    own = torch.diagonal(block.pattern, dim1=1, dim2=2)
    context = block.written(block.pattern - torch.diag_embed(own))
    itself = block.written(torch.diag_embed(own))
    with_residual = itself + block.x
    others = 1 - own.mean(0)
    return {
        WEIGHTS: others,
        HALF: others / 2,
        NORMS: _ratio(context, itself),
        RESIDUAL: _ratio(context, with_residual),
        BLOCK: _ratio(block.scaled(context), block.scaled(with_residual)),
    }


def _ratio(context: Float[Tensor, "piece model"], itself: Float[Tensor, "piece model"]) -> Float[Tensor, " piece"]:
    mixed, kept = context.norm(dim=-1), itself.norm(dim=-1)
    ratio: Tensor = mixed / (mixed + kept)
    return ratio


LONGEST = 4
"Texts of as many sizes of a head, or more, are one group."

RANK = 1e-5
"Singular values below this part of the largest are zero."


def effective_attention(
    pattern: Float[Tensor, "head query key"], value: Float[Tensor, "head key head_dim"]
) -> Float[Tensor, "head query key"]:
    """Return attention without its part in the left null space of the values: V^T of any text of like rows is kept.

    What a head writes is pattern V W_O, so that rows a with a V = 0 change nothing. With more keys than the head's size
    there are such rows. Rows do not sum to 1, and entries may be negative (Brunner et al. 2020, section 3.2).
    """
    left, sizes, _ = torch.linalg.svd(value.double(), full_matrices=False)
    kept = left * (sizes > RANK * sizes[:, :1])[:, None]
    return torch.einsum("hqk,hkr,hjr->hqj", pattern.double(), kept, kept)


def effective_measures(block: AttentionBlock, text: Pieces) -> dict[str, Float[Tensor, " head"]]:
    """Return the measures of every head of a layer on one text.

    pearson: correlation of attention and effective attention over all cells of the map. removed: share of the squared
    norm of attention that lies in the null space, in [0, 1]. cls, sep and words: mean attention of a query to [CLS],
    to [SEP] and to all words together, and the same of effective attention.
    """
    pattern, word = block.pattern.double(), torch.from_numpy(text.word).long()
    effective = effective_attention(block.pattern, block.value)
    squares = pattern.square().sum((1, 2))
    found = {
        "pearson": _pearson(pattern.flatten(1), effective.flatten(1)),
        "removed": ((pattern - effective).square().sum((1, 2)) / squares).clamp(0, 1),
    }
    for name, keys in (("cls", word == CLS), ("sep", word == SEP), ("words", word >= 0)):
        for kind, maps in ((name, pattern), (f"{name}_effective", effective)):
            found[kind] = maps[..., keys].sum(-1).mean(-1)
    return found


def _pearson(one: Float[Tensor, "head cell"], other: Float[Tensor, "head cell"]) -> Float[Tensor, " head"]:
    one, other = (part - part.mean(1, keepdim=True) for part in (one, other))
    return (one * other).sum(1) / (one.square().sum(1) * other.square().sum(1)).sqrt()


def in_sizes(pieces: int, head_dim: int) -> int:
    """Return the length of a text in sizes of a head, rounded up; LONGEST for all that are longer.

    >>> in_sizes(32, 32), in_sizes(33, 32), in_sizes(500, 32)
    (1, 2, 4)
    """
    return min(-(-pieces // head_dim), LONGEST)


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


PENALTY = 1e-3
"Of the ridge regression, relative to the mean variance of the states."


@dataclass
class Recovery:
    """A linear map from states of each depth back to the embeddings they began as; fitted on texts seen so far."""

    count: int = 0
    sums: dict[str, Tensor] = field(default_factory=dict)
    "Sums over pieces in double precision: x, y [depth, model], xx, xy [depth, model, model]."

    def add(self, states: Float[Tensor, "depth piece model"]) -> None:
        """Learn from a text; its embeddings are the states at depth 0."""
        x = states.double()
        y = x[:1].expand_as(x)
        seen = {"x": x.sum(1), "y": y.sum(1), "xx": x.mT @ x, "xy": x.mT @ y}
        self.sums = {name: self.sums[name] + part for name, part in seen.items()} if self.sums else seen
        self.count += states.shape[1]

    def fitted(self) -> LinearMap:
        """Return the ridge regression of embeddings on states, with an intercept."""
        mean_x, mean_y = self.sums["x"] / self.count, self.sums["y"] / self.count
        xx = self.sums["xx"] / self.count - torch.einsum("dm,dn->dmn", mean_x, mean_x)
        xy = self.sums["xy"] / self.count - torch.einsum("dm,dn->dmn", mean_x, mean_y)
        ridge = PENALTY * xx.diagonal(dim1=1, dim2=2).mean(1).clamp(min=1e-12)
        penalised = xx + ridge[:, None, None] * torch.eye(xx.shape[-1], dtype=xx.dtype)
        slope = torch.cholesky_solve(xy, torch.linalg.cholesky(penalised))  # torch.linalg.solve: pytorch issue 142815
        return LinearMap(mean_x, mean_y, slope)


@dataclass(frozen=True)
class LinearMap:
    """Recovers embeddings from states, for each depth."""

    mean_x: Float[Tensor, "depth model"]
    mean_y: Float[Tensor, "depth model"]
    slope: Float[Tensor, "depth model model"]

    def identified(self, states: Float[Tensor, "depth piece model"]) -> Float[Tensor, " depth"]:
        """Return the share of pieces whose recovered embedding is nearest, by cosine, to their own of the text's.

        In [0, 1]; one over the number of pieces by chance (Brunner et al. 2020, section 4.1, 1-NN with a linear map).
        """
        x = states.double()
        recovered = (x - self.mean_x[:, None]) @ self.slope + self.mean_y[:, None]
        unit = torch.nn.functional.normalize(x[0], dim=-1)
        nearest = (recovered @ unit.T).argmax(-1)
        return (nearest == torch.arange(x.shape[1])).double().mean(-1)
