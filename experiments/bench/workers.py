"""What workers gain: the shipped grid by one worker of one thread, and by two, and a run with two, `make bench-atlas`.

All go from the command's start to its page, workers' start among it. Times are kept in a record under docs/, and the
sentence that docs/atlas.md says of them is written there anew.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

from experiments.record.provenance import git_commit, processor_name

GOAL: Final = 1.7
"Throughput of two workers over that of one."

RECORD: Final = Path("docs") / "atlas-cost.json"
PAGE: Final = Path("docs") / "atlas.md"
RUNS: Final = 4
"Runs of the grid with one seed."

MARKED: Final = re.compile(r"(<!-- atlas cost -->\n).*?(<!-- end -->)", re.DOTALL)


def main() -> None:
    """Measure, print, and write the record and the sentence; exit with 1 where the goal is missed."""
    grid = ("atlas", "atlas", "--set", "seeds=[0]", "--cluster")
    seconds = {str(workers): _timed(*grid, f"local:{workers}") for workers in (1, 2)}
    run = {"0": _timed("run", "quickstart"), "2": _timed("run", "quickstart", "--cluster", "local:2")}
    record: dict[str, Any] = {"made by": "make bench-atlas", "commit": git_commit(), "processor": processor_name()}
    record |= {"cores": os.cpu_count(), "runs": RUNS, "seconds by workers": seconds, "quickstart by workers": run}
    RECORD.write_text(json.dumps(record, indent=1) + "\n", encoding="utf-8")
    PAGE.write_text(with_sentence(PAGE.read_text(encoding="utf-8"), record), encoding="utf-8")
    print(sentence(record))
    sys.exit(gain(record) < GOAL)


def _timed(*words: str) -> float:
    """Return the seconds that a command takes."""
    command = [sys.executable, "-c", "from experiments.cli import main; main()", "--quiet", *words]
    with tempfile.TemporaryDirectory() as folder:
        start = time.perf_counter()
        subprocess.run([*command, "--out", folder], check=True, stdout=subprocess.DEVNULL)
        return round(time.perf_counter() - start, 1)


def gain(record: Mapping[str, Any]) -> float:
    """Return the throughput of two workers over that of one."""
    seconds = record["seconds by workers"]
    return float(seconds["1"] / seconds["2"])


def sentence(record: Mapping[str, Any]) -> str:
    """Return what the page says of a record."""
    one, two = (record["seconds by workers"][workers] for workers in "12")
    alone, read = (record["quickstart by workers"][workers] for workers in "02")
    machine = f"{record['cores']} cores of {record['processor']}"
    goal = f"goal {GOAL}" + ", missed" * (gain(record) < GOAL)
    return (
        f"On {machine} {record['runs']} runs of that grid take {one:.0f} seconds with one worker and {two:.0f} with "
        f"two ({gain(record):.2f} times the throughput; {goal}). The quickstart takes {alone:.0f} seconds in one "
        f"process with a thread a core, and {read:.0f} where two workers read its controls (`make bench-atlas`)."
    )


def with_sentence(page: str, record: Mapping[str, Any]) -> str:
    """Return a page with the sentence of a record between its marks."""
    return MARKED.sub(lambda found: f"{found[1]}{sentence(record)}\n{found[2]}", page)


if __name__ == "__main__":
    main()
