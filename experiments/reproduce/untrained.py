"""What a run without untrained weights leaves unmeasured, the command that measures it, and how long that takes."""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import fmean
from typing import Any

from experiments.reproduce.readings import FinishedReading, get_reading
from experiments.reproduce.record import read_record
from experiments.statements.finding import Finding
from experiments.statements.rule import CONTROLS, SEEDS, LearnedRule
from experiments.statements.subject import Subject
from reports.formats import about_minutes
from reports.statements.finding_record import PUBLISHED

RUNS = len(CONTROLS) * SEEDS
"Of untrained weights, for each run of a model."


@dataclass(frozen=True)
class Invocation:
    """What a call of 'headscope reproduce' says beside its findings and models."""

    out: Path
    changes: Sequence[str] = ()
    seed: int = 0

    def with_controls(self, ids: Sequence[str], subject: Subject) -> str:
        """Return the command line that measures findings on a model beside untrained weights."""
        words = ["headscope", "reproduce", *ids, "--model", subject.typed, "--controls", "--out", str(self.out)]
        words += [word for change in self.changes for word in ("--set", change)]
        return shlex.join([*words, *(["--seed", str(self.seed)] if self.seed else [])])


def hangs_on_untrained(finding: Finding, subject: Subject, record: Mapping[str, Any]) -> bool:
    """Return whether a statement of a finding needs numbers of untrained weights that a record does not have."""
    if subject.control or subject.trained_here or finding.missing:
        return False
    models = {one["model"] for one in record.get("models", ()) if one["control"] and one.get("of") == subject.spoken}
    whole = [
        one["model"]
        for one in record.get("results", ())
        if one["model"] in models and one["finding"] == finding.id and len(one.get("seeds", ())) >= SEEDS
    ]
    return len(whole) < len(CONTROLS) and any(isinstance(one.rule, LearnedRule) for one in finding.statements)


def to_measure(
    finding: Finding, subject: Subject, reads: Mapping[str, FinishedReading], call: Invocation
) -> dict[str, Any]:
    """Return the command that measures untrained weights for a finding, and its seconds: those of this run, for each.

    A run of untrained weights takes about as long as that of the model.
    """
    seconds = sum(reads[name].record.wall_seconds or 0 for name in finding.readings if name in reads)
    return {"command": call.with_controls([finding.id], subject), "seconds": RUNS * seconds}


def before_the_run(
    findings: Sequence[Finding], subjects: Sequence[Subject], call: Invocation, ids: Sequence[str]
) -> Iterator[str]:
    """Yield, for each model, which findings a call without controls can leave unmeasured, and what measures them."""
    record = read_record(call.out)
    for subject in subjects:
        hang = [one.id for one in findings if hangs_on_untrained(one, subject, record)]
        if hang:
            more = f" and {len(hang) - 3} more" if len(hang) > 3 else ""
            yield (
                f"{subject.spoken}: without untrained weights {', '.join(hang[:3])}{more} may be 'not measured'. To "
                f"measure: {call.with_controls(ids, subject)}{_cost(findings)}"
            )


def _cost(findings: Sequence[Finding]) -> str:
    """Say how long RUNS runs of all readings of findings take by the published record; empty where it has none."""
    taken: dict[str, list[float]] = {}
    for run in read_record(PUBLISHED).get("runs", ()):
        taken.setdefault(run["reading"], []).append(run["wall_seconds"] or 0)
    names = {name for one in findings if not one.missing and not one.fact for name in one.readings}
    seconds = sum(fmean(taken[name]) for name in names if name in taken and not get_reading(name).trains)
    minutes = about_minutes(RUNS * seconds)
    return f" ({minutes} more for a model of the size of MiniLM on two cores)" if seconds else ""
