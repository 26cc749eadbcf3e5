"""Probing classifiers: what can be told about words from what one head, one layer or the embedding gives to them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
import pandas as pd
from jaxtyping import Float, Int

from mha.models.model import Model
from mha.parallel import in_processes
from probes.corpora.corpus import Texts
from probes.evidence.results import named_heads
from probes.evidence.statistics import Bootstrap
from probes.records import IntArray
from probes.scoring.aligned import Aligned, Dropped
from probes.scoring.score import Settings
from probes.trained.codelength import LinearClassifier, block_ends, coding_order, compression, online_codelength
from probes.trained.head_vectors import HeadVectors, cells_of
from probes.trained.selectivity import accuracy_beside_control, balanced_control, control_labels, lead_columns
from probes.trained.tasks import PAIR_TASKS, LabelledExample, ProbingTask, Sample, sample_examples

FEWEST = 20
"A task with fewer examples than this on either split, or with one label only, is not asked."

Given = Float[np.ndarray, "_example _slot _feature"]
"What is given to the one word, or to each of the two words, of every example; splits differ in size."

UNSEEN = -1
"Stands for a label that the selection split does not have: no classifier can be right."


@dataclass(frozen=True)
class Labelled:
    """The examples of one task on one split."""

    cells: Int[np.ndarray, "example slot 2"]
    "Text (index among those that the model can read) and word."
    labels: Int[np.ndarray, "2 example"]
    "Of the task and of its control task; UNSEEN where the selection split does not have it."
    clusters: IntArray
    "[example] Block of the document."

    @classmethod
    def of(
        cls,
        examples: Sequence[LabelledExample],
        select: Sequence[LabelledExample],
        texts: Aligned,
        seed: int,
        balanced: bool = False,
    ) -> Labelled:
        """Give examples of `texts` their labels as numbers, in the task and in the control task that `select` makes."""
        draw = balanced_control if balanced else control_labels
        number = {label: i for i, label in enumerate(labels_of(select))}
        gold = [number.get(example.label, UNSEEN) for example in examples]
        control = [number[label] for label in draw(select, examples, seed)]
        block = texts.blocks()
        clusters = np.array([block[texts.names[example.number]] for example in examples], np.int64)
        cells = cells_of([(example.number, example.words) for example in examples])
        return cls(cells, np.array([gold, control], np.int64), clusters)

    def ordered(self, seed: int) -> Labelled:
        """Return the examples in an order of coding."""
        order = coding_order(self.clusters, seed)
        return Labelled(self.cells[order], self.labels[:, order], self.clusters[order])


@dataclass(frozen=True)
class Posed:
    """One task, ready to be learned on `select` and to be judged on `report`."""

    task: ProbingTask
    labels: tuple[str, ...]
    select: Labelled
    "In the order in which labels are coded."
    report: Labelled
    available: tuple[int, int]
    "Examples that each split has, of which these are a sample."

    @property
    def ends(self) -> list[int]:
        """Where the blocks of the online code end."""
        return block_ends(self.select.clusters)

    def majority(self, task: int = 0) -> float:
        """Return the accuracy on `report` of the most frequent label of `select`, in the control task where that is 1.

        The two differ: a label that is drawn for a frequent word is frequent.
        """
        return float((self.report.labels[task] == np.bincount(self.select.labels[task]).argmax()).mean())


@dataclass(frozen=True)
class ClassifierScores:
    """What classifiers on one kind of features achieved."""

    hits: Float[np.ndarray, "2 example"]
    "On `report`: whether each example is told right in the task and in its control task."
    bits: tuple[float, float]
    "Online codelengths of the labels of `select`; NaN where they were not asked for."

    @property
    def means(self) -> tuple[float, float]:
        """Accuracy in the task and in its control task."""
        return float(self.hits[0].mean()), float(self.hits[1].mean())


@dataclass(frozen=True)
class ReadSplits:
    """Both splits as one model reads them."""

    select: HeadVectors
    report: HeadVectors

    def heads(self, posed: Posed) -> Iterator[tuple[Given, Given]]:
        """Yield what each head gives to the examples of a task, on both splits."""
        rows = [part.rows(side.cells) for part, side in self._sides(posed)]
        for head in range(self.select.outputs.shape[1]):
            yield self.select.outputs[:, head][rows[0]], self.report.outputs[:, head][rows[1]]

    def embeddings(self, posed: Posed) -> tuple[Given, Given]:
        """Return the embeddings of the words of a task's examples, on both splits."""
        first, second = (part.embeddings[part.rows(side.cells)] for part, side in self._sides(posed))
        return first, second

    def together(self, posed: Posed) -> tuple[Given, Given]:
        """Return what all heads give to the words of a task's examples, on both splits."""
        first, second = (
            part.outputs.reshape(len(part.outputs), -1)[part.rows(side.cells)] for part, side in self._sides(posed)
        )
        return first, second

    def _sides(self, posed: Posed) -> tuple[tuple[HeadVectors, Labelled], tuple[HeadVectors, Labelled]]:
        return (self.select, posed.select), (self.report, posed.report)


def features(given: Given) -> Float[np.ndarray, "example all_features"]:
    """Return the features of every example: of a word its vector, of a pair both vectors and their product."""
    first = given[:, 0].astype(np.float64)
    if given.shape[1] == 1:
        return first
    return np.concatenate([first, given[:, 1], first * given[:, 1]], axis=1)


def judge(
    select: Given, report: Given, posed: tuple[Labelled, Labelled], classes: int, ends: list[int] | None
) -> ClassifierScores:
    """Fit a classifier of the task, and one of its control task, on `select`; judge them on `report`.

    With `ends` the labels of `select` are coded online as well.
    """
    x, unseen = features(select), features(report)
    hits, bits = np.empty((2, len(report))), [np.nan, np.nan]
    for task in range(2):
        y = posed[0].labels[task]
        told = LinearClassifier.fit(x, y, classes).probabilities(unseen).argmax(1)
        hits[task] = told == posed[1].labels[task]
        if ends is not None:
            bits[task] = online_codelength(x, y, classes, ends)
    return ClassifierScores(hits, (bits[0], bits[1]))


@dataclass(frozen=True)
class Probing:
    """Tasks put to a model, with what it reads: from here every kind of features is judged alike."""

    posed: tuple[Posed, ...]
    read: ReadSplits
    aligned: tuple[Aligned, Aligned]
    settings: Settings

    @classmethod
    def of(
        cls,
        model: Model,
        texts: Sequence[Texts],
        tasks: Sequence[ProbingTask],
        settings: Settings,
        *,
        most: int,
        seed: int,
    ) -> Probing:
        """Draw at most `most` examples a task and split, and read their words in one pass a split.

        `tasks` have one scope, `texts` are those of the selection split and of the report split. What is kept takes
        4 bytes x words x heads x head_dim: 74 MB for 2,000 words of BERT base.
        """
        select, report = (Aligned.of(model, one) for one in texts)
        samples = [sample_examples(aligned, tasks, most=most, seed=seed) for aligned in (select, report)]
        posed = [pose(task, [part[task.name] for part in samples], (select, report), seed) for task in tasks]
        asked = tuple(one for one in posed if one is not None)
        return cls(asked, _read(model, asked, (select, report), settings), (select, report), settings)

    def reread(self, model: Model) -> Probing:
        """Return the same examples as another model of the same tokenizer reads them."""
        return replace(self, read=_read(model, self.posed, self.aligned, self.settings))

    @property
    def dropped(self) -> tuple[Dropped, Dropped]:
        """What each split had to leave out."""
        return self.aligned[0].dropped, self.aligned[1].dropped

    def judge_heads(
        self, workers: int, step: Callable[[], None], *, coded: bool = True
    ) -> Mapping[str, list[ClassifierScores]]:
        """Return what the classifiers of every head achieve, by task; `step` is called after each head and task."""
        return self._judge(self.read.heads, workers, step, coded=coded)

    def judge_embeddings(self, workers: int) -> Mapping[str, list[ClassifierScores]]:
        """Return what classifiers on the words' embeddings achieve, one a task."""
        return self._judge(lambda posed: iter([self.read.embeddings(posed)]), workers, lambda: None, coded=False)

    def _judge(
        self,
        kinds: Callable[[Posed], Iterator[tuple[Given, Given]]],
        workers: int,
        step: Callable[[], None],
        *,
        coded: bool,
    ) -> Mapping[str, list[ClassifierScores]]:
        """Judge every kind of features that `kinds` yields for a task; they are made as they are needed."""
        found: dict[str, list[ClassifierScores]] = {}
        for one in self.posed:
            sides, ends = (one.select, one.report), one.ends if coded else None
            calls = ((*given, sides, len(one.labels), ends) for given in kinds(one))
            found[one.task.name] = []
            for judged in in_processes(judge, calls, workers):
                found[one.task.name].append(judged)
                step()
        return found


def pose(task: ProbingTask, samples: Sequence[Sample], aligned: tuple[Aligned, Aligned], seed: int) -> Posed | None:
    """Return a task's examples with the labels of both tasks as numbers; None where there are too few to ask."""
    select, report = (sample.examples for sample in samples)
    labels = labels_of(select)
    if min(len(select), len(report)) < FEWEST or len(labels) < 2:
        return None
    first, second = (
        Labelled.of(one, select, texts, seed, task in PAIR_TASKS)
        for one, texts in zip((select, report), aligned, strict=True)
    )
    return Posed(task, labels, first.ordered(seed), second, (samples[0].available, samples[1].available))


def labels_of(select: Sequence[LabelledExample]) -> tuple[str, ...]:
    """Return the labels of the selection split's examples: a label's number is its place here."""
    return tuple(sorted({example.label for example in select}))


def _read(model: Model, posed: Sequence[Posed], aligned: tuple[Aligned, Aligned], settings: Settings) -> ReadSplits:
    parts = []
    for texts, sides in zip(aligned, ([one.select for one in posed], [one.report for one in posed]), strict=True):
        cells = [side.cells.reshape(-1, 2) for side in sides]
        asked = np.concatenate(cells) if cells else np.empty((0, 2), np.int64)
        parts.append(HeadVectors.of(model, texts, asked, settings))
    return ReadSplits(*parts)


def head_table(
    probing: Probing,
    heads: Mapping[str, Sequence[ClassifierScores]],
    embeddings: Mapping[str, Sequence[ClassifierScores]],
    untrained: Mapping[str, Sequence[ClassifierScores]] | None,
    *,
    model: Model,
    replicates: int,
    seed: int,
) -> pd.DataFrame:
    """Return a row a task and head, in the columns of classifiers.parquet without those of the run.

    The chosen head of a task is that of the shortest code on the selection split, its accuracy is that on the report
    split. `untrained` are the heads of a model with random weights, of which the best on the report split is told.
    """
    frames = []
    for one in probing.posed:
        name, n = one.task.name, len(one.select.clusters)
        judged = heads[name]
        bits = np.array([head.bits for head in judged]).T
        short = [[compression(n, len(one.labels), value) for value in task] for task in bits]
        bootstrap = Bootstrap.draw(tuple(np.unique(one.report.clusters).tolist()), replicates, seed)
        hits = np.stack([head.hits for head in judged], 2)
        measured = accuracy_beside_control(one.report.clusters, hits, bootstrap)
        rows: dict[str, object] = {"task": name, "label": "all"} | named_heads((model.layers, model.heads))
        rows |= {"n_select": n, "classes": len(one.labels), "codelength": bits[0], "compression": short[0]}
        rows |= {"control_compression": short[1], "selected": np.arange(len(judged)) == bits[0].argmin()}
        rows |= {"majority": one.majority(), "control_majority": one.majority(1)}
        for kind, others in (("embedding", embeddings), ("random", untrained)):
            accuracy, control = (np.nan, np.nan) if others is None else max(other.means for other in others[name])
            rows |= {f"{kind}_accuracy": accuracy, f"{kind}_selectivity": accuracy - control}
        rows |= lead_columns("embedding", one.report.clusters, hits[0], embeddings[name][0].hits[0][:, None])
        frames.append(pd.DataFrame(rows | measured))
    return pd.concat(frames, ignore_index=True) if frames else pd.DataFrame()
