"""Claim: several small heads cost about as much as one big head."""

from __future__ import annotations

import math
from functools import partial
from typing import Any

import torch
from pydantic import Field, model_validator
from torch import Tensor
from torch.utils.flop_counter import FlopCounterMode

from experiments.claims.timing import FORWARD, TRAINING, TimedSection, inputs, passes, take_turns, tokens_of
from experiments.statements.claim import Claim, Work, claim_measure, rounds_of
from experiments.statements.estimates import exact, ratio
from experiments.statements.rule import SAME, Rule
from mha import MultiHeadAttention, record
from reports.statements.claim_record import ClaimMeasure, ClaimRecord, Row
from reports.statements.statement import JudgedStatement, judged


class ComputeSection(TimedSection):
    """The config of the claim."""

    similar: tuple[float, float] = (0.8, 1.25)
    "Ratios of times between these count as similar."
    more_heads: tuple[int, ...] = Field(default=())
    "Further numbers of heads that are measured beside `heads` and one; no statement is about them."

    @model_validator(mode="after")
    def _a_range(self) -> ComputeSection:
        if not 0 < self.similar[0] < 1 < self.similar[1]:
            raise ValueError(f"similar: expected a number below 1 and one above it, got {list(self.similar)}")
        return self


def measure(section: ComputeSection, work: Work) -> ClaimRecord:
    """Count and time one layer with one head and with several, at every length."""
    counts = sorted({1, section.heads, *section.more_heads})
    found: dict[int, Any] = {}
    for done, length in enumerate(section.lengths):
        found[length] = work.part(f"length {length}", partial(_measure, section, counts, length))
        work.progress("compute", done + 1, len(section.lengths))
    measures = [
        _counted(found, "products", "matrix products a token, forward and backward", "million operations", section),
        _counted(found, "entries", "softmax a token", "entries", section),
        *(_timed(found, way, section) for way in (FORWARD, TRAINING)),
        *(_ratios(found, way, counts) for way in (FORWARD, TRAINING)),
    ]
    return ClaimRecord(measures, _statements(section, found), [_noticed(section, found)])


def _measure(section: ComputeSection, counts: list[int], length: int) -> dict[str, Any]:
    """Return, by number of heads, products and entries of a batch, and the seconds of every round."""
    torch.manual_seed(section.seed)
    x = inputs(section, length)
    layers = {heads: MultiHeadAttention(section.model, heads) for heads in counts}
    calls = {
        f"{heads} {way}": call
        for heads, layer in layers.items()
        for way, call in passes(layer, layer, x).items()
    }  # fmt: skip
    counted = {str(heads): products(layer, x) for heads, layer in layers.items()}
    entries = {str(heads): heads * length * x.shape[0] * length for heads in counts}
    return {"products": counted, "entries": entries, "seconds": take_turns(calls, section.rounds)}


def products(layer: MultiHeadAttention, x: Tensor) -> int:
    """Return the floating-point operations of all matrix products, forward and backward (torch's own counter).

    The pattern is recorded meanwhile, so that attention is computed in plain sight: the counter does not know the
    fused kernel of a CPU.
    """
    with FlopCounterMode(display=False) as counter, record(layer, ["pattern"]):
        layer(x.detach().requires_grad_()).sum().backward()
    layer.zero_grad()
    return int(counter.get_total_flops())


def _heads(heads: object) -> str:
    return f"{heads} head{'' if str(heads) == '1' else 's'}"


def _counted(found: dict[int, Any], kind: str, name: str, unit: str, section: ComputeSection) -> ClaimMeasure:
    rows = [
        Row(_heads(heads), length, 0, number / tokens_of(section, length) / (1e6 if kind == "products" else 1))
        for length, parts in found.items()
        for heads, number in parts[kind].items()
    ]
    return claim_measure(name, unit, rows, "count", "length")


def _timed(found: dict[int, Any], way: str, section: ComputeSection) -> ClaimMeasure:
    rows: list[Row] = []
    for length, parts in found.items():
        for heads in parts["products"]:
            seconds = parts["seconds"][f"{heads} {way}"]
            rows += rounds_of([1e6 * one / tokens_of(section, length) for one in seconds], _heads(heads), length)
    return claim_measure(f"time a token, {way}", "µs", rows, "round", "length", geometric=True)


def _ratios(found: dict[int, Any], way: str, counts: list[int]) -> ClaimMeasure:
    rows: list[Row] = []
    for length, parts in found.items():
        one = parts["seconds"][f"1 {way}"]
        for heads in (heads for heads in counts if heads != 1):
            several = parts["seconds"][f"{heads} {way}"]
            ratios = [mine / theirs for mine, theirs in zip(several, one, strict=True)]
            rows += rounds_of(ratios, f"{_heads(heads)} / 1 head", length)
    return claim_measure(f"ratio of times, {way}", "times", rows, "round", "length", geometric=True)


def _statements(section: ComputeSection, found: dict[int, Any]) -> list[JudgedStatement]:
    several = str(section.heads)
    ratios = (parts["products"][several] / parts["products"]["1"] for parts in found.values())
    worst = max(ratios, key=lambda ratio: abs(math.log(ratio)))
    text = f"{section.heads} heads of {section.model // section.heads} and one head of {section.model}"
    same = judged(
        f"{text} take equally many operations of matrix products",
        f"ratio of floating-point operations, {TRAINING}, at the length where it is farthest from 1",
        exact(worst),
        SAME,
        kind="identity",
        why="both are the same products, counted",
    )
    low, high = section.similar
    times = [
        judged(
            f"{text} take similar time, sequences of {length}",
            f"time of {_heads(several)} / time of one head, {TRAINING}",
            ratio(parts["seconds"][f"{several} {TRAINING}"], parts["seconds"][f"1 {TRAINING}"]),
            Rule(above=low, below=high, unit="times"),
        )
        for length, parts in found.items()
    ]
    return [same, *times]


def _noticed(section: ComputeSection, found: dict[int, Any]) -> str:
    parts = next(iter(found.values()))
    times = parts["entries"][str(section.heads)] / parts["entries"]["1"]
    return f"The softmax has {times:g} times as many entries with {_heads(section.heads)}: every head has its own map."


CLAIM = Claim(
    name="compute",
    title="Several small heads or one big one",
    sentence="As every head is smaller in proportion, all heads together cost about as much as one head of full size.",
    source="Vaswani et al. 2017, section 3.2.2 (d_model 512, h = 8, d_k = d_v = 64)",
    about=(
        "One layer of self-attention with one head of full size, and one with several heads of the same size together: "
        "equally many parameters. Matrix products are counted by torch, entries of the softmax by hand. Both take "
        "turns in one process. A batch has the same number of tokens at every length.",
    ),
    limits=(
        "Times are those of this machine’s processor and of torch’s fused attention; other kernels may differ.",
        "The layer alone is timed: no feed-forward net, no embedding, no optimiser.",
    ),
    section=ComputeSection,
    measure=measure,
)
