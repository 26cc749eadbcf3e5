"""Findings judged on finished runs of one's own: what their tables hold, without any new run."""

from __future__ import annotations

import json
import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, NoReturn, cast

import pandas as pd

from experiments.config.config import flat_keys, resolved
from experiments.reproduce.judge import with_verdicts
from experiments.reproduce.readings import FinishedReading, Reading, get_reading, opened_run
from experiments.reproduce.record import Entry, measured, read_record, run_of, unmeasured, updated, write_record
from experiments.reproduce.registry import all_findings, papers
from experiments.reproduce.reproduce import RUNS, hangs_on_untrained
from experiments.run.config import load_config
from experiments.run.measures import measure_types
from experiments.statements.finding import Finding, FindingError, Missing
from experiments.statements.rule import CONTROLS, SEEDS
from experiments.statements.subject import Subject
from reports import Run
from reports.progress import Progress, silent
from reports.run.lock import locked
from reports.statements.finding_page import write_findings_page
from reports.statements.finding_record import RECORD

WHOLE = ("scoring.maps", "scoring.reduce")
"Keys that a run shares with the reading that it stands in for, whatever is read in it."

APART = ("name", "seed", "model", "page", "controls", "shapes", "heads", "scoring.batch_pieces", "scoring.kept_mb")
"Tables and keys of configs in which a run of untrained weights may differ from that of its model."

AMOUNTS = ("items", "texts", "sentences", "words", "questions", "examples", "draws", "permutations", "directions")
"Keys that say how much is read or drawn."


def is_run(name: str) -> bool:
    """Return whether an argument names a folder, as [TITLE=]FOLDER, and no finding or paper."""
    known = name in all_findings() or any(name == told.paper.key for told in papers())
    return not known and bool(name) and _titled(name)[1].is_dir()


def _titled(name: str) -> tuple[str, Path]:
    """Return title and folder of [TITLE=]FOLDER; a folder may have = in its own name."""
    title, equals, folder = name.partition("=")
    return (title, Path(folder)) if equals and folder and not Path(name).is_dir() else ("", Path(name))


@dataclass(frozen=True)
class OwnRun:
    """A finished run with the model that it read, as a model that findings are compared with."""

    read: FinishedReading
    subject: Subject
    seed: int

    @property
    def run(self) -> Run:
        """The run, opened."""
        return cast(Run, self.read.evidence)

    @property
    def settings(self) -> Mapping[str, Any]:
        """Its config by key, as "scoring.maps"."""
        return dict(flat_keys(self.run.settings))


def judge_runs(findings: Sequence[Finding], names: Sequence[str], out: Path, progress: Progress = silent) -> Path:
    """Judge findings on finished runs, [TITLE=]FOLDER; write `out`/findings.json and its page, and return its path.

    Nothing is measured. A run stands in for the one reading of a finding if no number in it means something else: see
    `reading_of`. Runs of random and permuted weights are controls of the run of the same model. Raises FindingError
    where two runs have one title, or controls were run otherwise than their model.
    """
    runs = opened(names)
    with locked(out / RECORD):
        for number, one in enumerate(runs):
            progress("findings", number, len(runs))
            asked = [finding for finding in findings if not (one.subject.control and finding.fact)]
            before, results = read_record(out), list[Entry]()
            used: dict[str, None] = {}
            for finding in asked:
                result, named = _result(finding, one)
                if hangs_on_untrained(finding, one.subject, before):
                    result["untrained"] = {"command": _untrained(names, one, out), "seconds": _seconds(one)}
                results.append(result)
                used |= dict.fromkeys(named)
            told = [run_of(name, one.read, one.subject) for name in used]
            record = updated(before, one.subject, results, told, one.seed)
            requested = [] if len(findings) == len(all_findings()) else [finding.id for finding in findings]
            write_record(with_verdicts(record | {"requested": requested}), out)
        return write_findings_page(out, progress)


def opened(names: Sequence[str]) -> list[OwnRun]:
    """Open runs, those of untrained weights first, each as the control of the run of its model."""
    reads = [(title, folder, opened_run(folder)) for title, folder in map(_titled, names)]
    trained = [one for one in reads if one[2].record.model.source not in CONTROLS]
    own = [
        OwnRun(
            read,
            Subject(title or f"run {read.evidence.name}", str(folder), str(read.record.model.source), own_run=True),
            0,
        )
        for title, folder, read in trained
    ]
    titles = [one.subject.spoken for one in own]
    for title in titles:
        if titles.count(title) > 1:
            raise FindingError(f"two runs are called {title!r}: name them apart, TITLE=FOLDER")
    controls = [_control(folder, read, own) for _, folder, read in reads if read.record.model.source in CONTROLS]
    drawn = [(one.subject.spoken, one.seed) for one in controls]
    for spoken, seed in drawn:
        if drawn.count((spoken, seed)) > 1:
            raise FindingError(f"two runs are of {spoken} with seed {seed}: expected other seeds")
    return [*controls, *own]


def _control(folder: Path, read: FinishedReading, own: Sequence[OwnRun]) -> OwnRun:
    """Return a run of untrained weights beside that of its model, which read the same in the same way."""
    model, kind = read.record.model, str(read.record.model.source)
    whose = [one for one in own if one.read.record.model.name == model.name]
    if len(whose) != 1:
        raise FindingError(
            f"{folder}: a run of {kind} weights of {model.name}, which belongs to {len(whose)} of the runs named: "
            "expected one run of that model beside it"
        )
    settings = read.evidence.settings
    mine, theirs = (dict(flat_keys(one)) for one in (settings, whose[0].run.settings))
    for key in sorted({*mine, *theirs}):
        if not {key, _table(key)} & {*APART} and mine.get(key) != theirs.get(key):
            raise FindingError(
                f"{folder}: {key} is {mine.get(key)!r}, but {theirs.get(key)!r} in {whose[0].run.folder}: untrained "
                "weights are compared on the same texts, asked in the same way"
            )
    spoken = whose[0].subject.spoken
    subject = Subject(f"{spoken}, {kind}", str(folder), kind, spoken, own_run=True)
    return OwnRun(read, subject, int(settings.get("seed", 0)))


def _result(finding: Finding, one: OwnRun) -> tuple[Entry, list[str]]:
    """Return what the record gets of a finding, and the readings that the run stood in for."""
    if finding.missing:
        return unmeasured(finding, one.subject, finding.missing), []
    try:
        evidence = {name: reading_of(finding, get_reading(name), one) for name in finding.readings}
    except Missing as missing:
        return unmeasured(finding, one.subject, missing.why), []
    reads = dict.fromkeys(finding.readings, one.read)
    return measured(finding, one.subject, finding.numbers(evidence), reads, evidence), list(reads)


def reading_of(finding: Finding, reading: Reading, one: OwnRun) -> Run:
    """Return a run as the evidence of a finding in the place of a reading; raises Missing where it cannot stand there.

    A table of a measure whose config differs from that of the reading by more than how much is read, and scores beside
    other baselines, are withheld: a measure that opens them is told which keys are missing.
    """
    again = f"headscope reproduce {finding.id} --model"
    if reading.is_claim or reading.trains:
        raise Missing(f"it is about encoders that are trained for it: {again} scratch")
    if len(finding.readings) > 1:
        raise Missing(f"it compares two runs, {' and '.join(finding.readings)}: {again} MODEL")
    asked = dict(flat_keys(resolved(load_config(reading.path))))
    if other := _unlike(asked, one.settings, WHOLE):
        raise Missing(_needs(other))
    own = one.settings
    withheld = {
        table: _needs(other)
        for kind in measure_types()
        if (other := _unlike(asked, own, [key for key in {**asked, **own} if _table(key) in {kind.name, *kind.tables}]))
        for table in kind.tables
    }
    graded = [key for key in asked if finding.graded and _table(key) in ("controls", "verdict")]
    found = replace(one.run, tables=JudgedTables(one.run.tables, withheld))
    other = _unlike(asked, own, ["probes.baselines", *graded])
    scores: Any = Withheld(_needs(other)) if other else found.scores
    return replace(found, scores=scores)


@dataclass(frozen=True)
class Withheld:
    """In the place of scores that mean something else than a finding asks for: who opens them is told why."""

    why: str

    def __getitem__(self, key: object) -> NoReturn:
        raise Missing(self.why)

    def __getattr__(self, name: str) -> NoReturn:
        raise Missing(self.why)


class JudgedTables(dict[str, pd.DataFrame]):
    """Tables of a run by name, but for those that are withheld: who asks for one of them is told why."""

    def __init__(self, tables: Mapping[str, pd.DataFrame], withheld: Mapping[str, str]) -> None:
        super().__init__(tables)
        self.withheld = withheld

    def __getitem__(self, name: str) -> pd.DataFrame:
        self._check(name)
        return super().__getitem__(name)

    def __contains__(self, name: object) -> bool:
        self._check(name)
        return super().__contains__(name)

    def get(self, name: str, default: Any = None) -> Any:
        """Return a table, or `default` where the run has none; raises Missing for one that is withheld."""
        self._check(name)
        return super().get(name, default)

    def _check(self, name: object) -> None:
        if name in self.withheld:
            raise Missing(self.withheld[str(name)])


def _table(key: str) -> str:
    return key.partition(".")[0]


def _unlike(asked: Mapping[str, Any], own: Mapping[str, Any], keys: Sequence[str]) -> list[str]:
    """Say of each key that decides what a number means, and differs, what is asked and what the run has.

    AMOUNTS may differ where neither is 0, which switches off.
    """
    other = []
    for key in keys:
        here, there = own.get(key), asked.get(key)
        amounts = key.rpartition(".")[2] in AMOUNTS and here and there
        if here != there and not amounts:
            other.append(f"{key} = {_said(there)} (this run: {_said(here)})")
    return other


def _said(value: Any) -> str:
    return "its default" if value is None else json.dumps(value)


def _needs(other: Sequence[str]) -> str:
    return f"it needs a run with {', '.join(other)}"


def _untrained(names: Sequence[str], one: OwnRun, out: Path) -> str:
    """Return the command lines that run untrained weights as a run was run, and judge it beside them."""
    folder = one.run.folder
    config, into, called = (shlex.quote(str(one)) for one in (folder / "config.toml", folder.parent, folder.name))
    seeds = " ".join(map(str, range(SEEDS)))
    runs = f"headscope run {config} --out {into} --set name={called}-$w-$s --set model.source=$w --set seed=$s --fast"
    every = [f"{into}/{called}-{kind}-{seed}" for kind in CONTROLS for seed in range(SEEDS)]
    judge = ["headscope reproduce", *map(shlex.quote, names), *every, "--out", shlex.quote(str(out))]
    return f"for w in {' '.join(CONTROLS)}; do for s in {seeds}; do {runs}; done; done; {' '.join(judge)}"


def _seconds(one: OwnRun) -> float:
    return RUNS * (one.read.record.wall_seconds or 0)
