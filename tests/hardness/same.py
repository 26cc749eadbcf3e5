"""Train on the grammar ten times with one config, a process each: the weights must have one hash.

python -m tests.hardness.same --trainings 10
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
from tests.hardness.small import TRAINING

STATEMENT = "from experiments.cli import main; main()"


def hashes(folder: Path, trainings: int) -> list[str]:
    """Train so often, with nothing kept between; return the sha256 of the last weights of each."""
    (folder / "training.toml").write_text(TRAINING, encoding="utf-8")
    found = []
    for number in range(trainings):
        words = ["train", str(folder / "training.toml"), "--out", str(folder / str(number))]
        surroundings = {**os.environ, "HEADSCOPE_CACHE": str(folder / f"cache-{number}")}
        subprocess.run([sys.executable, "-c", STATEMENT, *words], env=surroundings, check=True, capture_output=True)
        last = max((folder / str(number) / "training" / "seed-0" / "checkpoints").glob("step-*"))
        found.append(sha256([last / "model.safetensors", last / "state.safetensors"]))
    return found


def main() -> None:
    """Train, and put the hashes into the record."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--trainings", type=int, default=10)
    parser.add_argument("--record", type=Path, default=RECORD, help="where it is written down")
    options = parser.parse_args()
    with TemporaryDirectory() as folder:
        found = hashes(Path(folder), options.trainings)
    part = {"command": "make same", "made_on": here(), "trainings": len(found), "hashes": sorted(set(found))}
    write("same", part, options.record)
    print(json.dumps(part["hashes"]))
    sys.exit(len(set(found)) != 1)


if __name__ == "__main__":
    main()
