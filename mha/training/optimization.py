"""What moves the weights: groups of parameters, the learning rate of a step, and its arithmetic."""

from __future__ import annotations

import math
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import torch
from torch import nn

DECAYS = ("linear", "cosine")


def parameter_groups(model: nn.Module, weight_decay: float) -> list[dict[str, Any]]:
    """Return the parameters in two groups: matrices, which decay, and biases and LayerNorm, which do not.

    Embeddings are matrices and decay, as in BERT's own optimiser; the tied decoder is one of them.
    """
    matrices = [parameter for parameter in model.parameters() if parameter.ndim >= 2]
    vectors = [parameter for parameter in model.parameters() if parameter.ndim < 2]
    return [{"params": matrices, "weight_decay": weight_decay}, {"params": vectors, "weight_decay": 0.0}]


def learning_rate(step: int, *, steps: int, peak: float, warmup: int, decay: str, floor: float) -> float:
    """Return the learning rate of a step, counted from 1: up to `peak` in `warmup` steps, then down.

    It ends at `floor` x `peak` after the last step, in a line or in half a cosine.
    """
    if step <= warmup:
        return peak * step / warmup
    left = (steps - step) / max(steps - warmup, 1)
    share = left if decay == "linear" else 0.5 * (1 - math.cos(math.pi * left))
    return peak * (floor + (1 - floor) * share)


@contextmanager
def training_arithmetic(threads: int | None) -> Iterator[None]:
    """Compute on so many threads (None: as many as torch has) and without denormal numbers while the block runs.

    Gradients of rare pieces' embeddings become so small that a step on denormal numbers takes seconds.
    """
    before = torch.get_num_threads()
    if threads is not None:
        torch.set_num_threads(threads)
    torch.set_flush_denormal(True)
    try:
        yield
    finally:
        torch.set_flush_denormal(False)
        if threads is not None:
            torch.set_num_threads(before)
