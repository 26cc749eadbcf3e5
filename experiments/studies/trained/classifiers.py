"""The trained classifiers of a run: what can be told from its heads one by one, and from whole layers."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Final, Self

import pandas as pd

from experiments.config.study_sections import ARC
from experiments.studies.scope import Scored
from experiments.studies.study import Study, Surroundings
from probes.evidence.results import SPLITS
from probes.trained.code_draws import code_draws
from probes.trained.layer_profile import layer_table
from probes.trained.probing import Probing, head_table
from probes.trained.tasks import ProbingTask
from reports.studies.classifiers.tables import CLASSIFIER_TABLES

NAMES: Final = {"baseline_accuracy": "control_accuracy", "margin": "selectivity"} | {
    f"margin_{end}": f"selectivity_{end}" for end in ("low", "high")
}
"What the baseline of the scores and the margin over it are called where the baseline is a control task."


@dataclass(frozen=True)
class ClassifierStudy(Study):
    """What classifiers are trained to tell from a model's heads, beside control tasks."""

    name = "classifiers"
    run: Surroundings
    arcs: list[pd.DataFrame] = field(default_factory=list)
    "Scores of trained probes with their codelengths."

    @classmethod
    def asked(cls, run: Surroundings) -> Self | None:
        """Return the study where the config names tasks."""
        return cls(run) if run.config.classifiers.tasks else None

    def scored(self, scored: Scored) -> None:
        """Keep what trained probes say of pairs of words."""
        if ARC in self.run.config.classifiers.tasks:
            self.arcs.extend(arc_rows(frame) for frame in scored.trained)

    def tables(self) -> dict[str, pd.DataFrame]:
        """Return the tables of heads and of layers."""
        found: dict[str, list[pd.DataFrame]] = {"classifiers": list(self.arcs), "codes": [], "layers": []}
        for scope in ("sentence", "window"):
            tasks = [task for task in self.run.config.classifiers.asked if task.scope == scope]
            if tasks:
                for name, rows in zip(found, self._probe(scope, tasks), strict=True):
                    found[name].append(rows)
        kept = {name: [rows for rows in some if len(rows)] for name, some in found.items()}
        return {name: pd.concat(some, ignore_index=True) for name, some in kept.items() if some}

    def _probe(self, scope: str, tasks: Sequence[ProbingTask]) -> tuple[pd.DataFrame, pd.DataFrame, pd.DataFrame]:
        """Return the rows of heads, those of codes and those of layers of the tasks of one scope."""
        run, section = self.run, self.run.config.classifiers
        workers, seed = section.workers or os.cpu_count() or 1, run.config.seed
        effort = {"replicates": run.config.scoring.replicates, "seed": seed}
        with run.journal.stage("classifiers: read"):
            probing = Probing.of(run.model, run.texts(scope), tasks, run.settings, most=section.examples, seed=seed)
        self._note(probing, tasks, scope)
        fits = len(probing.posed) * run.model.layers * run.model.heads
        with run.journal.stage("classifiers: heads"):
            words = probing.judge_embeddings(workers)
            heads = probing.judge_heads(workers, run.counter(f"classifiers of heads ({scope}s)", fits))
        codes = self._codes(probing, scope)
        rivals, layers = None, pd.DataFrame()
        if section.random:
            with run.journal.stage("classifiers: random weights"):
                step = run.counter(f"classifiers of random heads ({scope}s)", fits)
                rivals = probing.reread(run.fresh()).judge_heads(workers, step, coded=False)
        if section.layers:
            with run.journal.stage("classifiers: layers"):
                step = run.counter(f"classifiers of layers ({scope}s)", len(probing.posed))
                layers = layer_table(probing, run.model, workers=workers, step=step, **effort)
        found = head_table(probing, heads, words, rivals, model=run.model, **effort)
        return found.rename(columns=NAMES), codes, layers.rename(columns=NAMES)

    def _codes(self, probing: Probing, scope: str) -> pd.DataFrame:
        """Return the codes of tasks, drawn anew; nothing where none were asked for."""
        run, section = self.run, self.run.config.classifiers
        tasks = [one.task for one in probing.posed if not section.coded or one.task.name in section.coded]
        if not tasks or not section.codes:
            return pd.DataFrame()
        every = section.codes * len(tasks) * run.model.layers * run.model.heads
        with run.journal.stage("classifiers: codes"):
            return code_draws(
                run.model,
                probing.aligned[0],
                tasks,
                run.settings,
                most=section.examples,
                draws=section.codes,
                seed=run.config.seed,
                workers=section.workers or os.cpu_count() or 1,
                step=run.counter(f"codes of heads ({scope}s)", every),
            )

    def _note(self, probing: Probing, tasks: Sequence[ProbingTask], scope: str) -> None:
        """Note how many examples each task had, of how many, and which tasks could not be asked."""
        record = self.run.journal.record
        noted = record.setdefault("classifiers", {})
        for one in probing.posed:
            sizes = (len(one.select.clusters), len(one.report.clusters))
            noted[one.task.name] = {
                split: {"examples": size, "available": available}
                for split, size, available in zip(SPLITS, sizes, one.available, strict=True)
            }
        for task in tasks:
            if task.name not in noted:
                record["notes"].append(
                    f"classifiers: the corpora have too few examples of {task.name}, it needs {task.needs}"
                )
        for split, dropped in zip(SPLITS, probing.dropped, strict=True):
            self.run.note_dropped(split, scope, self.name, dropped)


def arc_rows(trained: pd.DataFrame) -> pd.DataFrame:
    """Return what `fit_classifiers` says of the report split, as rows of the table of classifiers."""
    if trained.empty:
        return trained
    rows = trained[(trained["split"] == "report") & (trained["n"] > 0)]
    n_select = trained[trained["split"] == "select"].set_index(["label", "variant", "name"])["n"]
    places = pd.MultiIndex.from_frame(rows[["label", "variant", "name"]])
    rows = rows.assign(task=ARC + ": " + rows["variant"], classes=2, n_select=n_select.loc[places].to_numpy())
    missing = [f"{kind}_{what}" for kind in ("embedding", "random") for what in ("accuracy", "selectivity")]
    rows = rows.assign(majority=0.5, control_majority=0.5, **dict.fromkeys(missing, float("nan")))
    rows = rows.rename(columns=NAMES)
    return rows[[column for column in CLASSIFIER_TABLES["classifiers"].names if column in rows]]
