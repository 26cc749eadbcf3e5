"""A task in which one query needs two distributions at once, the smallest model for it, and its bounds."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import torch
import torch.nn.functional as F
from jaxtyping import Float, Int
from torch import Tensor, nn

from mha import Attend, MultiHeadAttention, intervene

PLAIN, FIRST, SECOND = 0, 1, 2
"Marks of items: of neither set, of the first, of the second."

Examples = tuple[Tensor, Tensor, Tensor]
"Values [example, item, value] and marks [example, item]; the means of both sets [example, 2 * value]."


class TwoSets(nn.Module):
    """One query attends to marked items and mixes their values; a net tells the means of both sets from the mixture.

    Keys hold the mark of an item, values its numbers alone.
    """

    def __init__(self, value: int, width: int, heads: int, feed_forward: int, queries: int = 1) -> None:
        """Create a model for values of that size, with fresh weights; with 2 `queries` the same head is asked twice."""
        super().__init__()
        self.marks = nn.Embedding(3, width)
        self.values = nn.Linear(value, width, bias=False)
        self.query = nn.Parameter(torch.randn(queries, width))
        self.attention = MultiHeadAttention(width, heads)
        nn.init.normal_(self.attention.project.weight[: 2 * width], std=0.02)  # nearly flat patterns, as in BERT
        self.expand = nn.Linear(queries * width, feed_forward)
        self.contract = nn.Linear(feed_forward, 2 * value)
        self.straight = nn.Linear(queries * width, 2 * value)

    def forward(
        self, values: Float[Tensor, "example item value"], marks: Int[Tensor, "example item"]
    ) -> Float[Tensor, "example mean"]:
        """Return what it takes the means of both sets to be."""
        query = self.query.expand(len(values), -1, -1)
        mixed = self.attention(query, self.marks(marks), self.values(values)).flatten(1)
        told: Tensor = self.straight(mixed) + self.contract(F.relu(self.expand(mixed)))
        return told


@contextmanager
def one_distribution(model: TwoSets, marks: Tensor, heads: int) -> Iterator[None]:
    """Let all heads give the same weight to every marked item while the block runs."""
    shares = (marks != PLAIN).float()
    shares = (shares / shares.sum(1, keepdim=True))[:, None]
    with intervene(model.attention, *(Attend(0, {head: shares}) for head in range(heads))):
        yield


def draw(value: int, items: int, each: int, count: int, generator: torch.Generator) -> Examples:
    """Return random examples of so many items, `each` in either set; values are standard normal."""
    values = torch.randn(count, items, value, generator=generator)
    marks = torch.full((count, items), PLAIN)
    order = torch.rand(count, items, generator=generator).argsort(1)
    marks.scatter_(1, order[:, :each], FIRST).scatter_(1, order[:, each : 2 * each], SECOND)
    means = [(values * (marks == mark)[..., None]).sum(1) / each for mark in (FIRST, SECOND)]
    return values, marks, torch.cat(means, 1)


def bound(value: int, width: int, distributions: int) -> float:
    """Return the share of the variance of both means that so many mixtures of a total width tell at most. In [0, 1].

    A mixture of both means, a x + b y of independent normal x and y, tells a^2 / (a^2 + b^2) of the one and the rest of
    the other, whatever reads it: half of both. It has no more dimensions than the values, and than its width. Two
    mixtures of half the width each tell all of as many dimensions of x and of y. So one mixture is as good as two where
    the width is no larger than the values.

    >>> bound(16, 64, 1), bound(16, 64, 2), bound(16, 8, 1), bound(16, 8, 2)
    (0.5, 1.0, 0.25, 0.25)
    """
    return min(width / distributions, value) / value * distributions / 2


def explained(predicted: Tensor, means: Tensor) -> float:
    """Return the share of the variance of the means that is told, 1 - squared error / variance; below 0 for worse."""
    return float(1 - (predicted - means).square().sum() / (means - means.mean(0)).square().sum())
