"""Times of contestants that take turns in one process, so that whatever else the machine does meets all of them."""

from __future__ import annotations

import gc
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager

import torch
from pydantic import Field
from torch import Tensor, nn

from experiments.statements.claim import ClaimSection

FORWARD, TRAINING = "forward", "forward and backward"

Layer = Callable[[Tensor], Tensor]


class TimedSection(ClaimSection):
    """What the config of every claim about time has."""

    lengths: tuple[int, ...] = Field(default=(64, 256, 1024), min_length=1)
    "Tokens a sequence."
    tokens: int = Field(default=4096, ge=1)
    "Tokens a batch: it has as many sequences as make that, one at least."
    rounds: int = Field(default=15, ge=1)
    "How often every contestant is timed."
    model: int = Field(default=512, ge=1)
    "Size of the vectors."
    heads: int = Field(default=8, ge=1)
    "Heads of a layer."
    seed: int = Field(default=0, ge=0)
    "Of weights and inputs; times do not depend on it."


def take_turns(contestants: Mapping[str, Callable[[], object]], rounds: int) -> dict[str, list[float]]:
    """Return the seconds of every contestant in every round; all are called once before, untimed.

    In every other round they go in the opposite order, so that none always comes after the same other one.
    """
    for call in contestants.values():
        call()
    seconds: dict[str, list[float]] = {name: [] for name in contestants}
    with _no_collection():
        for number in range(rounds):
            for name in list(contestants)[:: -1 if number % 2 else 1]:
                start = time.perf_counter()
                contestants[name]()
                seconds[name].append(time.perf_counter() - start)
    return seconds


@contextmanager
def _no_collection() -> Iterator[None]:
    """Keep the garbage collector from coming in between."""
    was, _ = gc.isenabled(), gc.collect()
    gc.disable()
    try:
        yield
    finally:
        if was:
            gc.enable()


def tokens_of(section: TimedSection, length: int) -> int:
    """Return the tokens of a batch: as `tokens` says, or those of one longer sequence."""
    return length * max(1, section.tokens // length)


def inputs(section: TimedSection, length: int) -> Tensor:
    """Return random vectors [batch, length, model] for one batch."""
    generator = torch.Generator().manual_seed(section.seed)
    return torch.randn(tokens_of(section, length) // length, length, section.model, generator=generator)


def passes(layer: nn.Module, run: Layer, x: Tensor) -> dict[str, Callable[[], object]]:
    """Return a forward pass without gradients, and one with the backward pass to weights and inputs."""

    def forward() -> None:
        with torch.no_grad():
            run(x)

    def training() -> None:
        loss = run(x.requires_grad_()).sum()
        torch.autograd.backward(loss)
        layer.zero_grad()
        x.grad = None
        x.requires_grad_(False)

    return {FORWARD: forward, TRAINING: training}
