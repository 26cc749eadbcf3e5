"""What moves the weights: groups of parameters, the learning rate of a step, its arithmetic, and their state."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

import torch
from torch import Tensor, nn

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


def training_state(model: nn.Module, optimizer: torch.optim.Optimizer) -> dict[str, Tensor]:
    """Return weights as "model.<parameter>", what is remembered as "optimizer.<parameter>.<what>", on the CPU."""
    weights = {f"model.{name}": parameter for name, parameter in model.named_parameters()}
    remembered = {
        f"optimizer.{name}.{what}": tensor
        for name, parameter in model.named_parameters()
        for what, tensor in optimizer.state.get(parameter, {}).items()
    }
    return {name: tensor.detach().cpu().contiguous() for name, tensor in (weights | remembered).items()}


def restore_state(model: nn.Module, optimizer: torch.optim.Optimizer, state: Mapping[str, Tensor]) -> None:
    """Give `model` and `optimizer`, as they were made, the state of a checkpoint."""
    numbers: dict[int, int] = {}
    for group in optimizer.param_groups:
        numbers |= {id(parameter): len(numbers) + at for at, parameter in enumerate(group["params"])}
    remembered = {}
    with torch.no_grad():
        for name, parameter in model.named_parameters():
            parameter.copy_(state[f"model.{name}"])
            prefix = f"optimizer.{name}."
            of_parameter = {key.removeprefix(prefix): state[key] for key in state if key.startswith(prefix)}
            if of_parameter:
                remembered[numbers[id(parameter)]] = of_parameter
    optimizer.load_state_dict({"state": remembered, "param_groups": optimizer.state_dict()["param_groups"]})
