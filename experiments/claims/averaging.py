"""Claim: a single head must average over what it attends to, where several can keep it apart."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass
from functools import partial

import numpy as np
import torch
import torch.nn.functional as F
from jaxtyping import Float, Int
from pydantic import Field, model_validator
from torch import Tensor, nn

from experiments.statements.claim import Claim, ClaimSection, Work, claim_measure
from experiments.statements.estimates import difference, mean_of
from experiments.statements.rule import Rule
from mha import Attend, MultiHeadAttention, intervene
from reports.statements.claim_record import ClaimMeasure, ClaimRecord, Row
from reports.statements.statement import JudgedStatement, judged

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


ONE, TWO, TWICE, ALIKE = "one head", "two heads of half its size", "one head, asked twice", "two heads, one pattern"

LEEWAY = 0.02
"By how much a share may lie above another and still count as no larger."

Shares = dict[str, dict[str, float]]
"Cell -> model -> share of the variance that it explains."


@dataclass(frozen=True)
class Contestant:
    """What a model of the claim has."""

    heads: int
    queries: int = 1
    alike: bool = False
    "Whether its heads are held to one distribution."

    def held(self, model: TwoSets, marks: Tensor) -> AbstractContextManager[None]:
        """Return the block in which the model is trained and asked."""
        return one_distribution(model, marks, self.heads) if self.alike else nullcontext()


KINDS = {ONE: Contestant(1), TWO: Contestant(2), TWICE: Contestant(1, queries=2), ALIKE: Contestant(2, alike=True)}


class AveragingSection(ClaimSection):
    """The config of the claim."""

    value: int = Field(default=16, ge=1)
    "Numbers of an item's value."
    items: int = Field(default=16, ge=2)
    "Items of a sequence."
    sets: tuple[int, ...] = Field(default=(1, 2, 4), min_length=1)
    "Items in either of the two sets that are asked about: the first with every width, all with the largest."
    widths: tuple[int, ...] = Field(default=(8, 16, 32, 64), min_length=1)
    "Size of the vectors; d_v of a single head, and twice that of two."
    feed_forward: int = Field(default=128, ge=1)
    "Size of the layer that reads the mixture."
    steps: int = Field(default=500, ge=1)
    "Of a training."
    batch: int = Field(default=256, ge=1)
    "Sequences a step."
    learning_rate: float = Field(default=5e-3, gt=0)
    "At the start; it falls to 0 in a line."
    examples: int = Field(default=4096, ge=2)
    "New sequences that are asked after training."
    seeds: tuple[int, ...] = Field(default=tuple(range(5)), min_length=2)
    "One training of each model a seed."

    @model_validator(mode="after")
    def _all_fits(self) -> AveragingSection:
        if odd := [width for width in self.widths if width % 2]:
            raise ValueError(f"widths: expected even sizes, which two heads divide, got {odd[0]}")
        if 2 * max(self.sets) > self.items:
            raise ValueError(f"sets: two of {max(self.sets)} do not fit into {self.items} items")
        return self

    @property
    def cells(self) -> list[tuple[int, int]]:
        """Width and items of a set: every width with the first size of a set, then all others with the largest."""
        return [
            *((width, self.sets[0]) for width in self.widths),
            *((self.widths[-1], each) for each in self.sets[1:]),
        ]


def measure(section: AveragingSection, work: Work) -> ClaimRecord:
    """Train the models for every seed and hold what they tell against each other and against the bounds."""
    found: dict[int, Shares] = {}
    for done, seed in enumerate(section.seeds):
        found[seed] = work.part(f"seed {seed}", partial(examine_seed, section, seed))
        work.progress("averaging", done + 1, len(section.seeds))
    by_width = _measure("explained variance by width", "width", section, section.cells[: len(section.widths)], found, 0)
    by_items = [(section.widths[-1], each) for each in section.sets]
    by_set = _measure("explained variance by items of a set", "items", section, by_items, found, 1)
    return ClaimRecord([by_width, by_set], _statements(section, found), _noticed(section, found))


def examine_seed(section: AveragingSection, seed: int) -> Shares:
    """Return what every model explains in every cell."""
    found: Shares = {}
    for width, each in section.cells:
        asked = draw(section.value, section.items, each, section.examples, torch.Generator().manual_seed(seed))
        found[_cell(width, each)] = {
            name: examine(train(section, width, each, kind, seed), kind, asked) for name, kind in KINDS.items()
        }
    return found


def train(section: AveragingSection, width: int, each: int, kind: Contestant, seed: int) -> TwoSets:
    """Return a model trained on random examples, with `each` items in a set."""
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        model = TwoSets(section.value, width, kind.heads, section.feed_forward, kind.queries)
    optimizer = torch.optim.Adam(model.parameters(), lr=section.learning_rate)
    falling = torch.optim.lr_scheduler.LinearLR(optimizer, 1.0, 0.0, section.steps)
    generator = torch.Generator().manual_seed(seed + 2**32)
    for _ in range(section.steps):
        values, marks, means = draw(section.value, section.items, each, section.batch, generator)
        with kind.held(model, marks):
            loss = F.mse_loss(model(values, marks), means)
        torch.autograd.backward(loss)
        optimizer.step()
        optimizer.zero_grad()
        falling.step()
    return model


@torch.no_grad()
def examine(model: TwoSets, kind: Contestant, examples: Examples) -> float:
    """Return the share of the variance of both means that a model explains."""
    values, marks, means = examples
    with kind.held(model, marks):
        return explained(model(values, marks), means)


def _cell(width: int, each: int) -> str:
    return f"width {width}, {each} in a set"


def _of(found: dict[int, Shares], name: str, width: int, each: int) -> dict[int, float]:
    """Return seed -> share of a model in a cell."""
    return {seed: one[_cell(width, each)][name] for seed, one in found.items()}


def _measure(
    name: str, axis: str, section: AveragingSection, cells: Sequence[tuple[int, int]], found: dict[int, Shares], at: int
) -> ClaimMeasure:
    rows = [
        Row(model, cell[at], seed, value)
        for model in KINDS
        for cell in cells
        for seed, value in _of(found, model, *cell).items()
    ]
    rows += [
        Row(f"bound of {mixtures}", cell[at], 0, bound(section.value, cell[0], number))
        for mixtures, number in (("one mixture", 1), ("two mixtures", 2))
        for cell in cells
    ]
    return claim_measure(name, "%", rows, axis=axis)


def _statements(section: AveragingSection, found: dict[int, Shares]) -> list[JudgedStatement]:
    def above(width: int, each: int) -> dict[int, float]:
        most = bound(section.value, width, 1)
        return {seed: share - most for seed, share in _of(found, ONE, width, each).items()}

    largest = [max(above(*cell)[seed] for cell in section.cells) for seed in found]
    counted = [
        judged(
            f"Two heads tell more than one of their size, width {width} and {each} item{'s' * (each > 1)} in a set",
            "explained variance of two heads − of one head, paired by seed; "
            f"up to {100 * LEEWAY:g} points count as no more",
            difference(_of(found, TWO, width, each), _of(found, ONE, width, each)),
            Rule(above=LEEWAY),
        )
        for width, each in section.cells
    ]
    return [
        *counted,
        judged(
            "One mixture tells no more than half of two means",
            "explained variance of one head − bound of one mixture, where it is largest",
            mean_of(largest),
            Rule(below=LEEWAY),
            kind="identity",
            why="the bound follows from the algebra of normal variables; trainings can only confirm it",
        ),
    ]


def _noticed(section: AveragingSection, found: dict[int, Shares]) -> list[str]:
    width, each = section.widths[-1], section.sets[0]
    share = {name: 100 * np.mean([*_of(found, name, width, each).values()]) for name in KINDS}
    narrow = [width for width in section.widths if width <= section.value]
    told = [
        f"At width {width} one head explains {share[ONE]:.0f} %, two heads {share[TWO]:.0f} %. With the same training "
        f"two heads that are held to one pattern explain {share[ALIKE]:.0f} %, and one head that is asked twice "
        f"{share[TWICE]:.0f} %."
    ]
    if narrow:
        told.append(
            f"Where the width is no larger than a value ({', '.join(map(str, narrow))} of {section.value} numbers) "
            "both bounds are equal: either of two heads passes half of the dimensions, one head half of what is in all."
        )
    return told


CLAIM = Claim(
    name="averaging",
    title="Must a single head average?",
    sentence="With a single head, averaging keeps a model from attending to information at several places at once.",
    source="Vaswani et al. 2017, section 3.2.2",
    about=(
        "A sequence holds items with a mark and a value, a vector of random numbers. Some items are of a first set, as "
        "many others of a second. One query is to tell the mean value of either set, so it needs two distributions "
        "over the same items at once. A net reads both means off what attention gives. Models with one head and with "
        "two have the same number of parameters, the same examples and the same steps.",
        "What one mixture can explain at most is known: half of the variance of both means, and less where it is "
        "narrower than a value. Two more models say why: one whose two heads are held to the same pattern, and one "
        "whose only head is asked by two queries.",
    ),
    limits=(
        "Keys hold marks alone and values numbers alone. Where values are a few known symbols instead, a head that "
        "weights them unevenly tells which is which, and a net can read that off one mixture.",
        "What is learnt is what gradient descent finds in so many steps; the bounds hold for any.",
    ),
    section=AveragingSection,
    measure=measure,
)
