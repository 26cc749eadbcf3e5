"""Many executions of one reader in a process of its own, guided by coverage where atheris is installed.

An endless execution ends the process, and so does memory without end.
"""

from __future__ import annotations

import faulthandler
import json
import math
import os
import shutil
import tempfile
import time
from collections.abc import Mapping
from importlib import import_module
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from random import Random
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from tests.fuzz.targets import Target

HANG = 60
"Seconds without an execution after which the process is ended, at the latest."

MEMORY_MB = 4096
"Memory after which atheris ends the process; torch and pyarrow take some hundred of it."

LONGEST = 1 << 14

INSTRUMENTED = ["mha", "probes", "reports", "experiments", "conllu"]
"Packages whose coverage guides atheris."


class Campaign:
    """Counts executions and gathers faults, equal ones once."""

    def __init__(self, read: Any, executions: int, seconds: float, out: Path) -> None:
        """Take the `tests.fuzz.reading.Reading` that is tried."""
        self.read, self.executions, self.until, self.out = read, executions, time.monotonic() + seconds, out
        self.begun, self.done = time.monotonic(), 0
        self.armed = -math.inf
        self.faults: dict[str, str] = {}

    def one(self, given: bytes) -> bool:
        """Try one input; return whether there is another one to try."""
        if (now := time.monotonic()) > self.armed + HANG / 2:  # not every time: each starts a thread
            faulthandler.dump_traceback_later(HANG, exit=True)
            self.armed = now
        if (fault := self.read.fault(given)) is not None:
            self.faults.setdefault(fault.what, fault.given[:400].decode("latin-1"))
        self.done += 1
        goes_on = self.done < self.executions and time.monotonic() < self.until
        if not goes_on:
            self.write()
        return goes_on

    def write(self) -> None:
        """Write what was found."""
        found = {
            "executions": self.done,
            "faults": self.faults,
            "slowest_seconds": round(self.read.slowest, 2),
            "seconds": round(time.monotonic() - self.begun),
            "engine": engine(),
        }
        self.out.write_text(json.dumps(found), encoding="utf-8")


def engine() -> str:
    """Return what makes the inputs."""
    try:
        return f"atheris {version('atheris')}"
    except PackageNotFoundError:
        return "mutations"


def by_mutations(campaign: Campaign, examples: list[bytes], seed: int) -> None:
    """Try changes of the examples alone."""
    from tests.fuzz.mutations import mutated

    draws = Random(seed)
    while campaign.one(mutated(draws, examples)):
        pass


def by_atheris(campaign: Campaign, examples: list[bytes], seed: int) -> None:
    """Try what atheris makes of the examples and of what reached new lines, half of it with our changes."""
    import atheris

    from tests.fuzz.mutations import mutated

    def change(given: bytes, longest: int, seed: int) -> bytes:
        draws = Random(seed)
        own = draws.random() < 0.5
        return mutated(draws, [given])[:longest] if own else bytes(atheris.Mutate(given, longest))

    def one(given: bytes) -> None:
        if not campaign.one(given):
            shutil.rmtree(campaign.read.path.parent)
            os._exit(0)  # libFuzzer would go on

    with tempfile.TemporaryDirectory() as folder:
        for number, example in enumerate(examples):
            (Path(folder) / str(number)).write_bytes(example)
        limits = [f"-max_len={LONGEST}", f"-rss_limit_mb={MEMORY_MB}", f"-timeout={HANG}", "-print_final_stats=0"]
        words = ["fuzz", f"-seed={seed}", *limits, "-verbosity=0", folder]
        atheris.Setup(words, one, custom_mutator=change)
        atheris.Fuzz()


def load() -> Mapping[str, Target]:
    """Return the readers, loaded so that atheris sees which lines of ours an input reaches."""
    if engine() == "mutations":
        return import_module("tests.fuzz.targets").TARGETS  # type: ignore[no-any-return]
    import atheris

    with atheris.instrument_imports(include=INSTRUMENTED):
        return import_module("tests.fuzz.targets").TARGETS  # type: ignore[no-any-return]


def run(target: Target, executions: int, seconds: float, seed: int, out: Path) -> None:
    """Run a campaign on a reader, and write what it found to `out`."""
    from tests.fuzz.reading import reading

    with reading(target) as read:
        found = Campaign(read, executions, seconds, out)
        (by_mutations if engine() == "mutations" else by_atheris)(found, [*target.seeds], seed)
