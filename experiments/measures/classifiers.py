"""What classifiers can be trained to predict from heads one by one, and from whole layers, beside control tasks."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final, Self

import numpy as np
import pandas as pd
from pydantic import Field, model_validator

from experiments.run.measure import Frames, Measure, Read, tables_of
from reports.blocks.block import Block, Fold, Paragraph, TableBlock, Terms
from reports.formats import MISSING, count, percent, signed
from reports.measures.reported import Method
from reports.run.folder import RunFolder
from reports.tables.cells import Cell, TextColumn, columns_of
from reports.tables.classifiers import CLASSIFIERS, CODES, COMPONENTS, LAYERS
from reports.tables.column import Column
from reports.tables.marks import FEW_CLUSTERS, few_clusters
from reports.tables.shared_columns import LEVEL, SPLITS
from reports.tables.text_table import TextTable

if TYPE_CHECKING:
    from experiments.config.config import Config
    from experiments.run.context import RunContext
    from probes.trained.probing import Probing
    from probes.trained.tasks import ProbingTask

ALL, ARC = "all", "arc"
"What stands among the names of tasks for all of them, and for the trained probes on pairs of words."

MOST: Final = 15
"Rows of the longest table that a page does not fold."

NAMES: Final = {"baseline_accuracy": "control_accuracy", "margin": "selectivity"} | {
    f"margin_{end}": f"selectivity_{end}" for end in ("low", "high")
}
"What the baseline of the scores and the margin over it are called where the baseline is a control task."

TERMS: Final = {
    "accuracy": "Share of the examples of the report split that a classifier predicts correctly: a logistic "
    "regression, fitted on the selection split, on the output of one head at a word (the mean over its word pieces, "
    "before W_O), or to each of two words and their product. The head shown is that with the shortest code.",
    "control, selectivity": "The same with labels drawn at random, one for each word form, as often as the labels "
    "occur: only memorisation can solve it. Selectivity is accuracy minus control (Hewitt and Liang 2019). For pairs "
    "of words it is the first word’s form that decides; for arcs each word form has a random distance at which its "
    "answer lies. A label drawn for a frequent word is frequent, so the majority of the control can be above that of "
    "the task, and selectivity below 0.",
    "compression": "How many times shorter the labels of the selection split become when they are sent block by block, "
    "each coded with what a classifier learned from the blocks before (online code, Voita and Titov 2020); 1 is no "
    "gain. Blocks end between documents.",
    "majority, embedding, random weights": "Not from heads: the most frequent label, and that of the control task; a "
    "classifier on the word’s own embedding, without context. Random weights: the head of a model with randomly "
    "initialised weights that is best on the report split, which favours it. Brackets hold their selectivity.",
    "lead over the embedding, p": "Accuracy of the selected head minus that of a classifier on the embeddings, on the "
    "same examples of the report split: a paired test by documents, with p corrected for all heads (Holm 1979).",
    "expected layer": "At which layer a task is solved, on average: classifiers are given layers 0 (the embedding) "
    f"to l, each reduced to {COMPONENTS} principal components, and the gains by l are averaged with l as their place "
    "(Tenney et al. 2019). A layer that loses counts against it, so where gains are small the number is uncertain; "
    "no interval where not every resample gains anything.",
}


class ClassifiersMeasure(Measure):
    """What classifiers are trained to tell from the heads, beside control tasks; nothing where nothing is said."""

    name = "classifiers"
    title = "Trained classifiers of heads"
    place = 80
    switch = "tasks"
    more_switches = ("parser", "pairs")
    tables = {"classifiers": CLASSIFIERS, "codes": CODES, "layers": LAYERS}
    methods = (
        Method(
            "For the tasks {tasks}, classifiers were trained on the output of every head at words, on {examples} "
            "examples a task and split at the most, beside control tasks (Hewitt and Liang 2019) and with minimum "
            "description length (Voita and Titov 2020); on heads of a model with randomly initialised weights: "
            "{random}.",
            title="Classifiers",
        ),
        Method(
            "Labels of the selection split (tasks: {coded}) were coded {codes} times more, each time of other "
            "examples, in another order of documents and beside another control task, to estimate what part of a "
            "compression is chance.",
            title="Codes, drawn again",
            tables=("codes",),
        ),
    )

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
        from probes.trained.tasks import get_task

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
        from probes.trained.tasks import TASKS

        return tuple(task for name, task in TASKS.items() if name in self.tasks or ALL in self.tasks)

    @property
    def processes(self) -> int:
        """Processes that train side by side."""
        return self.workers or os.cpu_count() or 1

    @property
    def codelength(self) -> bool:
        """Whether it takes the codelengths of trained probes on pairs of words."""
        return ARC in self.tasks

    def check(self, config: Config) -> None:
        """Refuse to code trained probes that are not trained."""
        if self.codelength and not config.probes.trained:
            raise ValueError('task "arc" of classifiers.tasks codes the trained probes: it needs probes.trained = true')

    def measure(self, run: RunContext, read: Read) -> Frames:
        """Return the tables of heads, of codes and of layers."""
        from experiments.run.context import SCOPES

        arcs = [_arc_rows(frame) for part in read.parts for frame in part.trained] if self.codelength else []
        found: dict[str, list[pd.DataFrame]] = {"classifiers": arcs, "codes": [], "layers": []}
        for scope in SCOPES:
            if tasks := [task for task in self.of_words if task.scope == scope]:
                for name, rows in self._probe(run, scope, tasks).items():
                    found[name].append(rows.rename(columns=NAMES))
        return tables_of(**found)

    def _probe(self, run: RunContext, scope: str, tasks: Sequence[ProbingTask]) -> dict[str, pd.DataFrame]:
        """Return the rows of heads, those of codes and those of layers of the tasks of one scope."""
        from probes.trained.layer_profile import layer_table
        from probes.trained.probing import Probing, head_table

        effort = {"replicates": run.config.scoring.replicates, "seed": run.config.seed}
        with run.journal.stage("classifiers: read"):
            texts, seed = run.texts(scope), run.config.seed
            probing = Probing.of(run.model, texts, tasks, run.settings, most=self.examples, seed=seed)
        note_examples(run, probing, tasks, scope)
        fits, found = len(probing.posed) * run.model.layers * run.model.heads, {}
        with run.journal.stage("classifiers: heads"):
            words = probing.judge_embeddings(self.processes)
            step = run.counter(f"classifiers of heads ({scope}s)", fits)
            heads = probing.judge_heads(self.processes, step)
        found["codes"] = self._codes(run, probing, scope)
        baselines = None
        if self.random:
            with run.journal.stage("classifiers: random weights"):
                step = run.counter(f"classifiers of random heads ({scope}s)", fits)
                baselines = probing.reread(run.random_model()).judge_heads(self.processes, step, coded=False)
        if self.layers:
            with run.journal.stage("classifiers: layers"):
                step = run.counter(f"classifiers of layers ({scope}s)", len(probing.posed))
                found["layers"] = layer_table(probing, run.model, workers=self.processes, step=step, **effort)
        return {"classifiers": head_table(probing, heads, words, baselines, model=run.model, **effort), **found}

    def _codes(self, run: RunContext, probing: Probing, scope: str) -> pd.DataFrame:
        """Return the codes of tasks, drawn anew; nothing where none were asked for."""
        from probes.trained.code_draws import code_draws

        tasks = [one.task for one in probing.posed if not self.coded or one.task.name in self.coded]
        if not tasks or not self.codes:
            return pd.DataFrame()
        every = self.codes * len(tasks) * run.model.layers * run.model.heads
        with run.journal.stage("classifiers: codes"):
            return code_draws(
                run.model,
                probing.aligned[0],
                tasks,
                run.settings,
                most=self.examples,
                draws=self.codes,
                seed=run.config.seed,
                workers=self.processes,
                step=run.counter(f"codes of heads ({scope}s)", every),
            )

    @classmethod
    def page(cls, run: RunFolder) -> Iterator[Block]:
        """Yield the best head of every task beside its controls, arcs, and what each layer adds."""
        heads, _, layers = (run.tables.get(name, pd.DataFrame()) for name in cls.tables)
        best = heads[heads["selected"]].to_dict("records")
        arcs = [row for row in best if str(row["task"]).startswith(f"{ARC}: ")]
        best = [row for row in best if row not in arcs]
        arcs.sort(key=lambda row: -float(row["selectivity_low"]))
        yield Paragraph(
            f"{' '.join([*_counted(best, 'tasks'), *_counted(arcs, 'kinds of arcs')])} That a classifier can read "
            "something from a head does not mean that the model uses it. Numbers are percent of the report split, "
            f"compression aside. ⚠ marks fewer than {FEW_CLUSTERS} clusters.".lstrip()
        )
        yield Terms(TERMS.items())
        yield from in_full_or_folded(TextTable.of("Accuracy of the best head for each task", TASKS, best))
        title = "Arcs from a pair’s two attention values, coded online"
        yield from in_full_or_folded(TextTable.of(title, ARCS, arcs))
        if len(layers):
            yield from _layers(layers)


def note_examples(run: RunContext, probing: Probing, tasks: Sequence[ProbingTask], scope: str) -> None:
    """Note how many examples each task had, of how many, and which tasks could not be asked."""
    name = ClassifiersMeasure.name
    noted = dict((run.journal.facts or {}).get(name, {}))
    for one in probing.posed:
        sizes = (len(one.select.clusters), len(one.report.clusters))
        noted[one.task.name] = {
            split: {"examples": size, "available": available}
            for split, size, available in zip(SPLITS, sizes, one.available, strict=True)
        }
    run.fact(name, noted)
    for task in tasks:
        if task.name not in noted:
            run.note(f"classifiers: the corpora have too few examples of {task.name}, it needs {task.needs}")
    for split, dropped in zip(SPLITS, probing.dropped, strict=True):
        run.note_dropped(split, scope, name, dropped)


def in_full_or_folded(table: TextTable) -> Iterator[Block]:
    """Yield a table, folded where it has many rows; nothing of one without rows."""
    if len(table) > MOST:
        yield Fold(f"{table.title}: {len(table)} rows", [TableBlock(table, caption=False)])
    elif len(table):
        yield TableBlock(table)


def _arc_rows(trained: pd.DataFrame) -> pd.DataFrame:
    """Return what `fit_classifiers` says of the report split, as rows of the table of classifiers."""
    if trained.empty:
        return trained
    rows = trained[(trained["split"] == "report") & (trained["n"] > 0)]
    n_select = trained[trained["split"] == "select"].set_index(["label", "variant", "name"])["n"]
    places = pd.MultiIndex.from_frame(rows[["label", "variant", "name"]])
    rows = rows.assign(task=f"{ARC}: " + rows["variant"], classes=2, n_select=n_select.loc[places].to_numpy())
    rows = rows.assign(majority=0.5, control_majority=0.5).rename(columns=NAMES)
    absent = {name: np.nan for name in CLASSIFIERS.names if name.startswith(("embedding_", "random_"))}
    return rows.assign(**absent).filter(CLASSIFIERS.names)


def _counted(rows: Sequence[Mapping[Any, Any]], what: str) -> Iterator[str]:
    """Say in how many tasks the best head is selective, and above what is no head."""
    if rows:
        above = sum(row["selectivity_low"] > 0 for row in rows)
        beaten = [row for row in rows if row["ci_low"] > row["majority"] and row["embedding_p"] < LEVEL]
        yield f"In {above} of {len(rows)} {what} the interval of the best head’s selectivity lies above 0."
        if rows[0]["embedding_accuracy"] == rows[0]["embedding_accuracy"]:
            names = ", ".join(str(row["task"]) for row in beaten) or "no task"
            yield f"A single head is significantly above the word’s embedding and the majority in {names}."


def _layers(layers: pd.DataFrame) -> Iterator[Block]:
    """Yield layers together, with the expected one, and each layer alone; tasks that are solved early first."""
    parts = [(str(task), part.sort_values("layer")) for task, part in layers.groupby("task", sort=False)]
    parts.sort(key=lambda one: float(np.nan_to_num(one[1]["expected_layer"].iloc[0], nan=1e9)))
    numbers = tuple(str(layer) for layer in sorted(layers["layer"].unique()))
    expected, together, alone = LAYERS["expected_layer"].shown_beside(), [], []
    for task, part in parts:
        rows = part.to_dict("records")
        together.append((task, str(expected.write(rows[0])), *(_selective("cumulative", row) for row in rows)))
        alone.append((task, *(_selective("", row) for row in rows)))
    columns = columns_of(("Task", "Expected layer", *numbers))
    yield from in_full_or_folded(TextTable.of("Accuracy with layers 0 to l, selectivity beside it", columns, together))
    columns = columns_of(("Task", *numbers))
    yield from in_full_or_folded(TextTable.of("Accuracy with one layer alone, selectivity beside it", columns, alone))


def _selective(kind: str, row: Mapping[Any, Any]) -> str:
    """Write an accuracy and its selectivity: of layers together, of the embedding, of random weights."""
    selectivity = row[f"{kind}_selectivity" if kind else "selectivity"]
    accuracy = row[kind if kind == "cumulative" else f"{kind}_accuracy" if kind else "accuracy"]
    return MISSING if np.isnan(accuracy) else f"{percent(accuracy)} ({signed(selectivity)})"


def counted(n: Column) -> TextColumn:
    """Return the column of the number of examples, marked where there are few clusters."""
    return n.shown(write=lambda row: Cell(count(row["n"]), sort=int(row["n"]), caution=few_clusters(row["clusters"])))


_CODED: Final = (
    CLASSIFIERS["control_accuracy"].shown("Control"),
    CLASSIFIERS["selectivity"].shown_beside(),
    CLASSIFIERS["compression"].shown(),
    CLASSIFIERS["control_compression"].shown("Control’s compression"),
)

TASKS: Final = (
    CLASSIFIERS["task"].shown(kind="row"),
    CLASSIFIERS["name"].shown("Head"),
    CLASSIFIERS["classes"].shown("Labels"),
    counted(CLASSIFIERS["n"]),
    CLASSIFIERS["accuracy"].shown_beside(),
    *_CODED,
    CLASSIFIERS["majority"].shown(unit=False),
    CLASSIFIERS["control_majority"].shown("Control’s majority"),
    CLASSIFIERS["embedding_accuracy"].shown("Embedding", write=lambda row: _selective("embedding", row)),
    CLASSIFIERS["random_accuracy"].shown("Random weights", write=lambda row: _selective("random", row)),
)

ARCS: Final = (
    CLASSIFIERS["label"].shown(kind="row"),
    CLASSIFIERS["task"].shown("Variant", write=lambda row: str(row["task"]).removeprefix(f"{ARC}: ")),
    CLASSIFIERS["name"].shown("Head"),
    counted(CLASSIFIERS["n"]),
    CLASSIFIERS["accuracy"].shown_beside("Balanced accuracy"),
    *_CODED,
)
