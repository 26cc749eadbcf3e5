"""The trained classifiers of a run: what can be told from its heads one by one, and from whole layers."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, Self

import pandas as pd
from pydantic import Field, model_validator

from experiments.config.config import Config, StudySection
from experiments.run.context import SCOPES, RunContext
from experiments.studies.study import ReadOfStudy, Result, Study
from probes.evidence.results import SPLITS
from probes.trained.code_draws import code_draws
from probes.trained.layer_profile import layer_table
from probes.trained.pair_leads import FEATURES, PairProbing, pair_table
from probes.trained.probing import Probing, head_table
from probes.trained.tasks import PAIR_TASKS, TASKS, ProbingTask, get_task
from reports.run.study_facts import TaskExamples
from reports.studies.classifiers.tables import CLASSIFIER_TABLES

ALL, ARC = "all", "arc"
"What stands among the names of tasks for all of them, and for the trained probes on pairs of words."

PAIRS: Final = "pairs"
"The table of the tasks about pairs."

NAMES: Final = {"baseline_accuracy": "control_accuracy", "margin": "selectivity"} | {
    f"margin_{end}": f"selectivity_{end}" for end in ("low", "high")
}
"What the baseline of the scores and the margin over it are called where the baseline is a control task."


class ClassifiersSection(StudySection):
    """What classifiers are trained to tell from the heads, beside control tasks; nothing where nothing is said."""

    table = "classifiers"
    tasks: tuple[str, ...] = ()
    """Tasks of `probes.trained.tasks` that a classifier of every head learns; "arc" codes those of probes.trained too,
    and "all" stands for all tasks but that."""
    pairs: bool = False
    "Whether single heads are tested against the embedding on pairs of words: agreement, coreference, position."
    examples: int = Field(default=2000, ge=20)
    "Examples a task and split at the most."
    random: bool = True
    "Whether classifiers and parsers are also trained on the heads of a model with fresh weights."
    layers: bool = True
    "Whether the tasks are also learned from whole layers, to say which layer solves what."
    codes: int = Field(default=0, ge=0)
    "How often other examples are coded, in another order and beside another control task, to say what is chance."
    coded: tuple[str, ...] = ()
    "Those of the tasks about words that are coded anew; all of them where none is named."
    parser: bool = False
    "Whether parsers are trained on the attention of all heads at once."
    sentences: int = Field(default=500, ge=1)
    "Sentences a split that a parser is shown at the most."
    workers: int = Field(default=0, ge=0)
    "Processes that train side by side, 0 for as many as there are cores; no number depends on it."

    @model_validator(mode="after")
    def _known(self) -> Self:
        for name in self.tasks:
            if name not in (ALL, ARC):
                get_task(name)
            if self.tasks.count(name) > 1:
                raise ValueError(f"task {name!r} is named twice")
        known = [task.name for task in self.of_words]
        if known and (other := sorted({*self.coded}.difference(known))):
            raise ValueError(f"coded has {other[0]!r}, which is not among the tasks about words: {', '.join(known)}")
        return self

    @property
    def of_words(self) -> tuple[ProbingTask, ...]:
        """The tasks that are learned from what heads give to words."""
        return tuple(task for name, task in TASKS.items() if name in self.tasks or ALL in self.tasks)

    def check(self, config: Config) -> None:
        """Refuse to code trained probes that are not trained."""
        if ARC in self.tasks and not config.probes.trained:
            raise ValueError('task "arc" of classifiers.tasks codes the trained probes: it needs probes.trained = true')


@dataclass(frozen=True)
class ClassifierStudy(Study[ClassifiersSection]):
    """What classifiers are trained to tell from a model's heads, beside control tasks."""

    name = "classifiers"
    reads = ClassifiersSection

    @classmethod
    def open(cls, run: RunContext, section: ClassifiersSection) -> Self | None:
        """Return the study where its section names tasks, or wants pairs."""
        return cls(run, section) if section.tasks or section.pairs else None

    @property
    def codelength(self) -> bool:
        """Whether it takes the codelengths of trained probes on pairs of words."""
        return ARC in self.section.tasks

    def measure(self, read: ReadOfStudy) -> Result:
        """Return the tables of heads and of layers."""
        arcs = [arc_rows(frame) for part in read.parts for frame in part.trained] if self.codelength else []
        found: dict[str, list[pd.DataFrame]] = {"classifiers": arcs, "codes": [], "layers": [], PAIRS: []}
        for scope in SCOPES:
            tasks = [task for task in self.section.of_words if task.scope == scope]
            if tasks:
                for name, rows in zip(("classifiers", "codes", "layers"), self._probe(scope, tasks), strict=True):
                    found[name].append(rows)
            if self.section.pairs and (tasks := [task for task in PAIR_TASKS if task.scope == scope]):
                found[PAIRS].append(self._pairs(scope, tasks))
        kept = {name: [rows for rows in some if len(rows)] for name, some in found.items()}
        return Result({name: pd.concat(some, ignore_index=True) for name, some in kept.items() if some})

    def _probe(self, scope: str, tasks: Sequence[ProbingTask]) -> tuple[pd.DataFrame, pd.DataFrame, pd.DataFrame]:
        """Return the rows of heads, those of codes and those of layers of the tasks of one scope."""
        run, section = self.run, self.section
        workers, seed, effort = self._workers, run.config.seed, self._effort
        with run.journal.stage("classifiers: read"):
            probing = Probing.of(run.model, run.texts(scope), tasks, run.settings, most=section.examples, seed=seed)
        self._note(probing, tasks, scope)
        fits = len(probing.posed) * run.model.layers * run.model.heads
        with run.journal.stage("classifiers: heads"):
            words = probing.judge_embeddings(workers)
            heads = probing.judge_heads(workers, run.counter(f"classifiers of heads ({scope}s)", fits))
        codes = self._codes(probing, scope)
        baselines, layers = None, pd.DataFrame()
        if section.random:
            with run.journal.stage("classifiers: random weights"):
                step = run.counter(f"classifiers of random heads ({scope}s)", fits)
                baselines = probing.reread(run.random_model()).judge_heads(workers, step, coded=False)
        if section.layers:
            with run.journal.stage("classifiers: layers"):
                step = run.counter(f"classifiers of layers ({scope}s)", len(probing.posed))
                layers = layer_table(probing, run.model, workers=workers, step=step, **effort)
        found = head_table(probing, heads, words, baselines, model=run.model, **effort)
        return found.rename(columns=NAMES), codes, layers.rename(columns=NAMES)

    def _pairs(self, scope: str, tasks: Sequence[ProbingTask]) -> pd.DataFrame:
        """Return the rows of pairs of the tasks of one scope."""
        run, most = self.run, self.section.examples
        with run.journal.stage("classifiers: read pairs"):
            words = Probing.of(run.model, run.texts(scope), tasks, run.settings, most=most, seed=run.config.seed)
            probing = PairProbing.of(words, run.model)
        self._note(words, tasks, scope)
        kinds = run.model.layers * run.model.heads + 2  # all heads together, and the embedding
        fits = len(FEATURES) * len(words.posed) * kinds
        with run.journal.stage("classifiers: pairs"):
            scores = probing.judge(self._workers, run.counter(f"classifiers of pairs ({scope}s)", fits))
        fresh = None
        if self.section.random:
            with run.journal.stage("classifiers: pairs, random weights"):
                other = run.random_model()
                step = run.counter(f"classifiers of random pairs ({scope}s)", fits)
                fresh = PairProbing.of(words.reread(other), other).judge(self._workers, step, coded=False)
        return pair_table(probing, scores, fresh, model=run.model, **self._effort).rename(columns=NAMES)

    @property
    def _workers(self) -> int:
        return self.section.workers or os.cpu_count() or 1

    @property
    def _effort(self) -> dict[str, int]:
        return {"replicates": self.run.config.scoring.replicates, "seed": self.run.config.seed}

    def _codes(self, probing: Probing, scope: str) -> pd.DataFrame:
        """Return the codes of tasks, drawn anew; nothing where none were asked for."""
        run, section = self.run, self.section
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
                workers=self._workers,
                step=run.counter(f"codes of heads ({scope}s)", every),
            )

    def _note(self, probing: Probing, tasks: Sequence[ProbingTask], scope: str) -> None:
        """Note how many examples each task had, of how many, and which tasks could not be asked."""
        noted = self.run.journal.classifiers or {}
        for one in probing.posed:
            sizes = (len(one.select.clusters), len(one.report.clusters))
            noted[one.task.name] = {
                split: TaskExamples(size, available)
                for split, size, available in zip(SPLITS, sizes, one.available, strict=True)
            }
        self.run.journal.classifiers = noted
        for task in tasks:
            if task.name not in noted:
                self.run.note(f"classifiers: the corpora have too few examples of {task.name}, it needs {task.needs}")
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
    missing += ["embedding_lead", "embedding_lead_low", "embedding_lead_high", "embedding_p"]
    rows = rows.assign(majority=0.5, control_majority=0.5, **dict.fromkeys(missing, float("nan")))
    rows = rows.rename(columns=NAMES)
    return rows[[column for column in CLASSIFIER_TABLES["classifiers"].names if column in rows]]
