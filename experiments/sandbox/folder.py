"""The study of `headscope sandbox` done and written: one record with its page."""

from __future__ import annotations

import json
from dataclasses import asdict
from functools import partial
from pathlib import Path
from typing import Any

from experiments.record.job import Job, delete_parts
from experiments.record.provenance import Start, machine
from experiments.sandbox.needed import needed_items
from experiments.sandbox.study import EFFORT, Progress, SandboxStudy, Scale
from probes.evidence.statistics import VerdictRule
from reports.run.replacing import replacing
from reports.statements.sandbox_page import write_sandbox_page
from reports.statements.sandbox_tables import check_sandbox


class StudyError(ValueError):
    """A study that cannot be written where it was told to be."""


def run_study(out: Path, scale: Scale, *, seed: int, workers: int, progress: Progress, resume: bool = False) -> Path:
    """Do the study and write the folder `out` with sandbox.json and its page, which appear only when both are whole.

    An older study in its place is replaced; StudyError where `out` is something else. Parts that are done are kept
    beside `out` until all are; with `resume` a study of the same scale, seed and rule takes those it finds there, and
    says of each with which commit it was made; KeptError where they are of another.
    """
    if out.exists() and not (out / "sandbox.json").is_file():
        raise StudyError(f"{out} exists and is not the folder of a sandbox; choose another --out")
    started, rule = Start(), VerdictRule()
    record: dict[str, Any] = {"scale": asdict(scale), "effort": asdict(EFFORT), "rule": asdict(rule), "seed": seed}
    with replacing(out) as unfinished:
        job = Job.open(out, record, resume=resume)
        study = SandboxStudy(scale, rule, seed, workers)
        record |= study.record(lambda title, make: job.part(title, partial(make, partial(progress, title))))
        record["needed"] = needed_items(record["power"])
        record = machine(started) | {"workers": workers} | job.entry() | record
        _write(record, unfinished, progress)
    delete_parts(out)
    return out / "index.html"


def _write(record: dict[str, Any], folder: Path, progress: Progress) -> None:
    """Write record and page; ValueError says which row of the record is wrong."""
    check_sandbox(record, str(folder / "sandbox.json"))
    (folder / "sandbox.json").write_text(json.dumps(record, indent=1) + "\n", encoding="utf-8")
    write_sandbox_page(folder, progress)
