"""How an encoder is trained: one frozen record, which every checkpoint repeats."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any

from mha.device import PRECISIONS
from mha.training.arcs import ArcTerm
from mha.training.checkpoints import LAST_STEP, CheckpointError, Schedule
from mha.training.masking import Masking
from mha.training.optimization import DECAYS

MAY_CHANGE = ("keep", "states", "threads", "trackers")
"""Settings that a training may go on with although it began with others.

No number depends on them, but on `threads`, of which `check_threads` knows.
"""


class TrainingError(ValueError):
    """A training that cannot begin or cannot go on."""


@dataclass(frozen=True)
class TrainingSettings:
    """How an encoder is trained."""

    steps: int = 10_000
    rows: int = 64
    "Packed rows a step, of all processes together."
    accumulation: int = 1
    "Into how many parts a process divides its rows of a step, where they do not fit into memory at once."
    learning_rate: float = 5e-4
    "The highest, reached after warm-up."
    warmup: int = 500
    "Steps in which the learning rate rises."
    decay: str = "linear"
    'How it falls after that: "linear" or "cosine".'
    floor: float = 0.0
    "The share of it that is left after the last step."
    weight_decay: float = 0.01
    beta1: float = 0.9
    beta2: float = 0.98
    epsilon: float = 1e-6
    clip: float = 1.0
    "Gradients are scaled down to this norm where theirs is larger."
    precision: str = "auto"
    'Of the matrix products: "bf16", "fp32", or "auto" for bf16 where the processor has it. Weights stay fp32.'
    masking: Masking = field(default_factory=Masking)
    arcs: ArcTerm | None = None
    "A term of the loss for attention on the gold arcs of the task; None for none."
    schedule: Schedule = field(default_factory=Schedule)
    "When checkpoints are written."
    keep: int = 0
    "Number of checkpoints that stay, the last ones; 0 for all of the schedule."
    states: int = 1
    "Number of checkpoints that training can go on from: the optimiser's state is twice as large as the model."
    evaluate_every: int = 500
    "Steps between evaluations; every checkpoint of the schedule is evaluated anyway."
    evaluation_rows: int = 512
    "Held-out rows at the most, with the same masks every time."
    log_every: int = 10
    "Steps between lines of the log at the most; their loss is the mean since the line before."
    threads: int | None = None
    """Of torch, on a CPU, where sums of other parts come out otherwise in the last bit; None for its own number.

    A training goes on with another number than it began with only where that is given here.
    """
    fixed: tuple[str, ...] = ()
    """Patterns of `mha.causal.fixed_patterns` that the first heads of every layer have, in training and evaluation.
    Checkpoints hold the weights alone: who reads them has to fix the heads again."""
    seed: int = 0
    "Of the first weights, the order of the rows, masks and dropout."
    trackers: tuple[str, ...] = ()
    'Names of trackers of `accelerate`, such as "tensorboard".'

    def __post_init__(self) -> None:
        """Refuse what cannot be trained."""
        if not 1 <= self.steps <= LAST_STEP:
            raise TrainingError(f"steps is {self.steps}, expected 1 to {LAST_STEP}")
        for name in ("rows", "accumulation", "evaluate_every", "evaluation_rows", "log_every", "states", "threads"):
            if getattr(self, name) is not None and getattr(self, name) < 1:
                raise TrainingError(f"{name} is {getattr(self, name)}, expected 1 or more")
        for name in ("learning_rate", "epsilon", "clip"):
            if not getattr(self, name) > 0:
                raise TrainingError(f"{name} is {getattr(self, name)}, expected more than 0")
        for name in ("warmup", "weight_decay", "keep", "seed"):
            if getattr(self, name) < 0:
                raise TrainingError(f"{name} is {getattr(self, name)}, expected 0 or more")
        if self.seed >= 2**63:
            raise TrainingError(f"seed is {self.seed}, expected less than 2 ** 63")
        for name, known in (("decay", DECAYS), ("precision", PRECISIONS)):
            if getattr(self, name) not in known:
                raise TrainingError(f"unknown {name} {getattr(self, name)!r}; known are {', '.join(known)}")
        for name in ("floor", "beta1", "beta2"):
            if not 0 <= getattr(self, name) < 1:
                raise TrainingError(f"{name} is {getattr(self, name)}, expected 0 or more and less than 1")

    def divided(self, processes: int) -> int:
        """Return the rows of one backward pass; raises TrainingError where the rows cannot be divided evenly."""
        parts = processes * self.accumulation
        if self.rows % parts:
            raise TrainingError(
                f"{self.rows} rows a step cannot be divided between {processes} process(es) x {self.accumulation} "
                f"parts; take a multiple of {parts}"
            )
        return self.rows // parts

    def recorded(self) -> dict[str, Any]:
        """Return the settings as they stand in a checkpoint."""
        as_json: dict[str, Any] = json.loads(json.dumps(asdict(self)))
        return as_json


def check_threads(where: str, before: int, now: int, settings: TrainingSettings) -> None:
    """Raise CheckpointError where a training would go on with another number of threads without having been told."""
    if before == now or settings.threads is not None:
        return
    raise CheckpointError(
        f"{where} was trained with {before} threads, and torch has {now} here, so the last bits of numbers would "
        f"differ: set threads = {before} to go on as it began, or threads = {now} to go on otherwise"
    )


def check_unchanged(where: str, what: str, before: Mapping[str, Any], now: Mapping[str, Any]) -> None:
    """Raise CheckpointError, naming the setting, where a training would go on in another way than it began."""
    for name in sorted(before.keys() | now.keys()):
        if name not in MAY_CHANGE and before.get(name) != now.get(name):
            raise CheckpointError(
                f"{where} was trained with {what} {name} = {before.get(name)!r}, not {now.get(name)!r}: go on as it "
                "began, or train under another name"
            )
