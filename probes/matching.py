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


def head_maps(model: Model, batch: Batch) -> Float[Tensor, "text query key head"]:
    """Return the word-level maps of all heads, layer by layer."""
    layers: list[Tensor] = []
    stream_maps(model, batch, lambda _, maps: layers.append(maps.permute(0, 2, 3, 1)))
    return torch.cat(layers, 3)


def map_rows(
    maps: Float[Tensor, "text query key head"], words: IntArray, texts: IntArray
) -> Float[Tensor, "row key head"]:
    """Return the rows of the words of some texts, one text after the other; `words` is the length of every text."""
    inside = torch.from_numpy(np.arange(maps.shape[1]) < words[texts][:, None])
    return maps[torch.from_numpy(texts)][inside]


def mates(words: IntArray) -> IntArray:
    """Return [text] another text with as many words for every text, no two the same; -1 where there is none."""
    found = np.full(len(words), -1)
    for length in np.unique(words):
        same = np.flatnonzero(words == length)
        if len(same) > 1:
            found[same] = np.roll(same, 1)
    return found


def map_distance(one: Float[Tensor, "row key head"], other: Float[Tensor, "row key other"]) -> Numbers:
    """Return [head, other head], the mean Jensen-Shannon divergence in nats between rows that belong together.

    In [0, ln 2]; 0 for heads with the same maps. The head distance of Clark et al. 2019, section 6, as a mean over
    words instead of a sum, and without their smoothing, for it is finite without.
    """
    total = torch.zeros(one.shape[2], other.shape[2], dtype=torch.float64)
    for left, right in zip(torch.split(one, ROWS), torch.split(other, ROWS), strict=True):
        own = _entropy(left)[:, None] + _entropy(right)[None]
        for head in range(left.shape[2]):
            mixed = _entropy((left[:, :, head, None] + right) / 2)
            total[head] += (mixed - own[head] / 2).double()
    distance: Numbers = (total / len(one)).clamp(min=0).numpy()
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


def match_heads(distance: Numbers, layers: int, *, within_layers: bool) -> Match:
    """Match heads so that the sum of `distance` [head, head] is smallest, within layers or over all heads."""
    blocks = np.split(np.arange(len(distance)), layers) if within_layers else [np.arange(len(distance))]
    partner = _assigned(distance, blocks)
    chance = float(np.mean([distance[np.ix_(block, block)].mean() for block in blocks]))
    return Match(partner, distance[np.arange(len(distance)), partner], chance)


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
