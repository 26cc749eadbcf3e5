"""Kill a training at random moments and let it go on, as often as asked: no checkpoint may be lost, no loss may differ.

    python tests/kill_training.py FOLDER KILLS

One process imports torch; every attempt is a fork of it, killed with SIGKILL after a random time in which several steps
and checkpoints can come. Prints one JSON object; the training that is compared with was never killed.
"""

from __future__ import annotations

import json
import os
import random
import shutil
import signal
import sys
import time
from dataclasses import replace
from pathlib import Path

os.environ["TOKENIZERS_PARALLELISM"] = "false"  # forks would be warned about

import torch
from accelerate import Accelerator
from small_training import SETTINGS as SMALL
from small_training import losses, make_task
from torch import nn

from mha.training.checkpoints import Schedule, find_resumable, list_checkpoints
from mha.training.train import train
from tests.hardness.small import forked

STEPS = 120
SETTINGS = replace(SMALL, steps=STEPS, rows=4, warmup=10, learning_rate=5e-4, evaluate_every=15, log_every=3)
SETTINGS = replace(SETTINGS, schedule=Schedule(1, 0, 4))


def kill_often(folder: Path, kills: int) -> dict[str, object]:
    """Train once without and once with `kills` kills, and return what differs."""
    task, whole, killed = make_task(folder), folder / "whole", folder / "killed"
    started = time.monotonic()
    _, status = os.waitpid(forked(lambda: train(whole, task, SETTINGS)), 0)
    assert status == 0, "the training that nobody kills failed"
    longest = 4 * (time.monotonic() - started) / kills
    draws, lost, reached = random.Random(1), [], []
    while len(reached) < kills:
        before, was_resumable = list_checkpoints(killed), find_resumable(killed)
        child = forked(lambda: train(killed, task, SETTINGS, resume=True))
        time.sleep(draws.uniform(0, longest))
        os.kill(child, signal.SIGKILL)
        _, status = os.waitpid(child, 0)
        if not os.WIFSIGNALED(status):
            assert os.WEXITSTATUS(status) == 0, "a training that went on failed"
            shutil.rmtree(killed)  # it was through before the kill: the others hit the next one
            continue
        after, is_resumable = list_checkpoints(killed), find_resumable(killed)
        lost += [step for step in before if step in SETTINGS.schedule.kept(STEPS) and step not in after]
        lost += [str(was_resumable)] if str(was_resumable or "") > str(is_resumable or "") else []
        reached.append(max(after, default=-1))
    _, status = os.waitpid(forked(lambda: train(killed, task, SETTINGS, resume=True)), 0)
    assert status == 0, "the last training that went on failed"
    return {"kills": len(reached), "steps reached": reached, "lost": lost, **compare(whole, killed)}


def compare(whole: Path, killed: Path) -> dict[str, object]:
    """Return whether two trainings came to the same."""
    last = f"checkpoints/step-{STEPS:08d}"
    files = [f"{last}/model.safetensors", f"{last}/state.safetensors"]
    return {
        "losses": len(losses(whole)),
        "same losses": losses(whole) == losses(killed),
        "same weights": all((whole / name).read_bytes() == (killed / name).read_bytes() for name in files),
        "same checkpoints": [*list_checkpoints(whole)] == [*list_checkpoints(killed)],
        "left over": sorted(path.name for path in (killed / "checkpoints").glob(".*")),
    }


if __name__ == "__main__":
    torch.set_num_threads(1)
    model = Accelerator().prepare(nn.Linear(1, 1))  # what these import takes longer than the training
    torch.optim.AdamW(model.parameters())
    print(json.dumps(kill_often(Path(sys.argv[1]), int(sys.argv[2]))))
