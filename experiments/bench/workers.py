"""What workers gain: the shipped grid by one worker of one thread, and by two, and a run with two, `make bench-atlas`.

All go from the command's start to its page, workers' start among it. Times are kept in a record under docs/, and the
sentence that docs/atlas.md says of them is written there anew.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

from experiments.bench.records import exits_with_2, keep, machine, new_record

GOAL: Final = 1.7
"Throughput of two workers over that of one."

RECORD: Final = Path("docs") / "atlas-cost.json"
PAGES: Final = (Path("docs") / "atlas.md",)
RUNS: Final = 4
"Runs of the grid with one seed."


def main() -> None:
    """Measure, print, and write the record and the sentence; exit with 1 where the goal is missed."""
    grid = ("atlas", "atlas", "--set", "seeds=[0]", "--cluster")
    with exits_with_2():
        seconds = {str(workers): _timed(*grid, f"local:{workers}") for workers in (1, 2)}
        run = {"0": _timed("run", "quickstart"), "2": _timed("run", "quickstart", "--cluster", "local:2")}
    record = new_record("make bench-atlas")
    record |= {"runs": RUNS, "seconds by workers": seconds, "quickstart by workers": run}
    keep(record, RECORD, PAGES, blocks(record))
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
    goal = f"goal {GOAL}" + ", missed" * (gain(record) < GOAL)
    return (
        f"On {machine(record)} the grid that comes with headscope, with one of its seeds ({record['runs']} runs), "
        f"takes {one:.0f} seconds with one worker and {two:.0f} with two ({gain(record):.2f} times the throughput; "
        f"{goal}). The quickstart takes {alone:.0f} seconds in one process with a thread a core, and {read:.0f} where "
        "two workers read its controls. Each was timed once (`make bench-atlas`)."
    )


def blocks(record: Mapping[str, Any]) -> dict[str, str]:
    """Return what pages say of a record, by the names of the marks."""
    return {"atlas cost": sentence(record)}


if __name__ == "__main__":
    main()
