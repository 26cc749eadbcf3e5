"""Which head of one model is which head of another: optimal assignment on the distance between their maps."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import torch
from jaxtyping import Float
from scipy.optimize import linear_sum_assignment
from torch import Tensor

from mha.batches import Batch
from mha.maps import stream_maps
from mha.models import Model
from probes.records import IntArray
from probes.tally import Numbers

ROWS = 4096
"Rows of maps that are compared at a time."


def head_rows(model: Model, batches: Sequence[Batch]) -> list[Float[Tensor, "row key head"]]:
    """Return, a batch each, the rows of the word-level maps of all heads, layer by layer; rows of words sum to 1.

    Two models with the same batches give rows that belong together.
    """
    found = []
    for batch in batches:
        words = torch.arange(batch.from_words.shape[1]) < batch.words[:, None]
        layers: list[Tensor] = []

        def see(_: int, maps: Tensor, layers: list[Tensor] = layers, words: Tensor = words) -> None:
            layers.append(maps.permute(0, 2, 3, 1)[words])

        stream_maps(model, batch, see)
        found.append(torch.cat(layers, 2))
    return found


def map_distance(one: Sequence[Tensor], other: Sequence[Tensor]) -> Numbers:
    """Return [head, head], the mean Jensen-Shannon divergence in nats between rows of heads of two models.

    In [0, ln 2]; 0 for heads with the same maps. The head distance of Clark et al. 2019, section 6, as a mean over
    words instead of a sum, and without their smoothing, for it is finite without.
    """
    total, rows = torch.zeros(one[0].shape[2], other[0].shape[2], dtype=torch.float64), 0
    for mine, theirs in zip(one, other, strict=True):
        for left, right in zip(torch.split(mine, ROWS), torch.split(theirs, ROWS), strict=True):
            own = _entropy(left)[:, None] + _entropy(right)[None]
            for head in range(left.shape[2]):
                mixed = _entropy((left[:, :, head, None] + right) / 2)
                total[head] += (mixed - own[head] / 2).double()
        rows += len(mine)
    distance: Numbers = (total / rows).clamp(min=0).numpy()
    return distance


def _entropy(rows: Tensor) -> Tensor:
    """Return [head], the entropy in nats of rows [row, key, head], summed over rows."""
    return -torch.xlogy(rows, rows).sum((0, 1))


@dataclass(frozen=True)
class Match:
    """An assignment of the heads of one model to those of another."""

    partner: IntArray
    "[head] The head of the other model, as a flat index."
    distance: Numbers
    "[head] Distance to the partner, in nats."
    chance: float
    "Mean distance of a random assignment under the same restriction."
    null: Numbers
    "[draw] Mean distance of the optimal assignment when the rows of the distance matrix are shuffled."


def match_heads(distance: Numbers, layers: int, *, within_layers: bool, draws: int = 99, seed: int = 0) -> Match:
    """Match heads so that the sum of `distance` [head, head] is smallest, within layers or over all heads.

    The null shuffles each row of the matrix by itself (within layers, if so asked) and matches again: heads that are
    as near to someone as before, but in which no two agree on who is whose.
    """
    blocks = np.split(np.arange(len(distance)), layers) if within_layers else [np.arange(len(distance))]
    partner = _assigned(distance, blocks)
    random = np.random.default_rng(seed)
    null = np.empty(draws)
    for draw in range(draws):
        shuffled = distance.copy()
        for block in blocks:
            square = np.ix_(block, block)
            shuffled[square] = random.permuted(distance[square], axis=1)
        null[draw] = shuffled[np.arange(len(distance)), _assigned(shuffled, blocks)].mean()
    chance = float(np.mean([distance[np.ix_(block, block)].mean() for block in blocks]))
    return Match(partner, distance[np.arange(len(distance)), partner], chance, null)


def _assigned(distance: Numbers, blocks: Sequence[IntArray]) -> IntArray:
    partner = np.empty(len(distance), np.int64)
    for block in blocks:
        rows, columns = linear_sum_assignment(distance[np.ix_(block, block)])
        partner[block[rows]] = block[columns]
    return partner


def same_roles(partner: IntArray, one: npt.ArrayLike, other: npt.ArrayLike) -> tuple[float, float]:
    """Return the share of heads with a role whose partner has the same, and the share that chance gives.

    `one` and `other` are the main roles [head] of two models, -1 for none. Chance pairs each head with every head of
    the other model alike. NaN where no head has a role.
    """
    mine, theirs = np.asarray(one), np.asarray(other)
    with_role = np.flatnonzero(mine >= 0)
    if not len(with_role):
        return float("nan"), float("nan")
    seen = (mine[with_role] == theirs[partner[with_role]]).mean()
    return float(seen), float((mine[with_role, None] == theirs[None]).mean())
