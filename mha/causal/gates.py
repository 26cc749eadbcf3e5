"""Gates of heads that are learned, and pay for being open: L0 regularisation by Hard-Concrete gates."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import TypeVar

import torch
from jaxtyping import Float
from torch import Tensor, nn

TEMPERATURE = 0.33
"Of the concrete distribution (Voita et al. 2019, section 6)."

LOW, HIGH = -0.1, 1.1
"What the interval (0, 1) is stretched to before it is cut at 0 and 1 (Louizos et al. 2018, section 2.2)."

START = 0.0
"""Log-odds of every gate at the start: open with probability 0.69, 0.5 on average. There a gate opens where its head is
worth 0.9 of its price or more, and closes else; from log-odds of 2 on it would stay open at half of it."""

Task = TypeVar("Task")


class HardConcrete(nn.Module):
    """A gate a head: a random number in [0, 1] that is exactly 0, or exactly 1, with a probability that is learned."""

    def __init__(self, layers: int, heads: int, start: float = START) -> None:
        """Create gates of equal log-odds."""
        super().__init__()
        self.log_odds = nn.Parameter(torch.full((layers, heads), start))

    def sample(self, uniform: Float[Tensor, "*batch layer head"]) -> Float[Tensor, "*batch layer head"]:
        """Return gates drawn with numbers that are uniform in (0, 1) (Louizos et al. 2018, equations 10 and 11)."""
        drawn = torch.sigmoid((uniform.log() - (-uniform).log1p() + self.log_odds) / TEMPERATURE)
        return _stretched(drawn)

    def fixed(self) -> Float[Tensor, "layer head"]:
        """Return the gates to be used once they are learned, in [0, 1] (Louizos et al. 2018, equation 13)."""
        return _stretched(torch.sigmoid(self.log_odds))

    def open(self) -> Float[Tensor, "layer head"]:
        """Return the probability that each gate is not 0 (Louizos et al. 2018, equation 12)."""
        return torch.sigmoid(self.log_odds - TEMPERATURE * math.log(-LOW / HIGH))


def _stretched(part: Tensor) -> Tensor:
    return (part * (HIGH - LOW) + LOW).clamp(0, 1)


@dataclass(frozen=True)
class GateSettings:
    """How gates are learned."""

    steps: int = 300
    rate: float = 0.1
    "Learning rate of the gates' log-odds (Adam)."
    weights_rate: float = 1e-4
    "Learning rate of weights that are trained along (Adam)."
    seed: int = 0


@dataclass(frozen=True)
class Learned:
    """Gates after training."""

    gates: Float[Tensor, "layer head"]
    "As they are used: 0 where a head is closed, 1 where it is wide open."
    open: Float[Tensor, "layer head"]
    "Probability that a gate is not 0."
    losses: tuple[float, ...]
    "What was lost on the batch of each step, the price of open gates left out."

    @property
    def survivors(self) -> list[tuple[int, int]]:
        """Heads (layer, head), from 0, whose gate is not 0."""
        return [(layer, head) for layer, head in self.gates.nonzero().tolist()]


def learn_gates(
    loss: Callable[[Task, Float[Tensor, "batch layer head"]], Tensor],
    batches: Sequence[Task],
    size: Callable[[Task], int],
    shape: tuple[int, int],
    price: float,
    settings: GateSettings,
    *,
    weights: Iterable[nn.Parameter] = (),
    step: Callable[[int], None] = lambda steps: None,
) -> Learned:
    """Learn which heads are worth their price: minimise the loss plus `price` for each gate that is expected open.

    `loss` is called with a batch and gates for each of its texts (there are `size` of them), drawn anew in every step,
    and returns the mean loss of a text, in the unit of `price` (Voita et al. 2019, section 6: the price is lambda). The
    gates of [layer, head] `shape` start open (START). Batches are read in an order that is drawn anew once all were
    read. `weights` are trained along where there are any; all others get no gradient and stay. Everything is decided by
    `settings.seed`.
    """
    generator = torch.Generator().manual_seed(settings.seed)
    gates, trained = HardConcrete(*shape), list(weights)
    groups = [{"params": [gates.log_odds], "lr": settings.rate}]
    optimizer = torch.optim.Adam([*groups, {"params": trained, "lr": settings.weights_rate}] if trained else groups)
    losses = []
    for batch in _endless(batches, settings.steps, generator):
        uniform = torch.rand(size(batch), *shape, generator=generator).clamp(1e-6, 1 - 1e-6)
        with torch.enable_grad():
            lost = loss(batch, gates.sample(uniform))
            paid = lost + price * gates.open().sum()
            found = torch.autograd.grad(paid, [gates.log_odds, *trained], allow_unused=True)  # such as a pooler
        for parameter, gradient in zip((gates.log_odds, *trained), found, strict=True):
            parameter.grad = gradient
        optimizer.step()
        losses.append(float(lost.detach()))
        step(1)
    for parameter in trained:
        parameter.grad = None
    return Learned(gates.fixed().detach(), gates.open().detach(), tuple(losses))


def _endless(batches: Sequence[Task], steps: int, generator: torch.Generator) -> Iterator[Task]:
    """Yield `steps` batches, all of them in a random order before any comes again."""
    order: list[int] = []
    for _ in range(steps):
        order = order or torch.randperm(len(batches), generator=generator).tolist()
        yield batches[order.pop()]
