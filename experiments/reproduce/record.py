"""The record of findings: what papers say, what was measured, and of which runs; `judge` judges it."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

from experiments.reproduce.readings import FinishedReading
from experiments.reproduce.registry import all_findings, papers
from experiments.statements.finding import PROVENANCE, Evidence, Finding, Missing, Numbers, Statement
from experiments.statements.subject import Subject
from reports.run.replacing import replace_text
from reports.statements.figure import Figure, beside_published
from reports.statements.finding_record import RECORD

KEPT = ("headscope", "started", "wall_seconds", "git_commit", "platform", "cores", "threads", "python", "versions")
"What is told of a run, of what its own record has."

Entry = dict[str, Any]
"A result, or what was measured for one statement, as JSON has it."


def written_down(finding: Finding, key: str) -> dict[str, Any]:
    """Return what stands in a finding before anything is measured, as JSON has it."""
    plainly = ("id", "claim", "where", "model", "data", "metric", "stands_in", "differs", "enough", "missing")
    counting = ("counted", "uncounted", "fact", "group", "repeats", "unclaimed", "revised", "untrained", "weaker")
    about = {name: getattr(finding, name) for name in (*plainly, *counting)}
    lists = {"readings": list(finding.readings), "original": list(finding.original)}
    return {"paper": key} | about | lists | {"statements": [_statement(one) for one in finding.statements]}


def _statement(one: Statement) -> dict[str, Any]:
    published = asdict(one.published) | {"read": PROVENANCE[one.published.provenance]}
    said = {name: getattr(one, name) for name in ("name", "text", "number", "unit", "shown", "tolerance")}
    bar = one.rule.words()
    if one.weaker is not None:
        bar += f" Below that, a weaker version: {replace(one.weaker, unit=one.unit).words()}"
    return said | {"rule": bar, "published": published}


def unmeasured(finding: Finding, subject: Subject, why: str) -> Entry:
    """Return the entry of a finding that nothing could be measured for, and why."""
    statements = [{"name": one.name, "number": one.number, "missing": why} for one in finding.statements]
    about = {"model": subject.spoken, "finding": finding.id, "untestable": why}
    return about | {"runs": {}, "statements": statements, "figure": None}


def measured(
    finding: Finding, subject: Subject, numbers: Numbers, reads: Mapping[str, FinishedReading], evidence: Evidence
) -> Entry:
    """Return the numbers of a finding, the hashes of the runs behind them and its figure."""
    missing = Missing("nothing was measured")
    found = [
        {"name": one.name, "number": one.number} | numbers.get(one.name, missing).recorded()
        for one in finding.statements
    ]
    known = any("decides" in one for one in found)
    figure = _drawn(finding, evidence, found) if known else None
    hashes = {name: reads[name].sha256 for name in finding.readings if name in reads} if known else {}
    about = {"model": subject.spoken, "finding": finding.id, "untestable": ""}
    return about | {"runs": hashes, "statements": found, "figure": figure.recorded() if figure else None}


def _drawn(finding: Finding, evidence: Evidence, numbers: Sequence[Entry]) -> Figure | None:
    """Return the figure of a finding, or bars of its numbers beside the published ones where it asks for them.

    None where the figure asks for more than a run of one's own has.
    """
    if finding.figure is not None:
        try:
            return finding.figure(evidence)
        except Missing:
            return None
    said = {"statements": [_statement(one) for one in finding.statements]}
    beside = beside_published(said, {"statements": numbers}) if finding.bars else None
    return replace(beside, title=finding.bars) if beside else None


def run_of(name: str, read: FinishedReading, subject: Subject) -> dict[str, Any]:
    """Return what is told of a reading: its weights and numbers by their hashes, when and with what it was made."""
    kept = {key: getattr(read.record, key) for key in KEPT}
    corpora = {split: one.name for split, one in read.record.corpora.items()}
    about = {"model": subject.spoken, "weights": read.record.model.sha256}
    return about | {"reading": name, "sha256": read.sha256, "corpora": corpora} | kept


def subject_of(subject: Subject) -> dict[str, Any]:
    """Return what is told of a model; `known_as` is its name where it is some paper's own model."""
    originals = {name for finding in all_findings().values() for name in finding.original}
    known = subject.name.partition("@")[0] if subject.original(tuple(originals)) else ""
    kind = {"trained_here": subject.trained_here, "control": subject.control, "of": subject.of_model, "known_as": known}
    kind |= {"own_run": True} if subject.own_run else {}
    return {"model": subject.spoken, "source": "trained" if subject.trained_here else subject.source} | kind


def updated(
    before: Mapping[str, Any],
    subject: Subject,
    results: Sequence[Mapping[str, Any]],
    runs: Sequence[Mapping[str, Any]],
    seed: int = 0,
) -> dict[str, Any]:
    """Return the record of all findings with what was measured of one model in the place of what was there of it.

    Of untrained weights what other seeds had stays. What papers say is that of today; results of findings that are
    no more are let go.
    """
    before = today(before)
    mine = {one["finding"]: dict(one) for one in results}
    if subject.control:
        theirs = {one["finding"]: one for one in before["results"] if one["model"] == subject.spoken}
        mine = {name: _with_seed(theirs.get(name, {}), one, seed) for name, one in mine.items()}
    kept = [one for one in before["results"] if not (one["model"] == subject.spoken and one["finding"] in mine)]
    models = [one for one in before["models"] if one["model"] != subject.spoken]
    found = {**before, "models": [*models, subject_of(subject)], "results": [*kept, *mine.values()]}
    new = {one["sha256"] for one in runs}
    return found | {"runs": _used([*(one for one in before["runs"] if one["sha256"] not in new), *runs], found)}


def today(before: Mapping[str, Any]) -> dict[str, Any]:
    """Return a record with papers and findings as they stand today, and without results of those that are no more."""
    every = [(one, finding) for one in papers() for finding in one.findings]
    ids = {finding.id for _, finding in every}
    return {
        "papers": [asdict(one.paper) for one in papers()],
        "findings": [written_down(finding, one.paper.key) for one, finding in every],
        "models": list(before.get("models", ())),
        "results": [one for one in before.get("results", ()) if one["finding"] in ids],
        "runs": list(before.get("runs", ())),
        "requested": list(before.get("requested", ())),
    }


def _with_seed(before: Mapping[str, Any], result: Mapping[str, Any], seed: int) -> Entry:
    """Return the result of untrained weights with the numbers of one more seed; those of other seeds stay."""
    seeds = {**before.get("seeds", {}), str(seed): result["statements"]}
    named = {name if not seed else f"{name}, seed {seed}": sha for name, sha in result["runs"].items()}
    ordered = {key: seeds[key] for key in sorted(seeds, key=int)}
    return {**before, **result, "seeds": ordered, "runs": {**before.get("runs", {}), **named}}


def _used(runs: Sequence[Mapping[str, Any]], record: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    """Return the runs that a result names."""
    used = {sha for one in record["results"] for sha in one["runs"].values()}
    return [one for one in runs if one["sha256"] in used]


def read_record(folder: Path) -> dict[str, Any]:
    """Return the record that lies in `folder`; an empty one where there is none."""
    path = folder / RECORD
    return dict(json.loads(path.read_text(encoding="utf-8"))) if path.is_file() else {}


def write_record(record: Mapping[str, Any], folder: Path) -> None:
    """Write the record into `folder`, whole or not at all."""
    replace_text(folder / RECORD, json.dumps(record, indent=1, allow_nan=False, ensure_ascii=False) + "\n")
