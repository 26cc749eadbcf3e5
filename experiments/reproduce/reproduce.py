"""Findings at work: every reading that they need is done once, every finding is judged, and the page is written.

What a run without untrained weights leaves unmeasured is told with the command that measures it, and how long it takes.
"""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import fmean
from typing import Any

from experiments.config.config import ConfigError
from experiments.reproduce.judge import with_verdicts
from experiments.reproduce.readings import FinishedReading, Reading, get_reading
from experiments.reproduce.record import (
    Entry,
    measured,
    read_record,
    run_of,
    today,
    unmeasured,
    updated,
    write_record,
)
from experiments.reproduce.registry import all_findings, used
from experiments.run.run import RunError
from experiments.statements.finding import Finding, FindingError
from experiments.statements.rule import CONTROLS, SEEDS, LearnedRule
from experiments.statements.subject import SCRATCH, Subject
from mha.models.packages import ModelError
from probes.corpora.conllu import CorpusError
from reports.formats import about_minutes
from reports.progress import Progress, silent
from reports.run.lock import locked
from reports.statements.finding_page import write_findings_page
from reports.statements.finding_record import PUBLISHED, RECORD

UNREADABLE = (RunError, CorpusError, ModelError)
"What a reading may raise where a model or a machine lacks something; findings that need it are then not testable."

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
        words += [word for file in used(ids) for word in ("--findings", str(file))]
        return shlex.join([*words, *(["--seed", str(self.seed)] if self.seed else [])])


def reproduce(
    findings: Sequence[Finding],
    subjects: Sequence[Subject],
    out: Path,
    changes: Sequence[str] = (),
    *,
    seed: int = 0,
    fresh: bool = False,
    controls: bool = False,
    progress: Progress = silent,
) -> Path:
    """Hold findings against models; write `out`/findings.json, findings.csv and the page, and return its path.

    Every model is read once for all findings that look at the same texts, into `out`/<model>/<reading>; what lies
    there is taken as it is unless all is to be `fresh`. `changes` are "READING.key=value". With `controls`, random
    and permuted weights of each model's shape are read as well, three seeds each. The record keeps what earlier calls
    measured of other models and findings; all of it is judged again. It is written after every run, the page after
    every model.
    """
    by_reading = _by_reading(changes)
    for subject in subjects:
        subject.load()
    page = out / "index.html"
    with locked(out / RECORD):
        for subject, own_seed in _runs(subjects, seed, controls=controls):
            asked = [one for one in findings if not (subject.control and one.fact)]
            reads, missing = _read_all(asked, subject, out, by_reading, seed=own_seed, fresh=fresh, progress=progress)
            evidence = {name: read.evidence for name, read in reads.items()}
            before = read_record(out)
            results = [_measured(finding, subject, reads, evidence, missing) for finding in asked]
            for finding, result in zip(asked, results, strict=True):
                if hangs_on_untrained(finding, subject, before):
                    result["untrained"] = to_measure(finding, subject, reads, Invocation(out, changes, seed))
            runs = [run_of(name, read, subject) for name, read in reads.items()]
            record = updated(before, subject, results, runs, own_seed)
            requested = [] if len(findings) == len(all_findings()) else [finding.id for finding in findings]
            write_record(with_verdicts(record | {"requested": requested}), out)
            if subject in subjects:
                page = write_findings_page(out, progress)
    return page


def rejudge(out: Path, progress: Progress = silent) -> Path:
    """Judge the record that lies in `out` anew, by the rules of today, and write its page; return its path.

    Nothing is measured: a statement that another number decides now is "not measured". The page shows all findings.
    Raises FindingError where no record lies.
    """
    if not (record := read_record(out)):
        raise FindingError(f"--rejudge: no {RECORD} in {out}: expected the folder of an earlier 'headscope reproduce'")
    write_record(with_verdicts(today(record) | {"requested": []}), out)
    return write_findings_page(out, progress)


def _runs(subjects: Sequence[Subject], seed: int, *, controls: bool) -> Iterator[tuple[Subject, int]]:
    """Yield each model with its seed; with `controls`, before it untrained weights of its shape, SEEDS seeds a kind."""
    for subject in subjects:
        if controls and not subject.control and not subject.trained_here:
            yield from ((subject.untrained(kind), number) for kind in CONTROLS for number in range(SEEDS))
        yield subject, seed


def _by_reading(changes: Sequence[str]) -> dict[str, list[str]]:
    """Return the changes of each reading; raises ConfigError for one that names none."""
    found: dict[str, list[str]] = {}
    for change in changes:
        reading, dot, rest = change.partition(".")
        if not (dot and "=" in rest):
            raise ConfigError(f"--set {change}: expected READING.key=value, such as trees.corpus.report.first=100")
        try:
            get_reading(reading)
        except FindingError as error:
            raise ConfigError(f"--set {change}: {error}") from None
        found.setdefault(reading, []).append(rest)
    return found


def _read_all(
    findings: Sequence[Finding],
    subject: Subject,
    out: Path,
    changes: Mapping[str, Sequence[str]],
    *,
    seed: int,
    fresh: bool,
    progress: Progress,
) -> tuple[dict[str, FinishedReading], dict[str, str]]:
    """Do the readings that any finding needs of this model; return them, and why others cannot be."""
    reads: dict[str, FinishedReading] = {}
    missing: dict[str, str] = {}
    names = list(dict.fromkeys(name for finding in findings for name in finding.readings))
    for done, name in enumerate(names):
        progress(f"readings of {subject.spoken}", done, len(names))
        reading = get_reading(name)
        if why := _other_subject(reading, subject):
            missing[name] = why
            continue
        own = [*([] if reading.is_claim else [f"seed={seed}"]), *changes.get(name, ())]
        try:
            reads[name] = reading.read(subject, out, own, seed=seed, fresh=fresh, progress=progress)
        except UNREADABLE as error:
            missing[name] = f"{name}: {error}"
    progress(f"readings of {subject.spoken}", len(names), len(names))
    return reads, missing


def _other_subject(reading: Reading, subject: Subject) -> str:
    """Say why a reading is not for this model; empty where it is."""
    if reading.trains and not subject.trained_here:
        return f"it is about a training: headscope reproduce --model {SCRATCH}"
    if subject.trained_here and not reading.trains:
        return "it is about a model at hand: headscope reproduce --model NAME"
    return ""


def _measured(
    finding: Finding,
    subject: Subject,
    reads: Mapping[str, FinishedReading],
    evidence: Mapping[str, object],
    missing: Mapping[str, str],
) -> Entry:
    """Return what the record gets of a finding: its numbers, or why there are none."""
    if finding.missing:
        return unmeasured(finding, subject, finding.missing)
    reasons = dict.fromkeys(missing[name] for name in finding.readings if name in missing)
    if reasons:
        return unmeasured(finding, subject, "; ".join(reasons))
    return measured(finding, subject, finding.numbers(evidence), reads, evidence)


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


def leaving(out: Path) -> Iterator[str]:
    """Yield which results the record in `out` loses when it is written anew, for no finding here is theirs."""
    gone = sorted({one["finding"] for one in read_record(out).get("results", ())} - {*all_findings()})
    if gone:
        yield (
            f"{out / RECORD}: results of {', '.join(gone)} leave it, for these are no findings here; with --findings "
            "FILE, which names theirs, they stay"
        )


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
