"""Claim: a single head must average over what it attends to, where several can keep it apart."""

from __future__ import annotations

from contextlib import nullcontext
from functools import partial
from typing import Any

import numpy as np
import torch
import torch.nn.functional as F
from pydantic import Field, model_validator
from torch import Tensor

from experiments.claims.claim import Claim, ClaimSection, Work
from experiments.claims.record import ClaimResult, ClaimStatement, Measure, Row, rows_of
from experiments.claims.two_keys import (
    FIRST,
    SECOND,
    Examples,
    TwoKeys,
    ceiling,
    draw,
    equal_weights,
    every_pair,
    random_table,
)
from experiments.statements.estimates import difference
from experiments.statements.rule import Rule
from mha import record

ONE, TWO, EQUAL, CEILING = "one head", "two heads", "one head, held to equal weights", "ceiling of an equal average"

LEEWAY = 0.02
"By how much an accuracy may be above the ceiling and still count as at it."

UNEVEN = 0.05
"How far the larger part of a head's weight on both keys is above one half where the note calls it uneven."


class AveragingSection(ClaimSection):
    """The config of the claim."""

    symbols: int = Field(default=8, ge=2)
    "Number of symbols, and of answers."
    places: int = Field(default=8, ge=2)
    "Places of a sequence; two of them are asked about."
    model: int = Field(default=64, ge=2)
    "Size of the vectors."
    feed_forward: int = Field(default=256, ge=1)
    "Size of the feed-forward layer."
    steps: int = Field(default=1000, ge=1)
    "Of a training."
    batch: int = Field(default=128, ge=1)
    "Sequences a step."
    learning_rate: float = Field(default=1e-3, gt=0)
    "At the start; it falls to 0 in a line."
    each: int = Field(default=20, ge=1)
    "How often every ordered pair of symbols is asked after training."
    seeds: tuple[int, ...] = Field(default=tuple(range(20)), min_length=2)
    "One table of answers and one training of each model a seed."

    @model_validator(mode="after")
    def _two_heads_fit(self) -> AveragingSection:
        if self.model % 2:
            raise ValueError(f"model: expected an even size, which two heads divide, got {self.model}")
        return self


def measure(section: AveragingSection, work: Work) -> ClaimResult:
    """Train the models for every seed and hold their accuracies against each other and the ceiling."""
    found = {}
    for done, seed in enumerate(section.seeds):
        found[seed] = work.part(f"seed {seed}", partial(examine_seed, section, seed))
        work.progress("averaging", done + 1, len(section.seeds))
    accuracy = {name: {seed: one["accuracy"][name] for seed, one in found.items()} for name in (ONE, TWO, EQUAL)}
    most = {seed: one["ceiling"] for seed, one in found.items()}
    rows = [row for name, values in (accuracy | {CEILING: most}).items() for row in rows_of(values, name)]
    measures = [Measure("accuracy", "%", tuple(rows)), Measure("weight on a key", "%", tuple(_weights(found)))]
    statements = [
        ClaimStatement(
            "A single head does no better than an equal average of both values allows",
            f"accuracy of one head − ceiling of its table; up to {100 * LEEWAY:g} points count as at the ceiling",
            "points",
            difference(accuracy[ONE], most),
            Rule(below=LEEWAY),
        ),
        ClaimStatement(
            "Two heads do better than one of equal size",
            "accuracy of two heads − accuracy of one head, paired by seed",
            "points",
            difference(accuracy[TWO], accuracy[ONE]),
            Rule(above=0.0),
        ),
    ]
    return ClaimResult(measures, statements, _noticed(found, accuracy[EQUAL], most))


def examine_seed(section: AveragingSection, seed: int) -> dict[str, Any]:
    """Return the ceiling of the seed's table, the accuracy of each model on every pair, and what its heads weight."""
    table = random_table(section.symbols, torch.Generator().manual_seed(seed))
    asked = every_pair(table, section.places, section.each, torch.Generator().manual_seed(seed))
    result: dict[str, Any] = {"ceiling": ceiling(table), "accuracy": {}, "weights": {}}
    for name, heads in ((ONE, 1), (TWO, 2), (EQUAL, 1)):
        model = train(section, table, heads, seed, held=name == EQUAL)
        result["accuracy"][name], weights = examine(model, asked, held=name == EQUAL)
        result["weights"][name] = weights
    return result


def train(section: AveragingSection, table: Tensor, heads: int, seed: int, *, held: bool) -> TwoKeys:
    """Return a model trained on random examples; where `held`, its head has to weight both keys equally."""
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        model = TwoKeys(section.symbols, section.model, heads, section.feed_forward)
    optimizer = torch.optim.Adam(model.parameters(), lr=section.learning_rate)
    falling = torch.optim.lr_scheduler.LinearLR(optimizer, 1.0, 0.0, section.steps)
    generator = torch.Generator().manual_seed(seed + 2**32)
    for _ in range(section.steps):
        symbols, marks, answers = draw(table, section.places, section.batch, generator)
        with equal_weights(model, marks) if held else nullcontext():
            loss = F.cross_entropy(model(symbols, marks), answers)
        torch.autograd.backward(loss)
        optimizer.step()
        optimizer.zero_grad()
        falling.step()
    return model


@torch.no_grad()
def examine(model: TwoKeys, asked: Examples, *, held: bool) -> tuple[float, list[list[float]]]:
    """Return the accuracy, and for every head its mean weight on the first and on the second key."""
    symbols, marks, answers = asked
    with equal_weights(model, marks) if held else nullcontext(), record(model.attention, ["pattern"]) as maps:
        right = model(symbols, marks).argmax(1) == answers
    pattern = maps["pattern"][0][:, :, 0]
    weights = [(pattern * (marks == mark)[:, None]).sum(2).mean(0).tolist() for mark in (FIRST, SECOND)]
    return float(right.float().mean()), [list(pair) for pair in zip(*weights, strict=True)]


def _weights(found: dict[int, Any]) -> list[Row]:
    """Return the weights of heads on both keys; the head of two that likes the first key better is told first."""
    rows: list[Row] = []
    for seed, one in found.items():
        for name in (ONE, TWO):
            heads = sorted(one["weights"][name], key=lambda pair: pair[1] - pair[0])
            for number, pair in enumerate(heads):
                who = name if len(heads) == 1 else f"{name}, {('one', 'the other')[number]}"
                rows += [
                    Row(f"{who}: {key} key", None, seed, weight)
                    for key, weight in zip(("first", "second"), pair, strict=True)
                ]
    return sorted(rows, key=lambda row: row.condition)


def _noticed(found: dict[int, Any], equal: dict[int, float], most: dict[int, float]) -> list[str]:
    larger = [max(pair) / sum(pair) for pair in (one["weights"][ONE][0] for one in found.values())]
    uneven = sum(part > 0.5 + UNEVEN for part in larger)
    off = max(abs(equal[seed] - most[seed]) for seed in equal)
    return [
        f"In {uneven} of {len(larger)} seeds the single head weights its two keys unevenly: the larger part of its "
        f"weight on both is {100 * np.mean(larger):.0f} % on average (from {100 * min(larger):.0f} to "
        f"{100 * max(larger):.0f} %). An uneven mixture of two values tells which of them is which, so that a "
        "feed-forward net can read the order off it.",
        f"A head that was held to equal weights in training ends at most {100 * off:.1f} points off the ceiling that "
        "is computed from the table.",
    ]


CLAIM = Claim(
    name="averaging",
    title="Must a single head average?",
    sentence="With a single head, averaging keeps a model from attending to information at several places at once.",
    source="Vaswani et al. 2017, section 3.2.2",
    about=(
        "A sequence holds symbols, and two of its places are marked as first and second. The answer is looked up in a "
        "random table by both symbols and their order. One query attends to the places by their marks and mixes the "
        "symbols; a feed-forward net reads the answer off the mixture. Models with one head and with two have the same "
        "number of parameters, the same examples and the same steps.",
        "The ceiling is exact: an equal average of two values is the same for both orders, so of two different answers "
        "one at most can be right. A third model, whose head is held to equal weights, checks it.",
    ),
    limits=(
        "Values hold no place here. In an encoder they do, through position embeddings, and even an equal average of "
        "values then tells the order: the task is harder for a single head than text would be.",
        "What is learnt is what gradient descent finds in so many steps, not what a head could do at best.",
    ),
    section=AveragingSection,
    measure=measure,
)
