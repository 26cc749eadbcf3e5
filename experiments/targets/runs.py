"""The runs of a page of targets: opened, named, and grouped by the model that they read."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import pandas as pd

from experiments.compare.compare import shortened
from experiments.record.progress import Progress, silent
from reports import Run
from reports.progress import each
from reports.scores.best_heads import page_scores
from reports.targets.target import TARGETS

UNTRAINED = ("random", "permuted")
"Sources of models that have the hash of the weights that they were made from."


class TargetsError(ValueError):
    """Runs that no page of targets can be made from."""


@dataclass(frozen=True)
class NamedRun:
    """One run, as the page names it."""

    title: str
    model: str
    "Runs of the same weights have the same."
    run: Run
    scores: pd.DataFrame
    "The rows that one page can show."
    notes: tuple[str, ...]

    @property
    def asks(self) -> bool:
        """Whether it asked for any of the targets."""
        return not self.scores.empty and bool(set(self.scores["probe"]) & {p for one in TARGETS for p in one.probes})

    @property
    def measures(self) -> bool:
        """Whether it took heads away one by one."""
        return "ablations" in self.run.tables


def open_runs(names: Sequence[str], progress: Progress = silent) -> list[NamedRun]:
    """Open run folders in the order in which they are given.

    Raises TargetsError for what is no run folder, was made before grades, is given twice, or where none asked for any
    of the targets.
    """
    folders = [Path(name) for name in names]
    if twice := [str(folder) for folder, count in Counter(map(Path.resolve, folders)).items() if count > 1]:
        raise TargetsError(f"{twice[0]} is given twice")
    runs = [_opened(folder) for folder in each("runs opened", folders, progress)]
    models = model_titles(runs)
    opened = []
    for title, run in zip(shortened(names), runs, strict=True):
        scores, left_out = page_scores(run.scores)
        notes = tuple(f"{title}: {said}" for said in left_out)
        opened.append(NamedRun(title, models[same_weights(run)], run, scores, notes))
    if not any(one.asks for one in opened):
        probes = ", ".join(probe for target in TARGETS for probe in target.probes)
        raise TargetsError(f"no run scored a target: [probes] names of its config takes one of {probes}")
    return opened


def _opened(folder: Path) -> Run:
    try:
        return Run.open(folder)
    except ValueError as error:
        raise TargetsError(str(error)) from error


def same_weights(run: Run) -> tuple[str, ...]:
    """Return what runs of the same weights have in common: the hash, and for untrained weights how they were drawn.

    Where a record has no hash it is the name of the model.
    """
    model = run.record.model
    drawn = (model.source or "", str(run.record.seed)) if model.source in UNTRAINED else ()
    return (model.sha256 or f"called {model.name or run.name}", *drawn)


def model_titles(runs: Sequence[Run]) -> dict[tuple[str, ...], str]:
    """Return a name for the model of every group of runs: that of the first, and more where several share it."""
    first: dict[tuple[str, ...], Run] = {}
    for run in runs:
        first.setdefault(same_weights(run), run)
    titles = {weights: _model_title(run) for weights, run in first.items()}
    shared = {title for title, count in Counter(titles.values()).items() if count > 1}
    return {
        weights: f"{title} of {first[weights].name}" if title in shared else title for weights, title in titles.items()
    }


def _model_title(run: Run) -> str:
    model = run.record.model
    name = model.name or run.name
    return f"{name} ({model.source} weights)" if model.source in UNTRAINED else name
