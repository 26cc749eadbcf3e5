"""The state of a training as named tensors: weights in our own layout, and what the optimiser remembers of each."""

from __future__ import annotations

from collections.abc import Mapping

import torch
from torch import Tensor, nn


def training_state(model: nn.Module, optimizer: torch.optim.Optimizer) -> dict[str, Tensor]:
    """Return "model.<parameter>" and "optimizer.<parameter>.<what>", on the CPU."""
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
