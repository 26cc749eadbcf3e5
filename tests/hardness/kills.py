"""Kill trainings, runs, reports and reproductions at random moments: nothing that was finished may be lost.

    python -m tests.hardness.kills --kills 100 --seed 1

Each action is a fork, killed with SIGKILL after a random part of the time that it takes. Then it is done again, and
after that what was finished before must be there whole, and no hidden folder and no first page beside it.
"""

from __future__ import annotations

import argparse
import json
import os
import signal
import sys
import time
from collections import Counter
from collections.abc import Callable, Mapping
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory
from typing import Any

import torch
from matplotlib.figure import Figure

from experiments.reproduce import readings, record, registry
from experiments.reproduce.reproduce import reproduce
from experiments.run.config import load_config, load_training
from experiments.run.run import run
from experiments.statements.finding import Paper, PaperFindings
from experiments.statements.subject import Subject
from experiments.training.train import train_seeds
from mha.training.checkpoints import list_checkpoints
from reports import Run, write_report
from reports.statements.finding_record import read_findings
from tests.experiments.reproduce.conftest import FINDINGS, READING
from tests.hardness.small import forked, small_configs


def one_paper(folder: Path) -> None:
    """Have one paper with one finding, and its reading, in the place of all others."""
    (folder / "findings").mkdir()
    (folder / "findings" / "trees.toml").write_text(READING, encoding="utf-8")
    papers = (PaperFindings(Paper("some-2020", "Somebody 2020", "A Title"), FINDINGS[:1]),)
    readings.CONFIGS = folder  # type: ignore[misc]  # as the tests do
    for module in (registry, record):
        module.papers = lambda: papers  # type: ignore[attr-defined]


def actions(folder: Path) -> Mapping[str, Callable[[int], object]]:
    """Return what is killed: each takes a number, which makes it another training, run or reading than before."""
    run_config, training = small_configs(folder)
    one_paper(folder)
    out = folder / "out"
    subject = Subject.of(str(folder / "model"))

    def score(number: int) -> object:
        config = load_config(run_config, [f"seed={number}", "controls.random=2"])
        return run(config, out, overwrite=True, resume=number % 2 == 0, first=lambda page: None)

    def train(number: int) -> object:
        return train_seeds(load_training(training, [f"name='training-{number // 8}'"]), out, resume=True)

    return {
        "training": train,
        "scoring": score,
        "reporting": lambda number: write_report(out / "run"),
        "reproducing": lambda number: reproduce(FINDINGS[:1], [subject], out / "findings", fresh=True),
    }


def finished(out: Path) -> dict[str, Any]:
    """Return what lies there whole: checkpoints, runs that can be read, pages, records."""
    found: dict[str, Any] = {}
    for folder in sorted(out.glob("training-*/seed-0")):
        kept = [step for step in list_checkpoints(folder) if step & (step - 1) == 0]
        found |= {f"{folder.parent.name} step {step}": True for step in kept}
    for folder in (out / "run", *out.glob("findings/*/trees")):
        if folder.is_dir():
            found[str(folder.relative_to(out))] = len(Run.open(folder).scores) > 0
            found[f"page of {folder.relative_to(out)}"] = (folder / "report" / "index.html").stat().st_size > 1000
    if (out / "findings" / "findings.json").is_file():
        found["findings"] = len(read_findings(out / "findings").record["results"]) > 0
    return found


def left_over(out: Path) -> list[str]:
    """Return hidden files and folders, and first pages of runs."""
    return sorted(str(path.relative_to(out)) for path in (*out.rglob(".*"), *out.rglob("*-first.html")))


def kill_often(folder: Path, kills: int, seed: int, minutes: float) -> dict[str, Any]:
    """Kill that many actions; return how many of each, and what was lost or left."""
    draws, killed = Random(seed), Counter[str]()
    lost, left, failed = [], [], []
    able, out = actions(folder), folder / "out"
    longest = {name: timed(lambda name=name: able[name](0)) for name in able}
    number = 0
    until = time.monotonic() + 60 * minutes
    while killed.total() < kills and time.monotonic() < until:
        number += 1
        name = draws.choice([*able])
        before = finished(out)
        child = forked(lambda name=name, number=number: able[name](number))
        time.sleep(draws.uniform(0, longest[name]))
        os.kill(child, signal.SIGKILL)
        killed[name] += os.WIFSIGNALED(os.waitpid(child, 0)[1])
        if os.waitpid(forked(lambda name=name, number=number: able[name](number)), 0)[1] != 0:
            failed.append(f"{name} {number}")
        after = finished(out)
        lost += [f"{name} {number}: {what}" for what, whole in before.items() if whole and not after.get(what)]
        left += [f"{name} {number}: {what}" for what in left_over(out)]
    return {"kills": dict(sorted(killed.items())), "seed": seed, "lost": lost, "left_over": left, "failed": failed}


def not_drawn(figure: Figure, fname: Path, **_: object) -> None:
    """Write a word in the place of a figure."""
    Path(fname).write_text("a figure that nobody looks at", encoding="utf-8")


def timed(work: Callable[[], object]) -> float:
    """Do something in a fork, which must succeed; return its seconds."""
    begun = time.monotonic()
    if os.waitpid(forked(work), 0)[1] != 0:
        raise RuntimeError("an action that nobody killed failed")
    return time.monotonic() - begun


def main() -> None:
    """Kill, print what came of it, and exit with 1 where something was lost, left over or failed."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--kills", type=int, default=100)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--minutes", type=float, default=600, help="after which it ends")
    options = parser.parse_args()
    os.environ["TOKENIZERS_PARALLELISM"] = "false"  # forks would be warned about
    torch.set_num_threads(1)
    Figure.savefig = not_drawn  # type: ignore[method-assign]  # which takes longer than all else
    with TemporaryDirectory() as folder:
        os.environ["HEADSCOPE_CACHE"] = f"{folder}/cache"
        found = kill_often(Path(folder), options.kills, options.seed, options.minutes)
    print(json.dumps(found))
    sys.exit(bool(found["lost"] or found["left_over"] or found["failed"]))


if __name__ == "__main__":
    main()
