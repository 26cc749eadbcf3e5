"""Train the encoder of scratch.toml ten times with one config, a process each: the weights must have one hash.

python -m tests.hardness.same --trainings 10 --steps 200 --threads 2
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
from pathlib import Path
from tempfile import TemporaryDirectory

from mha.models.folders import sha256
from tests.hardness.record import RECORD, here, write

STATEMENT = "from experiments.cli import main; main()"


def hashes(folder: Path, trainings: int, steps: int, threads: int) -> list[str]:
    """Train so often, with nothing kept between; return the sha256 of the last weights and optimizer of each."""
    changes = [f"train.steps={steps}", f"train.threads={threads}", "train.warmup=20", "train.seeds=[1]"]
    words = ["train", "scratch", *(word for change in changes for word in ("--set", change))]
    found = []
    for number in range(trainings):
        surroundings = {**os.environ, "HEADSCOPE_CACHE": str(folder / f"cache-{number}")}
        out = folder / str(number)
        command = [sys.executable, "-c", STATEMENT, *words, "--out", str(out)]
        subprocess.run(command, env=surroundings, check=True, capture_output=True)
        last = max(out.glob("*/seed-1/checkpoints/step-*"))
        found.append(sha256([last / "model.safetensors", last / "state.safetensors"]))
    return found


def main() -> None:
    """Train, and put the hashes into the record."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--trainings", type=int, default=10)
    parser.add_argument("--steps", type=int, default=200)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--record", type=Path, default=RECORD, help="where it is written down")
    options = parser.parse_args()
    with TemporaryDirectory() as folder:
        found = hashes(Path(folder), options.trainings, options.steps, options.threads)
    asked = {"steps": options.steps, "threads": options.threads}
    part = {"command": "make same", "made_on": here(), "trainings": len(found), **asked, "hashes": sorted(set(found))}
    write("same", part, options.record)
    print(json.dumps(part["hashes"]))
    sys.exit(len(set(found)) != 1)


if __name__ == "__main__":
    main()
