"""Fuzz every reader until the record has enough executions of each: `make fuzz`.

    python -m tests.fuzz --executions 1000000 --minutes 60

Readers with the fewest executions come first, a minute each, every time with another seed. Ends with 1 where a reader
did what it does not say.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from multiprocessing import get_context
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

from tests.fuzz.campaign import load, run
from tests.hardness.record import RECORD, here, read, write

if TYPE_CHECKING:
    from tests.fuzz.targets import Target

PART = "fuzz"


def main() -> None:
    """Go on until all readers have been tried often enough, or time is up."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("names", nargs="*", help="readers by name; all where none is named")
    parser.add_argument("--executions", type=int, default=1_000_000, help="of each reader (default 1,000,000)")
    parser.add_argument("--minutes", type=float, default=600, help="after which it ends (default 600)")
    parser.add_argument("--slice", type=float, default=60, help="seconds of one reader before the next (default 60)")
    parser.add_argument("--record", type=Path, default=RECORD, help="where executions are counted")
    options = parser.parse_args()
    until = time.monotonic() + 60 * options.minutes
    targets = load()
    names = options.names or [*targets]
    while time.monotonic() < until:
        tried = read(options.record).get(PART, {}).get("readers", {})
        name = min(names, key=lambda one: tried.get(one, {}).get("executions", 0))
        left = options.executions - tried.get(name, {}).get("executions", 0)
        if left <= 0:
            break
        note(
            name,
            campaign(targets[name], left, options.slice, len(tried.get(name, {}).get("runs", ())) + 1),
            options.record,
        )
    faults = {
        name: one["faults"]
        for name, one in read(options.record).get(PART, {}).get("readers", {}).items()
        if one["faults"]
    }
    print(json.dumps(faults, indent=1))
    sys.exit(bool(faults))


def campaign(target: Target, executions: int, seconds: float, seed: int) -> dict[str, Any]:
    """Return what a process found that tried one reader; a process that was ended is a fault."""
    with TemporaryDirectory() as folder:
        out = Path(folder) / "found.json"
        child = get_context("fork").Process(target=run, args=(target, executions, seconds, seed, out))
        child.start()
        child.join()
        if out.is_file():
            return {**json.loads(out.read_text("utf-8")), "seed": seed}
    return {"executions": 0, "faults": {f"the process ended with {child.exitcode}": f"seed {seed}"}, "seed": seed}


def note(name: str, found: dict[str, Any], path: Path) -> None:
    """Add what a process found to the record."""
    part = read(path).get(PART, {"command": "make fuzz", "readers": {}})
    empty: dict[str, Any] = {"executions": 0, "faults": {}, "slowest_seconds": 0.0, "runs": []}
    before = part["readers"].get(name, empty)
    run = {key: found[key] for key in ("seed", "executions", "seconds", "engine") if key in found}
    part["readers"][name] = {
        "executions": before["executions"] + found["executions"],
        "faults": before["faults"] | found["faults"],
        "slowest_seconds": max(before["slowest_seconds"], found.get("slowest_seconds", 0.0)),
        "runs": [*before["runs"], {**run, "git_commit": here()["git_commit"]}],
    }
    write(PART, {**part, "made_on": here()}, path)
    print(f"{name}: {part['readers'][name]['executions']:,} executions", flush=True)


if __name__ == "__main__":
    main()
