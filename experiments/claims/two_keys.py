"""A task that needs two keys at once and in their order, and the smallest model with attention that can do it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import torch
import torch.nn.functional as F
from jaxtyping import Float, Int
from torch import Tensor, nn

from mha import Attend, MultiHeadAttention, intervene

PLAIN, FIRST, SECOND = 0, 1, 2
"Marks of places."

Examples = tuple[Tensor, Tensor, Tensor]
"Symbols and marks [example, place], answers [example]."


class TwoKeys(nn.Module):
    """One query attends to marked places and mixes their symbols; a feed-forward net reads the answer off the mixture.

    Keys hold the mark of a place, values its symbol alone: what the mixture says of the order of both symbols it says
    by its weights.
    """

    def __init__(self, symbols: int, model: int, heads: int, feed_forward: int) -> None:
        """Create a model for so many symbols, with fresh weights."""
        super().__init__()
        self.symbols = nn.Embedding(symbols, model)
        self.marks = nn.Embedding(3, model)
        self.query = nn.Parameter(torch.randn(model))
        self.attention = MultiHeadAttention(model, heads)
        nn.init.normal_(self.attention.project.weight[: 2 * model], std=0.02)  # nearly flat patterns, as in BERT
        self.expand = nn.Linear(model, feed_forward)
        self.contract = nn.Linear(feed_forward, symbols)

    def forward(
        self, symbols: Int[Tensor, "example place"], marks: Int[Tensor, "example place"]
    ) -> Float[Tensor, "example symbol"]:
        """Return the logits of the answers."""
        query = self.query.expand(len(symbols), 1, -1)
        mixed = self.attention(query, self.marks(marks), self.symbols(symbols))[:, 0]
        logits: Tensor = self.contract(F.relu(self.expand(mixed)))
        return logits


@contextmanager
def equal_weights(model: TwoKeys, marks: Tensor) -> Iterator[None]:
    """Let the only head give half of its weight to either marked place while the block runs."""
    halves = (marks != PLAIN).float()[:, None] / 2
    with intervene(model.attention, Attend(0, {0: halves})):
        yield


def random_table(symbols: int, generator: torch.Generator) -> Int[Tensor, "symbol symbol"]:
    """Return the answer to every ordered pair of symbols, drawn at random."""
    return torch.randint(symbols, (symbols, symbols), generator=generator)


def ceiling(table: Int[Tensor, "symbol symbol"]) -> float:
    """Return the accuracy that knowing both symbols but not their order allows, over all ordered pairs. In (0, 1].

    An equal average of two values is the same for both orders; of two different answers one at most can be right.

    >>> ceiling(torch.tensor([[0, 1], [1, 0]])), ceiling(torch.tensor([[0, 1], [0, 1]]))
    (1.0, 0.75)
    """
    known = (table == table.T).float()
    return float((known + (1 - known) / 2).mean())


def draw(table: Tensor, places: int, count: int, generator: torch.Generator) -> Examples:
    """Return random examples."""
    symbols = torch.randint(len(table), (count, places), generator=generator)
    order = torch.rand(count, places, generator=generator).argsort(1)
    marks = torch.full((count, places), PLAIN)
    marks.scatter_(1, order[:, :1], FIRST).scatter_(1, order[:, 1:2], SECOND)
    one, other = (symbols.gather(1, order[:, at : at + 1])[:, 0] for at in (0, 1))
    return symbols, marks, table[one, other]


def every_pair(table: Tensor, places: int, each: int, generator: torch.Generator) -> Examples:
    """Return every ordered pair of symbols `each` times, at random places among random others."""
    symbols, marks, _ = draw(table, places, each * table.numel(), generator)
    pair = torch.arange(table.numel()).repeat(each)
    one, other = pair // len(table), pair % len(table)
    symbols[marks == FIRST], symbols[marks == SECOND] = one, other
    return symbols, marks, table[one, other]
