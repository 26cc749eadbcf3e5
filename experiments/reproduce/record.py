"""The record of all findings: what papers say, what was measured of which model, and the runs behind it."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from experiments.reproduce.judge import Judged, Judgement, plain
from experiments.reproduce.readings import FinishedReading
from experiments.reproduce.registry import papers
from experiments.statements.finding import PROVENANCE, Evidence, Finding, Missing, PaperFindings, Statement
from experiments.statements.subject import Subject
from reports.findings.record import RECORD
from reports.run.replacing import replace_text

KEPT = ("headscope", "started", "wall_seconds", "git_commit", "platform", "cores", "threads", "python", "versions")
"What is told of a run, of what its own record has."


def told(paper: PaperFindings) -> dict[str, Any]:
    """Return a paper as JSON has it."""
    return asdict(paper.paper)


def written_down(finding: Finding, key: str) -> dict[str, Any]:
    """Return what stands in a finding before anything is measured, as JSON has it."""
    plainly = ("id", "claim", "where", "model", "data", "metric", "stands_in", "differs", "enough", "learned")
    about = {name: getattr(finding, name) for name in (*plainly, "untrained", "missing")}
    lists = {"readings": list(finding.readings), "original": list(finding.original)}
    return {"paper": key} | about | lists | {"statements": [_statement(one) for one in finding.statements]}


def _statement(one: Statement) -> dict[str, Any]:
    published = asdict(one.published) | {"read": PROVENANCE[one.published.provenance]}
    said = {name: getattr(one, name) for name in ("name", "text", "number", "unit", "shown", "tolerance")}
    return said | {"rule": one.rule.words(one.unit), "published": published}


def result_of(
    found: Judgement, subject: Subject, reads: Mapping[str, FinishedReading], evidence: Evidence
) -> dict[str, Any]:
    """Return the verdict on a finding with its numbers, the hashes of the runs behind it and its figure."""
    finding = found.finding
    measured = any(not isinstance(one.measured, Missing) for one in found.statements)
    figure = finding.figure(evidence).recorded() if finding.figure is not None and measured else None
    hashes = {name: reads[name].sha256 for name in finding.readings if name in reads} if measured else {}
    about = {"model": subject.spoken, "finding": finding.id, "verdict": found.verdict, "why": found.why}
    return about | {"runs": hashes, "statements": [_judged(one) for one in found.statements], "figure": figure}


def _judged(one: Judged) -> dict[str, Any]:
    about: dict[str, Any] = {"name": one.statement.name, "verdict": one.verdict, "near": one.near, "note": ""}
    if isinstance(one.measured, Missing):
        return about | {"missing": one.measured.why}
    found = one.measured
    baseline = None if found.baseline is None or found.baseline != found.baseline else found.baseline
    beside = {"ours": plain(found.ours) if found.ours else None, "baseline": baseline}
    return about | {"decides": plain(found.decides)} | beside | {"heads": found.heads, "note": found.note}


def run_of(name: str, read: FinishedReading, subject: Subject) -> dict[str, Any]:
    """Return what is told of a reading: its weights and numbers by their hashes, when and with what it was made."""
    kept = {key: getattr(read.record, key) for key in KEPT}
    corpora = {split: one.name for split, one in read.record.corpora.items()}
    about = {"model": subject.spoken, "weights": read.record.model.sha256}
    return about | {"reading": name, "sha256": read.sha256, "corpora": corpora} | kept


def subject_of(subject: Subject) -> dict[str, Any]:
    """Return what is told of a model."""
    kind = {"trained_here": subject.trained_here, "control": subject.control}
    return {"model": subject.spoken, "source": "trained" if subject.trained_here else subject.source} | kind


def updated(
    before: Mapping[str, Any],
    subject: Subject,
    results: Sequence[Mapping[str, Any]],
    runs: Sequence[Mapping[str, Any]],
) -> dict[str, Any]:
    """Return the record of all findings with what was measured of one model in the place of what was there of it.

    What papers say is that of today; results of findings that are no more, or have other statements now, are let go.
    """
    every = [(one, finding) for one in papers() for finding in one.findings]
    known = {finding.id: [statement.name for statement in finding.statements] for _, finding in every}
    mine = {(one["model"], one["finding"]) for one in results}
    kept = [
        one
        for one in before.get("results", ())
        if (one["model"], one["finding"]) not in mine
        and known.get(one["finding"]) == [statement["name"] for statement in one["statements"]]
    ]
    results = [*kept, *results]
    used = {sha for one in results for sha in one["runs"].values()}
    new = {one["sha256"] for one in runs}
    models = [one for one in before.get("models", ()) if one["model"] != subject.spoken]
    return {
        "papers": [told(one) for one in papers()],
        "findings": [written_down(finding, one.paper.key) for one, finding in every],
        "models": [*models, subject_of(subject)],
        "results": results,
        "runs": [
            one
            for one in [*(o for o in before.get("runs", ()) if o["sha256"] not in new), *runs]
            if one["sha256"] in used
        ],
    }


def read_record(folder: Path) -> dict[str, Any]:
    """Return the record that lies in `folder`; an empty one where there is none."""
    path = folder / RECORD
    return dict(json.loads(path.read_text(encoding="utf-8"))) if path.is_file() else {}


def write_record(record: Mapping[str, Any], folder: Path) -> None:
    """Write the record into `folder`, whole or not at all."""
    replace_text(folder / RECORD, json.dumps(record, indent=1, allow_nan=False, ensure_ascii=False) + "\n")
