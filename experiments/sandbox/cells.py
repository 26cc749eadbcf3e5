"""The cells of the study: many simulated runs of one model and size, and what is counted of them."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from scipy import stats

from probes.evidence.question import Effort
from probes.evidence.simulation import Pool, SimulatedQuestion, Truth, simulated_runs
from probes.evidence.statistics import VerdictRule
from probes.scoring.tally import Question

ALPHA = 0.05
"The nominal level of all rates of false positives."

NULL = 1e-9
"A head whose true margin is no more than this knows nothing beyond the strongest baseline or control."

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
        if not count:
            return {"rate": mean, "low": mean, "high": mean}
        if set(np.unique(values)) <= {0.0, 1.0}:
            bounds = stats.binomtest(int(values.sum()), count).proportion_ci(method="wilson")
            return {"rate": mean, "low": float(bounds.low), "high": float(bounds.high)}
        error = 1.96 * float(values.std(ddof=1)) / count**0.5 if count > 1 else float("nan")
        return {"rate": mean, "low": max(mean - error, 0), "high": min(mean + error, 1)}


@dataclass(frozen=True)
class SandboxCell:
    """A model and a size: what is simulated."""

    pool: Pool
    documents: int
    planted: Mapping[str, tuple[Question, int]]
    "Role -> its question, and the column of the head that is planted for it."


Count = Callable[[SandboxCell, Mapping[Question, Truth], Mapping[Question, SimulatedQuestion], RunCounts], None]


def simulate(
    cell: SandboxCell, runs: range, effort: Effort, rule: VerdictRule, seed: Sequence[int], counts: Sequence[Count]
) -> RunCounts:
    """Simulate these runs of a cell and return what is counted of them."""
    truths = {question: cell.pool.truth(question) for question in cell.pool.heads}
    found = RunCounts()
    for judged in simulated_runs(cell.pool, cell.documents, runs, effort, rule, seed):
        for count in counts:
            count(cell, truths, judged, found)
    return found


def simulate_all(
    cells: Mapping[Any, SandboxCell],
    runs: int,
    effort: Effort,
    rule: VerdictRule,
    seed: Sequence[int],
    counts: Sequence[Count],
    *,
    workers: int,
    progress: Callable[[int, int], None],
) -> dict[Any, RunCounts]:
    """Simulate all cells, several tasks side by side; numbers do not depend on how many."""
    from joblib import Parallel, delayed

    names = list(cells)
    tasks = [(name, range(first, min(first + CHUNK, runs))) for name in names for first in range(0, runs, CHUNK)]
    parallel = Parallel(n_jobs=workers, return_as="generator")
    work: Iterable[RunCounts] = parallel(
        delayed(simulate)(cells[name], part, effort, rule, (*seed, names.index(name)), counts) for name, part in tasks
    )
    found = {name: RunCounts() for name in names}
    for done, ((name, _), counted) in enumerate(zip(tasks, work, strict=True), start=1):
        found[name].update(counted)
        progress(done, len(tasks))
    return found


def count_power(
    cell: SandboxCell, truths: Mapping[Question, Truth], judged: Mapping[Question, SimulatedQuestion], counts: RunCounts
) -> None:
    """Count how often planted heads are called specialised, and how often intervals hold the true values."""
    for role, (question, head) in cell.planted.items():
        one, truth = judged.get(question), truths[question]
        counts.add(("specialised", role), one is not None and one.specialised[head])
        counts.add(("significant", role), one is not None and one.p_adjusted[head] < ALPHA)
        counts.add(("items", role), 0 if one is None else one.evidence.n)
        if one is None:
            continue
        evidence = one.evidence
        counts.add(("estimate", role), evidence.accuracy[head])
        for name, interval, true in (
            ("accuracy", evidence.accuracy_interval, truth.accuracy),
            ("mass", evidence.mass_interval, truth.mass),
            ("margin", evidence.margin_interval, truth.margin),
        ):
            if name == "margin" or 0 < true[head] < 1:  # at the ends of a share nothing varies
                counts.add((name, role), interval[0, head] <= true[head] <= interval[1, head])


def count_false(
    cell: SandboxCell, truths: Mapping[Question, Truth], judged: Mapping[Question, SimulatedQuestion], counts: RunCounts
) -> None:
    """Count what is claimed of heads that know nothing beyond the strongest baseline or control."""
    singles, labels, false_labels, found_labels, false_heads, found_heads, specialised = [], [], 0, 0, 0, 0, 0
    for question, one in judged.items():
        null = truths[question].margin <= NULL
        found = one.p_adjusted < ALPHA
        if null.any():
            singles.append(one.evidence.p[null] < ALPHA)
            labels.append(bool((one.evidence.p_label[null] < ALPHA).any()))
        false_labels += bool(found[null].any())
        found_labels += bool(found.any())
        false_heads += int(found[null].sum())
        found_heads += int(found.sum())
        specialised += int(one.specialised[null].sum())
    if singles:
        counts.add(("per head, uncorrected",), np.concatenate(singles).mean())
        counts.add(("family-wise within a label",), float(np.mean(labels)))
    counts.add(("any false find in a run",), false_labels > 0)
    counts.add(("labels with a false find, of labels with a find",), false_labels / max(found_labels, 1))
    counts.add(("false heads, of heads found",), false_heads / max(found_heads, 1))
    counts.add(("any head falsely called specialised in a run",), specialised > 0)
