"""Effective attention: the part of attention that reaches what a head writes (Brunner et al. 2020, section 3)."""

from __future__ import annotations

import pandas as pd
import torch
from jaxtyping import Float
from torch import Tensor

from mha.pieces import CLS, SEP, Pieces
from mha.reading.attention_blocks import AttentionBlock

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


def effective_table(by_text: pd.DataFrame) -> pd.DataFrame:
    """Return the means over texts of each length, of rows of single texts: one row a head and length."""
    rows = by_text.drop(columns=["text", "document"])
    key = ["sizes", "layer", "head", "name"]
    return (
        rows.groupby(key, as_index=False)
        .mean()
        .merge(rows.groupby(key, as_index=False).size())
        .rename(columns={"size": "n"})
    )
