"""The trained classifiers and parsers of a run: what can be told from its heads, one by one and together."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import pandas as pd

from experiments.config import Config
from experiments.controls import first_seed
from experiments.journal import Journal
from experiments.progress import Progress
from experiments.sections import ARC
from mha import Model, load_model
from probes.aligned import Dropped
from probes.corpora import Texts
from probes.layer_profile import layer_table
from probes.parsing import parser_table
from probes.probing import Probing, head_table
from probes.probing_tasks import ProbingTask
from probes.results import SPLITS
from probes.scoring import Settings

BOTH = {"baseline_accuracy": "control_accuracy", "margin": "selectivity"}
BOTH |= {f"margin_{end}": f"selectivity_{end}" for end in ("low", "high")}
"What the baseline of the scores and the margin over it are called where the baseline is a control task."


@dataclass(frozen=True)
class Classifying:
    """What a run asks classifiers and parsers of its model."""

    config: Config
    "With the model's folder in the place of what it came from, as of `experiments.opened.Opened`."
    model: Model
    texts: Callable[[str], Sequence[Texts]]
    "Returns both splits in texts of a scope."
    journal: Journal
    progress: Progress

    def tables(self, trained: Sequence[pd.DataFrame]) -> dict[str, pd.DataFrame]:
        """Return the tables of `reports.classifier_tables` without the columns of the run.

        `trained` are the frames of `fit_classifiers`, of which those on arcs are told where they were coded.
        """
        section = self.config.classifiers
        frames = {"classifiers": [arc_rows(frame) for frame in trained] if ARC in section.tasks else [], "layers": []}
        for scope in ("sentence", "window"):
            tasks = [task for task in section.asked if task.scope == scope]
            if tasks:
                heads, layers = self._probe(scope, tasks)
                frames["classifiers"].append(heads)
                frames["layers"].append(layers)
        kept = {name: [one for one in some if len(one)] for name, some in frames.items()}
        found = {name: pd.concat(some, ignore_index=True) for name, some in kept.items() if some}
        return found | ({"parser": self._parse()} if section.parser else {})

    def _random(self) -> Model:
        return load_model(self.config.model.name, "random", first_seed(self.config, self.model, "random"))

    @property
    def _settings(self) -> Settings:
        return Settings(self.config.scoring.batch_pieces, self.config.scoring.reduce)

    def _probe(self, scope: str, tasks: Sequence[ProbingTask]) -> tuple[pd.DataFrame, pd.DataFrame]:
        """Return the rows of heads and those of layers of the tasks of one scope."""
        section, seed, replicates = self.config.classifiers, self.config.seed, self.config.scoring.replicates
        workers = section.workers or os.cpu_count() or 1
        with self.journal.stage("classifiers: read"):
            texts = self.texts(scope)
            probing = Probing.of(self.model, texts, tasks, self._settings, most=section.examples, seed=seed)
        self._note(probing, tasks, scope)
        fits = len(probing.posed) * self.model.layers * self.model.heads
        with self.journal.stage("classifiers: heads"):
            words = probing.judge_embeddings(workers)
            heads = probing.judge_heads(workers, self._counter(f"classifiers of heads ({scope}s)", fits))
        rivals = None
        if section.random:
            with self.journal.stage("classifiers: random weights"):
                step = self._counter(f"classifiers of random heads ({scope}s)", fits)
                rivals = probing.reread(self._random()).judge_heads(workers, step, coded=False)
        found = head_table(probing, heads, words, rivals, model=self.model, replicates=replicates, seed=seed)
        layers = pd.DataFrame()
        if section.layers:
            with self.journal.stage("classifiers: layers"):
                step = self._counter(f"classifiers of layers ({scope}s)", len(probing.posed))
                layers = layer_table(probing, self.model, workers=workers, replicates=replicates, seed=seed, step=step)
        return found.rename(columns=BOTH), layers.rename(columns=BOTH)

    def _parse(self) -> pd.DataFrame:
        section = self.config.classifiers
        with self.journal.stage("parsers"):
            found, aligned = parser_table(
                self.model,
                self._random() if section.random else None,
                self.texts("sentence"),
                self._settings,
                sentences=section.sentences,
                replicates=self.config.scoring.replicates,
                seed=self.config.seed,
                step=self._counter("parsers", 6 if section.random else 4),
            )
        self._note_dropped([one.dropped for one in aligned], "sentence", "parsers")
        if found.empty:
            self.journal.record["notes"].append("parsers: a split has no sentence with a tree")
        return found

    def _note(self, probing: Probing, tasks: Sequence[ProbingTask], scope: str) -> None:
        """Note how many examples each task had, of how many, and which tasks could not be asked."""
        noted = self.journal.record.setdefault("classifiers", {})
        for one in probing.posed:
            sizes = (len(one.select.clusters), len(one.report.clusters))
            noted[one.task.name] = {
                split: {"examples": size, "available": available}
                for split, size, available in zip(SPLITS, sizes, one.available, strict=True)
            }
        for task in tasks:
            if task.name not in noted:
                self.journal.record["notes"].append(
                    f"classifiers: the corpora have too few examples of {task.name}, it needs {task.needs}"
                )
        self._note_dropped(probing.dropped, scope, "classifiers")

    def _note_dropped(self, both: Sequence[Dropped], scope: str, what: str) -> None:
        for split, dropped in zip(SPLITS, both, strict=True):
            for reason, count in dropped.counts.items():
                told = {"split": split, "scope": scope, "reason": f"{what}: {reason}", "count": count}
                self.journal.record["dropped"].append(told | {"examples": dropped.examples[reason]})

    def _counter(self, what: str, of: int) -> Callable[..., None]:
        done = 0

        def step(*_: object) -> None:
            nonlocal done
            done += 1
            self.progress(what, done, of)

        return step


def arc_rows(trained: pd.DataFrame) -> pd.DataFrame:
    """Return what `fit_classifiers` says of the report split, as rows of classifiers.parquet."""
    if trained.empty:
        return trained
    rows = trained[(trained["split"] == "report") & (trained["n"] > 0)].rename(columns=BOTH)
    n_select = trained[trained["split"] == "select"].set_index(["label", "variant", "name"])["n"]
    places = pd.MultiIndex.from_frame(rows[["label", "variant", "name"]])
    rows = rows.assign(task=ARC + ": " + rows["variant"], classes=2, n_select=n_select.loc[places].to_numpy())
    missing = ("embedding_accuracy", "embedding_selectivity", "random_accuracy", "random_selectivity")
    return rows.assign(majority=0.5, control_majority=0.5, **dict.fromkeys(missing, float("nan")))
