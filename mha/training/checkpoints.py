"""Checkpoints that are whole or not there: when they are written, how, and which of them stay."""

from __future__ import annotations

import errno
import json
import os
import re
import shutil
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from safetensors import SafetensorError, safe_open
from safetensors.torch import save
from torch import Tensor

from mha.files import STATE, WeightsError, read_json
from mha.messages import OneLineError

FOLDER, RECORD = "checkpoints", "training.json"
NAME = re.compile(r"step-(\d{8})")
LAST_STEP = 10**8 - 1


class CheckpointError(OneLineError):
    """A checkpoint that cannot be written, found or used."""


@dataclass(frozen=True)
class Schedule:
    """After which steps a checkpoint is written; step 0 and the last step always are."""

    per_doubling: int = 2
    "Checkpoints at the powers of 2 ** (1 / per_doubling), since roles of heads emerge early; 0 for none of these."
    every: int = 0
    "Further ones every so many steps, kept as well; 0 for none of these."
    safety: int = 1000
    "Every so many steps one that is only there to go on from and is removed when the next is whole; 0 for none."

    def __post_init__(self) -> None:
        """Refuse numbers below 0."""
        for name in ("per_doubling", "every", "safety"):
            if getattr(self, name) < 0:
                raise ValueError(f"{name} is {getattr(self, name)}, expected 0 or more")

    def kept(self, steps: int) -> frozenset[int]:
        """Return the steps whose checkpoints stay, of a training of so many steps."""
        kept = {0, steps}
        if self.per_doubling:
            powers = range(self.per_doubling * steps.bit_length() + 1)
            kept |= {round(2 ** (power / self.per_doubling)) for power in powers}
        if self.every:
            kept |= {*range(0, steps, self.every)}
        return frozenset(step for step in kept if step <= steps)

    def steps(self, steps: int) -> frozenset[int]:
        """Return all steps after which a checkpoint is written."""
        return self.kept(steps) | (frozenset(range(0, steps, self.safety)) if self.safety else frozenset())


def checkpoint_path(training: Path, step: int) -> Path:
    """Return the folder of a checkpoint."""
    return training / FOLDER / f"step-{step:08d}"


def list_checkpoints(training: Path) -> dict[int, Path]:
    """Return the whole checkpoints of a training, by step in ascending order."""
    found = {}
    for path in (training / FOLDER).glob("step-*"):
        match = NAME.fullmatch(path.name)
        if match and is_whole(path):
            found[int(match[1])] = path
    return dict(sorted(found.items()))


def find_checkpoint(training: Path, step: int | None = None) -> Path:
    """Return the checkpoint of a step, or the last whole one; raises CheckpointError where there is none."""
    found = list_checkpoints(training)
    if step is None and found:
        return found[max(found)]
    if step in found:
        return found[step]
    there = "expected the folder of one seed of a training that has been run, such as runs/scratch/seed-1"
    if found:
        there = f"there are steps {', '.join(map(str, found))}"
    elif damaged := sorted((training / FOLDER).glob("step-*")):
        there = f"{damaged[0].name} is damaged: {_damage(damaged[0])}"
    raise CheckpointError(f"{training}: no whole checkpoint{'' if step is None else f' of step {step}'}; {there}")


def _damage(checkpoint: Path) -> str:
    """Return in what a checkpoint is not whole; empty where every file that the record names is there with its size."""
    try:  # the record may be none, or name what is no file
        for name, size in read_record(checkpoint)["files"].items():
            if (checkpoint / name).stat().st_size != size:
                return f"{name} has not the size that {RECORD} says"
    except (ValueError, OSError, KeyError, AttributeError) as error:
        return str(error) or type(error).__name__
    return ""


def is_whole(checkpoint: Path) -> bool:
    """Return whether every file that the record names is there with its size."""
    return not _damage(checkpoint)


def read_record(checkpoint: Path) -> dict[str, Any]:
    """Return what training.json of a checkpoint holds; raises CheckpointError."""
    if not (checkpoint / RECORD).is_file():
        raise CheckpointError(f"{checkpoint}: no {RECORD}, so this is not a checkpoint of a training")
    try:
        return read_json(checkpoint / RECORD)
    except WeightsError as error:
        raise CheckpointError(error) from None


def is_resumable(checkpoint: Path) -> bool:
    """Return whether a whole checkpoint also has, with its size, the state that going on needs."""
    try:
        return bool((checkpoint / STATE).stat().st_size == read_record(checkpoint)["state_bytes"])
    except (CheckpointError, OSError, KeyError):
        return False


def find_resumable(training: Path) -> Path | None:
    """Return the last checkpoint that training can go on from, or None."""
    return next((path for path in reversed(list_checkpoints(training).values()) if is_resumable(path)), None)


def read_state(checkpoint: Path) -> dict[str, Tensor]:
    """Return the tensors that going on needs; raises CheckpointError where they were removed."""
    path = checkpoint / STATE
    if not path.is_file():
        raise CheckpointError(f"{checkpoint} has no {STATE}: only the last checkpoints can be gone on from")
    try:
        with safe_open(path, framework="pt") as file:
            return {key: file.get_tensor(key) for key in file.keys()}  # noqa: SIM118, the file is no mapping
    except SafetensorError as error:
        raise CheckpointError(f"{path}: not a safetensors file: {error}") from None


def write_checkpoint(
    training: Path, step: int, fill: Callable[[Path], None], state: Mapping[str, Tensor], record: Mapping[str, Any]
) -> Path:
    """Write a checkpoint under a temporary name, force it to the disk, and give it its name.

    `fill` writes model and tokenizer into the folder that it is given; `state` is what going on needs beside them.
    Raises CheckpointError in one line where the disk is full or the folder cannot be written, with the last good
    checkpoint; nothing unfinished stays.
    """
    target = checkpoint_path(training, step)
    partial = target.with_name(f".{target.name}-partial")
    try:
        shutil.rmtree(partial, ignore_errors=True)
        partial.mkdir(parents=True)
        fill(partial)
        kept = (partial / STATE).write_bytes(save(dict(state)))
        files = {path.name: path.stat().st_size for path in sorted(partial.iterdir()) if path.name != STATE}
        full = {**record, "step": step, "files": files, "state_bytes": kept}
        (partial / RECORD).write_text(json.dumps(full, indent=2) + "\n", encoding="utf-8")
        _force(partial)
        _put(partial, target)
    except (OSError, SafetensorError, WeightsError) as error:
        shutil.rmtree(partial, ignore_errors=True)
        if isinstance(error, WeightsError):
            raise
        raise CheckpointError(_unwritten(training, step, error)) from error
    return target


def _put(partial: Path, target: Path) -> None:
    """Rename a finished folder; what has that name and is not whole makes place."""
    if target.exists():
        if is_whole(target) and is_resumable(target):
            raise FileExistsError(errno.EEXIST, "it is there already", str(target))
        _remove(target)
    partial.rename(target)
    _force_folder(target.parent)


def _force(folder: Path) -> None:
    for path in folder.iterdir():
        with path.open("rb") as file:
            os.fsync(file.fileno())
    _force_folder(folder)


def _force_folder(folder: Path) -> None:
    if os.name == "nt":  # which opens no folders
        return
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def _unwritten(training: Path, step: int, error: Exception) -> str:
    why = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
    return f"{checkpoint_path(training, step)}: the checkpoint cannot be written: {why}; {last_good(training)}"


def last_good(training: Path) -> str:
    """Return the end of an error's message: what is left, and what to do."""
    found = list_checkpoints(training)
    if not found:
        return "there is no checkpoint to go on from"
    return f"the last good checkpoint is {found[max(found)]}; --resume goes on from there"


def prune(training: Path, kept: frozenset[int], keep: int = 0, states: int = 1) -> None:
    """Remove what is not to stay, of checkpoints and of their state files.

    These go: checkpoints that are not in `kept`, all but the last `keep` (0: none for this reason), and the state files
    of all but the last `states`; and what a kill left of checkpoints that were being written or removed. The last whole
    checkpoint and its state always stay, and so do folders that are no whole checkpoint.
    """
    for left in (training / FOLDER).glob(".step-*"):
        shutil.rmtree(left)
    found = list_checkpoints(training)
    resumable = [step for step in found if is_resumable(found[step])]
    for step in resumable[: -max(states, 1)]:
        (found[step] / STATE).unlink()
    newest = {*found} if not keep else {*list(found)[-keep:]}
    stay = (newest & kept) | set(resumable[-max(states, 1) :]) | {*list(found)[-1:]}
    for step in found.keys() - stay:
        _remove(found[step])


def _remove(checkpoint: Path) -> None:
    """Remove a checkpoint so that a kill in between leaves nothing that looks like one."""
    doomed = checkpoint.with_name(f".{checkpoint.name}-removed")
    shutil.rmtree(doomed, ignore_errors=True)
    checkpoint.rename(doomed)
    shutil.rmtree(doomed)
