"""What is read for findings: one run, or one claim, for all findings that look at the same texts."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from experiments.claims.study import load_claim, run_claim
from experiments.config.file import read_toml
from experiments.run.config import load_config
from experiments.run.folder import CONFIG, is_done
from experiments.run.run import resume_or_run, run
from experiments.statements.finding import FindingError
from experiments.statements.subject import Subject
from reports import Run
from reports.progress import Progress, silent
from reports.run.record import RunRecord, read_record
from reports.statements.claim_record import read_claim

CONFIGS = Path(__file__).parent.parent / "configs"

CLAIM = "claim-"
"What names of readings begin with that are claims: claim-heads is heads.toml in one of CLAIM_FOLDERS."

CLAIM_FOLDERS = ("claims", "interventions", "decoders", "multilingual")
"Of experiments/configs."


@dataclass(frozen=True)
class FinishedReading:
    """A reading that is done."""

    evidence: Any
    "`reports.Run`, or the record of a claim."
    sha256: str
    "Of its config and all of its tables, or of the claim's record."
    record: RunRecord
    "What run.json says, or claim.json, which tells of its machine in the same way."


@dataclass(frozen=True)
class Reading:
    """A config by name: a run of the model that findings are compared with, or a training, or a claim."""

    name: str
    path: Path

    @cached_property
    def trains(self) -> bool:
        """Whether it trains its own encoders, so that no other model can be compared with what it measures."""
        return self.is_claim or "train" in read_toml(self.path, ())

    @property
    def is_claim(self) -> bool:
        """Whether it is an experiment of `experiments.claims`."""
        return self.name.startswith(CLAIM)

    def read(
        self,
        subject: Subject,
        out: Path,
        changes: Sequence[str] = (),
        *,
        seed: int = 0,
        fresh: bool = False,
        progress: Progress = silent,
    ) -> FinishedReading:
        """Return what was measured of the model: as it lies in `out`/<model>/<reading>, or measured now.

        What lies there is taken where it has the same config, unless all is to be `fresh`. Untrained weights have a
        folder for each `seed`, which draws them; it has to be among `changes`, too.
        """
        folder = out / (f"{subject.folder}-seed-{seed}" if seed and subject.control else subject.folder)
        if self.is_claim:
            path = run_claim(load_claim(self.path, changes), folder, resume=not fresh, progress=progress)
            return opened_claim(path)
        config = load_config(self.path, [*changes, f"name={self.name}", *subject.changes])
        if fresh or not is_done(folder / self.name, config):
            do_run = run if fresh else resume_or_run
            do_run(config, folder, overwrite=True, progress=progress)
        return opened_run(folder / self.name)


def opened_run(folder: Path) -> FinishedReading:
    """Open a run folder as a reading."""
    run = Run.open(folder)
    return FinishedReading(run, fingerprint([folder / CONFIG, *sorted(folder.glob("*.parquet"))]), run.record)


def opened_claim(path: Path) -> FinishedReading:
    """Open the record of a claim as a reading."""
    claim = read_claim(path)
    return FinishedReading(claim, fingerprint([path]), read_record(path))


def fingerprint(paths: Sequence[Path]) -> str:
    """Return the sha256 of files: of their names and what is in them, in the order given."""
    whole = hashlib.sha256()
    for path in paths:
        whole.update(f"{path.name}\0{hashlib.sha256(path.read_bytes()).hexdigest()}\n".encode())
    return whole.hexdigest()


def get_reading(name: str) -> Reading:
    """Return a reading by name; raises FindingError where there is none."""
    folders = CLAIM_FOLDERS if name.startswith(CLAIM) else ("findings",)
    paths = [CONFIGS / folder / f"{name.removeprefix(CLAIM)}.toml" for folder in folders]
    path = next((path for path in paths if path.is_file()), paths[0])
    if not path.is_file():
        known = ", ".join(sorted(file.stem for file in (CONFIGS / "findings").glob("*.toml")))
        raise FindingError(f"no reading {name!r} at {path}; there are {known}, and {CLAIM}NAME for claims")
    return Reading(name, path)
