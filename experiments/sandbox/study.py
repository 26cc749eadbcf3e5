"""The study behind `headscope sandbox`: power, false positives and coverage, done and written with its page."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from functools import cached_property, partial
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from experiments.record.job import Job, delete_parts
from experiments.record.provenance import Start, machine
from experiments.sandbox.cells import (
    MARGIN_COVERAGE,
    Count,
    RunCounts,
    SandboxCell,
    count_coverage,
    count_equivalence,
    count_false,
    count_power,
    side_by_side,
    simulate_all,
)
from experiments.sandbox.needed import needed_items
from experiments.sandbox.nulls import nulls, real_null
from experiments.sandbox.population import ROLES, Sandbox
from experiments.sandbox.whole_runs import (
    TREEBANKS,
    null_corpora,
    null_runs,
    planted_by_weights,
    real_split,
    whole_run,
)
from probes.evidence.planted import Knows
from probes.evidence.question import Effort
from probes.evidence.simulation import Pool
from probes.evidence.statistics import VerdictRule
from reports.run.replacing import replacing
from reports.statements.sandbox_page import write_sandbox_page
from reports.statements.sandbox_record import SandboxRecord

Progress = Callable[[str, int, int], None]
Report = Callable[[int, int], None]
Make = Callable[[Report], Any]


class StudyError(ValueError):
    """A study that cannot be written where it was told to be."""


@dataclass(frozen=True)
class Scale:
    """How large the study is."""

    runs: int
    "Simulated runs a cell, where false positives are measured in the labels of the sandbox."
    power_runs: int
    "The same, where power is measured, and in the labels of a real run, which are many."
    population: int
    "Documents of the large pass."
    documents: tuple[int, ...]
    "Documents that runs have in either split, where power is measured."
    null_documents: tuple[int, ...]
    "The same, where false positives are measured."
    drawings: int
    "How often gold answers are drawn anew for the null of permuted gold."
    whole_runs: int
    "Runs with nothing taken from the large pass."
    null_runs: int
    "Runs on random, and as many on permuted weights, of every corpus."
    null_sentences: int
    "Sentences of either split of those; of the grammar a tenth as many documents."


FULL = Scale(500, 200, 1000, (10, 25, 50, 100, 200, 400), (25, 100, 400), 5, 50, 20, 400)
QUICK = Scale(10, 10, 100, (25, 100), (50,), 1, 1, 1, 100)
"A few of the runs."

EFFORT = Effort(replicates=2)
"Less than a real run draws: resamples say how stable the best head is, which the study does not ask."

REAL = 5
"Sentences of a real corpus for each of those that models without knowledge read: all of EWT's 2,001, but for one."

CHECKED_MARGIN, CHECKED_DOCUMENTS = 0.15, 100
"The cell in which whole runs are held beside simulated ones."


class SandboxStudy:
    """The parts of the study, which share one large pass."""

    def __init__(self, scale: Scale, rule: VerdictRule, seed: int, workers: int) -> None:
        """Prepare the study; nothing is computed yet."""
        self.scale, self.rule, self.seed, self.workers = scale, rule, seed, workers

    def parts(self) -> Iterator[tuple[str, str, Make]]:
        """Yield every part of the record: the name of what it belongs to, its title, and what makes it."""
        corpora = null_corpora() if self.scale.null_runs else []
        yield "population", "large pass", self.population
        yield "power", "power", self.power
        for size in self.scale.null_documents:
            yield "false", f"false positives, {size} documents", partial(self.false, size)
        for corpus in (corpus for corpus in corpora if corpus in TREEBANKS):
            yield "false", f"false positives, {corpus}", partial(self.false_in_real_runs, corpus)
        yield "weights", "heads planted by weights", self.weights
        yield "whole", "whole runs", self.whole
        for corpus in corpora:
            yield "null_runs", f"models without knowledge, {corpus}", partial(self.null_runs, corpus)

    def record(self, made: Callable[[str, Make], Any]) -> dict[str, Any]:
        """Return the record; `made` is given the title of each part, and what makes it. Rows of one name are joined."""
        record: dict[str, Any] = {"null_runs": []}
        for name, title, make in self.parts():
            found = made(title, make)
            record[name] = record[name] + found if name in record else found
        return record

    @cached_property
    def box(self) -> Sandbox:
        """The model with its planted heads."""
        return Sandbox.build(self.scale.population, self.seed)

    @cached_property
    def pool(self) -> Pool:
        """The counts of the large pass."""
        return self.box.pool()

    @cached_property
    def nulls(self) -> dict[str, Pool]:
        """The null hypotheses by name."""
        return dict(nulls(self.box, self.pool, self.scale.drawings))

    def population(self, progress: Report) -> dict[str, Any]:
        """Return what is true of the planted heads."""
        planted = []
        for place, head in self.box.layout.planted.items():
            role, grade, margin = place
            question = ROLES[role]
            cell = self._cell(grade, margin, self.scale.documents[0])
            truth, column = cell.pool.truth(question), cell.planted[role][1]
            role_of = self.box.layout.roles[head]
            assert isinstance(role_of, Knows)
            planted.append(
                {
                    "role": role,
                    "question": list(question),
                    "grade": grade,
                    "margin": margin,
                    "strength": role_of.strength,
                    "true_accuracy": float(truth.accuracy[column]),
                    "true_margin": float(truth.leads[grade - 1, column]),
                    "items_a_document": float(self.pool.heads[question].n.sum() / self.pool.documents),
                }
            )
        return {
            "documents": self.pool.documents,
            "sentences": self.box.corpus.size()["sentences"],
            "heads": len(self.box.layout.bystanders) + len(ROLES),
            "labels": len(self.pool.heads),
            "planted": planted,
        }

    def power(self, progress: Report) -> list[dict[str, Any]]:
        """Return how often planted heads are found, and how often intervals hold, by role, grade, margin and size."""
        cells = {
            (grade, margin, size): self._cell(grade, margin, size)
            for grade, margin in dict.fromkeys(place[1:] for place in self.box.layout.planted)
            for size in self.scale.documents
        }
        found = self._simulate(cells, self.scale.power_runs, (count_power, count_false), (0,), progress)
        return [
            _power_row(cells[where], role, where[1], counts)
            for where, counts in found.items()
            for role in cells[where].planted
        ]

    def _planted(self, grade: int, margin: float) -> dict[str, int]:
        """Return role -> head for the roles in which a head is planted at that margin."""
        planted = self.box.layout.planted
        return {role: planted[role, grade, margin] for role in ROLES if (role, grade, margin) in planted}

    def _kept(self, grade: int, margin: float) -> list[int]:
        """Return the heads of a run: those of random weights, and those that are planted at that margin."""
        return [*self.box.layout.bystanders, *self._planted(grade, margin).values()]

    def _cell(self, grade: int, margin: float, size: int) -> SandboxCell:
        """Return the runs of one margin; higher grades ask the roles alone, which takes less time."""
        kept = self._kept(grade, margin)
        planted = {role: (ROLES[role], kept.index(head)) for role, head in self._planted(grade, margin).items()}
        pool = self.pool if grade == 1 else self.pool.only([*ROLES.values()])
        return SandboxCell(pool.columns(kept), size, planted, grade)

    def false(self, size: int, progress: Report) -> list[dict[str, Any]]:
        """Return how often runs of `size` documents claim what is not true, under several null hypotheses."""
        return self._false(self.nulls, size, self.scale.runs, progress)

    def false_in_real_runs(self, corpus: str, progress: Report) -> list[dict[str, Any]]:
        """Return the same for the labels of a real corpus and the heads of a real model, all at the margin."""
        pool = real_null(real_split(corpus, REAL * self.scale.null_sentences))
        named = {f"{corpus}, all at the margin": pool}
        return self._false(named, pool.documents, self.scale.power_runs, progress)

    def _false(self, populations: Mapping[str, Pool], size: int, runs: int, progress: Report) -> list[dict[str, Any]]:
        cells = {name: SandboxCell(pool, size, {}) for name, pool in populations.items()}
        counts = (count_false, count_equivalence, count_coverage)
        found = self._simulate(cells, runs, counts, (1, size), progress)
        return [
            {
                "null": name,
                "documents": size,
                "runs": runs,
                "heads": next(iter(cells[name].pool.heads.values())).hits.shape[1],
                "labels": len(cells[name].pool.heads),
                "rates": {name: counts.rate((name,)) for (name,) in counts.values if name != MARGIN_COVERAGE},
                "coverage": {MARGIN_COVERAGE: counts.rate((MARGIN_COVERAGE,))},
            }
            for name, counts in found.items()
        ]

    def weights(self, progress: Report) -> list[dict[str, Any]]:
        """Return what a run finds of heads that are planted by weights."""
        return planted_by_weights(60, self.seed)

    def whole(self, progress: Report) -> list[dict[str, Any]]:
        """Return what whole runs find of planted heads; the same cell is simulated beside them."""
        cell, heads = self._cell(1, CHECKED_MARGIN, CHECKED_DOCUMENTS), self._kept(1, CHECKED_MARGIN)
        seeds = range(10_000 + self.seed, 10_000 + self.seed + 2 * self.scale.whole_runs, 2)
        tasks = [(self.box, heads, CHECKED_DOCUMENTS, seed, EFFORT, self.rule) for seed in seeds]
        frames = [*side_by_side(whole_run, tasks, self.workers, progress)]
        cells = {"simulated": replace(cell, pool=cell.pool.only([*ROLES.values()]))}  # whole runs ask no more
        simulated = self._simulate(cells, self.scale.power_runs, (count_power,), (2,), lambda done, of: None)
        counts = simulated["simulated"]
        rows = pd.concat(frames)
        return [self._whole_row(role, head, rows, counts) for role, (_, head) in cell.planted.items()]

    def _whole_row(self, role: str, head: int, rows: pd.DataFrame, counts: RunCounts) -> dict[str, Any]:
        probe, variant, label = ROLES[role]
        rows = rows[
            (rows.split == "report") & (rows.probe == probe) & (rows.variant == variant) & (rows.label == label)
        ]
        told = rows[rows["head"] == head]
        whole = RunCounts()
        for grade in told.grade:
            whole.add(("graded",), grade > 0)
        simulated = counts.values["estimate", role]
        return {
            "role": role,
            "margin": CHECKED_MARGIN,
            "documents": CHECKED_DOCUMENTS,
            "runs": len(told),
            "graded": whole.rate(("graded",)),
            "accuracy": {"mean": float(told.accuracy.mean()), "sd": float(told.accuracy.std(ddof=0))},
            "simulated": {
                "graded": counts.rate(("graded", role)),
                "accuracy": {"mean": float(np.mean(simulated)), "sd": float(np.std(simulated))},
            },
        }

    def null_runs(self, corpus: str, progress: Report) -> list[dict[str, Any]]:
        """Return what whole runs on a corpus declare on random and on permuted weights."""
        return [*null_runs(corpus, self.scale.null_runs, self.scale.null_sentences, progress)]

    def _simulate(
        self,
        cells: Mapping[Any, SandboxCell],
        runs: int,
        counts: Sequence[Count],
        part: tuple[int, ...],
        progress: Report,
    ) -> dict[Any, RunCounts]:
        seed = (self.seed, *part)
        return simulate_all(cells, runs, self.rule, seed, counts, workers=self.workers, progress=progress)


def _power_row(cell: SandboxCell, role: str, margin: float, counts: RunCounts) -> dict[str, Any]:
    question, head = cell.planted[role]
    truth = cell.pool.truth(question)
    estimates = counts.values["estimate", role]
    return {
        "role": role,
        "grade": cell.grade,
        "margin": margin,
        "true_accuracy": float(truth.accuracy[head]),
        "true_margin": float(truth.leads[cell.grade - 1, head]),
        "documents": cell.documents,
        "items": float(np.mean(counts.values["items", role])),
        "runs": len(counts.values["graded", role]),
        "graded": counts.rate(("graded", role)),
        "coverage": {
            name: counts.rate((name, role)) for name in ("accuracy", "mass", "margin") if (name, role) in counts.values
        },
        "estimate": {"mean": float(np.mean(estimates)), "sd": float(np.std(estimates))},
        "false": {key[0]: counts.rate(key) for key in counts.values if len(key) == 1},
    }


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
    SandboxRecord.of(record, str(folder / "sandbox.json"))
    (folder / "sandbox.json").write_text(json.dumps(record, indent=1) + "\n", encoding="utf-8")
    write_sandbox_page(folder, progress)
