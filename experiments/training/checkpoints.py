"""The checkpoints of a training, opened for reading: their steps, tokens and weights, and what the log says of them."""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from experiments.config.config import ConfigError
from mha.training.checkpoints import list_checkpoints, read_record
from mha.training.log import LOG


@dataclass(frozen=True)
class Checkpoint:
    """One checkpoint of a training."""

    step: int
    tokens: int
    "Tokens seen until then."
    folder: Path
    loss: float
    "Mean training loss in nats over the steps since the checkpoint before; NaN where the log has none."
    evaluation_loss: float
    "In nats, at this step; NaN where it was not measured."


def read_checkpoints(folder: Path, steps: Sequence[int] | None = None) -> list[Checkpoint]:
    """Return the whole checkpoints in the folder of a training, ascending; only those at `steps` if they are given.

    Raises ConfigError where there are fewer than two, or none at one of `steps`.
    """
    found = list_checkpoints(folder)
    missing = sorted(set(steps or ()) - set(found))
    if missing:
        there = ", ".join(map(str, sorted(found)))
        raise ConfigError(f"{folder}: no checkpoint at step {missing[0]}; there are {there or 'none'}")
    chosen = sorted(set(steps) if steps is not None else found)
    if len(chosen) < 2:
        raise ConfigError(
            f"{folder}: a biography needs two checkpoints or more, found {len(chosen)} in {folder / 'checkpoints'}"
        )
    events, checkpoints, before = training_events(folder / LOG), [], 0
    logged = [(one["step"], one["loss"]) for one in events if one["event"] == "step"]
    for step in chosen:
        measured = [one["loss"] for one in events if one["event"] == "evaluation" and one["step"] == step]
        evaluation = measured[-1] if measured else math.nan
        tokens, loss = int(read_record(found[step])["tokens"]), _mean_loss(logged, before, step)
        checkpoints.append(Checkpoint(step, tokens, found[step], loss, evaluation))
        before = step
    return checkpoints


def _mean_loss(logged: Sequence[tuple[int, float]], after: int, until: int) -> float:
    """Return the mean loss of the steps between two checkpoints; a line of the log is a mean since the line before."""
    total, steps, before = 0.0, 0, 0
    for step, loss in logged:
        if after < step <= until:
            total, steps = total + loss * (step - before), steps + step - before
        before = step
    return total / steps if steps else math.nan


def training_events(path: Path) -> list[dict[str, Any]]:
    """Return the events with a step and a loss; of a line that a kill cut off nothing is read, nor of a missing log."""
    if not path.is_file():
        return []
    events = []
    for line in path.read_text(encoding="utf-8", errors="replace").splitlines():
        try:
            event = json.loads(line)
        except (ValueError, RecursionError):
            continue
        if isinstance(event, dict) and {"event", "step", "loss"} <= set(event):
            events.append(event)
    return events
