"""The cells of the study: many simulated runs of one model and size, and what is counted of them."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

from probes.evidence.question import GRADED
from probes.evidence.simulation import GRADES, Pool, SimulatedQuestion, Truth, simulated_runs
from probes.evidence.statistics import MARGIN, VerdictRule
from probes.scoring.tally import Question
from reports.statements.sandbox_record import ANY, FDR, LABEL, RIGHT_NO, WRONG_NO
from reports.tables.estimate import Estimate

ALPHA = 0.05
"The nominal level of all rates of false positives."

NULL = 1e-9
"A true lead that is above or below the margin by no more than this is at the margin."

MARGIN_COVERAGE = "margin"
"The quantity whose intervals are looked at."

Flags = npt.NDArray[np.bool_]

CHUNK = 50
"Runs a task, when cells are worked on side by side."


@dataclass
class RunCounts:
    """Values of every run, a list for each thing that is counted."""

    values: dict[tuple[Any, ...], list[float]] = field(default_factory=lambda: defaultdict(list))

    def add(self, key: tuple[Any, ...], value: float) -> None:
        """Add the value of one run."""
        self.values[key].append(float(value))

    def update(self, other: RunCounts) -> None:
        """Add the values of further runs."""
        for key, values in other.values.items():
            self.values[key].extend(values)

    def rate(self, key: tuple[Any, ...]) -> dict[str, float]:
        """Return the mean over runs with its 95 % Monte-Carlo interval: Wilson's for shares of runs, else normal."""
        values = np.array(self.values[key])
        count, mean = len(values), float(values.mean()) if len(values) else float("nan")
        found = Estimate.share(mean, count)
        if not {*values.tolist()} <= {0.0, 1.0}:
            error = 1.96 * float(values.std(ddof=1)) / count**0.5 if count > 1 else float("nan")
            found = Estimate(mean, mean - error, mean + error).within(0, 1)
        return {"rate": found.value, "low": found.low, "high": found.high}


@dataclass(frozen=True)
class SandboxCell:
    """A model and a size: what is simulated."""

    pool: Pool
    documents: int
    planted: Mapping[str, tuple[Question, int]]
    "Role -> its question, and the column of the head that is planted for it."
    grade: int = 1
    "The grade whose lead was planted."


Truths = Mapping[Question, Truth]
Judged = Mapping[Question, SimulatedQuestion]
Count = Callable[[SandboxCell, Truths, Judged, RunCounts], None]


def simulate(
    cell: SandboxCell, runs: range, rule: VerdictRule, seed: Sequence[int], counts: Sequence[Count]
) -> RunCounts:
    """Simulate these runs of a cell and return what is counted of them."""
    truths = {question: cell.pool.truth(question) for question in cell.pool.heads}
    found = RunCounts()
    for judged in simulated_runs(cell.pool, cell.documents, runs, rule, seed):
        for count in counts:
            count(cell, truths, judged, found)
    return found


def simulate_all(
    cells: Mapping[Any, SandboxCell],
    runs: int,
    rule: VerdictRule,
    seed: Sequence[int],
    counts: Sequence[Count],
    *,
    workers: int,
    progress: Callable[[int, int], None],
) -> dict[Any, RunCounts]:
    """Simulate all cells, several tasks side by side; numbers do not depend on how many."""
    parts = [range(first, min(first + CHUNK, runs)) for first in range(0, runs, CHUNK)]
    tasks = [
        (cell, part, rule, (*seed, number), counts) for number, cell in enumerate(cells.values()) for part in parts
    ]
    names = [name for name in cells for _ in parts]
    found = {name: RunCounts() for name in cells}
    for name, counted in zip(names, side_by_side(simulate, tasks, workers, progress), strict=True):
        found[name].update(counted)
    return found


def side_by_side(
    work: Callable[..., Any], tasks: Sequence[tuple[Any, ...]], workers: int, progress: Callable[[int, int], None]
) -> Iterator[Any]:
    """Yield what `work` makes of every task, in their order, of several at a time; `progress` is told how many."""
    from joblib import Parallel, delayed

    made = Parallel(n_jobs=workers, return_as="generator")(delayed(work)(*task) for task in tasks)
    for done, one in enumerate(made, start=1):
        yield one
        progress(done, len(tasks))


def count_power(cell: SandboxCell, truths: Truths, judged: Judged, counts: RunCounts) -> None:
    """Count how often planted heads have the grade of the cell, and how often intervals hold the true values."""
    for role, (question, head) in cell.planted.items():
        one, truth = judged.get(question), truths[question]
        counts.add(("graded", role), one is not None and one.grade[head] >= cell.grade)
        counts.add(("items", role), 0 if one is None else one.scores["n"])
        if one is None:
            continue
        counts.add(("estimate", role), one.scores["accuracy"][head])
        for name, ends in (("accuracy", "ci"), ("mass", "mass"), ("margin", "margin")):
            true, low, high = getattr(truth, name)[head], one.scores[f"{ends}_low"], one.scores[f"{ends}_high"]
            if name == "margin" or 0 < true < 1:  # at the ends of a share nothing varies
                counts.add((name, role), low[head] <= true <= high[head])


def count_false(cell: SandboxCell, truths: Truths, judged: Judged, counts: RunCounts) -> None:
    """Count what is claimed of heads whose true lead is no more than the margin that is tested, for every grade."""
    nulls = {question: truths[question].leads <= MARGIN + NULL for question in judged}
    for grade in GRADES:
        tested = {question: one for question, one in judged.items() if np.isfinite(one.p_adjusted[grade - 1]).any()}
        labels = [
            bool((one.scores[GRADED[grade - 1]][null] < ALPHA).any())
            for question, one in tested.items()
            if (null := nulls[question][grade - 1]).any()
        ]
        if labels:
            counts.add((f"{LABEL}, grade {grade}",), float(np.mean(labels)))
        _count_finds(tested, nulls, grade, counts)
    singles = [one.scores["p"][nulls[question][0]] < ALPHA for question, one in judged.items()]
    if any(map(len, singles)):
        counts.add(("per head, uncorrected",), np.concatenate(singles).mean())


def _count_finds(tested: Judged, nulls: Mapping[Question, Flags], grade: int, counts: RunCounts) -> None:
    """Count false finds after all corrections, where a run tests the grade at all."""
    if not tested:
        return
    finds = {question: one.grade >= grade for question, one in tested.items()}
    false = {question: bool((found & nulls[question][grade - 1]).any()) for question, found in finds.items()}
    found = sum(bool(heads.any()) for heads in finds.values())
    counts.add((f"{ANY}, grade {grade}",), any(false.values()))
    counts.add((f"{FDR}, grade {grade}",), sum(false.values()) / max(found, 1))


def count_equivalence(cell: SandboxCell, truths: Truths, judged: Judged, counts: RunCounts) -> None:
    """Count how often questions are answered by no: wrongly where some head's true lead reaches the margin."""
    answers: dict[bool, list[bool]] = {True: [], False: []}
    for question, one in judged.items():
        if one.verdict:
            answers[bool((truths[question].margin >= MARGIN - NULL).any())].append(one.verdict == "no")
    for wrong, name in ((True, WRONG_NO), (False, RIGHT_NO)):
        if answers[wrong]:
            counts.add((name,), float(np.mean(answers[wrong])))


def count_coverage(cell: SandboxCell, truths: Truths, judged: Judged, counts: RunCounts) -> None:
    """Count which share of all heads has a margin interval that holds the true value."""
    held = []
    for question, one in judged.items():
        low, high, true = one.scores["margin_low"], one.scores["margin_high"], truths[question].margin
        if np.isfinite(low).any():
            held.append(((low <= true) & (true <= high)).mean())
    if held:
        counts.add((MARGIN_COVERAGE,), float(np.mean(held)))
