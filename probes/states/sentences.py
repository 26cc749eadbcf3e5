"""What a linear classifier finds out about a sentence from the mean of its words' states, layer by layer."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
import pandas as pd
from jaxtyping import Float32

from mha.batches import collate
from mha.models.model import Model
from mha.models.states import layer_states
from mha.parallel import in_order
from probes.corpora.corpus import MemoryTexts
from probes.records import Document, IntArray
from probes.scoring.aligned import Aligned
from probes.scoring.score import Settings
from probes.states.intervals import ClusteredMean
from probes.states.sentence_tasks import SHIFT, SentenceTask, is_shifted, sentence_tasks, shifted
from probes.trained.codelength import LinearClassifier

ACCURACY = "accuracy"
"The measure of all these tasks."

FEWEST = 20
"A task with fewer sentences than this of a label on the selection split does not ask about it."

Means = Float32[np.ndarray, "_layer _sentence _model"]


def sentence_means(model: Model, aligned: Aligned, settings: Settings) -> Means:
    """Return the mean of the states of a sentence's words, for each layer from what the first one reads."""
    kept: dict[str, Means] = {}

    def read(chosen: list[int]) -> tuple[list[int], Means]:
        batch = collate([aligned.pieces[i] for i in chosen], reduce=settings.reduce, padding=model.padding)
        return chosen, (layer_states(model, batch).sum(2) / batch.words[:, None]).numpy()

    for chosen, means in in_order(read, aligned.batches(settings.batch_pieces), settings.workers):
        shape = (len(means), len(aligned.pieces), means.shape[-1])
        kept.setdefault("all", np.empty(shape, np.float32))[:, chosen] = means
    return kept.get("all", np.empty((0, 0, 0), np.float32))


def probe_sentences(
    model: Model,
    splits: tuple[Aligned, Aligned],
    settings: Settings,
    *,
    seed: int,
    step: Callable[[], None] = lambda: None,
) -> pd.DataFrame:
    """Return a row for each task and layer: the accuracy on the report split, and `baseline`, of the frequent label.

    Labels of a task are as frequent as each other where there are two. `held_out` is missing: no layer is selected.
    `step` is called after each task.
    """
    documents = [one.texts.take(one.kept) for one in splits]
    means = [sentence_means(model, one, settings) for one in splits]
    other = [sentence_means(model, _shifted(model, some, seed), settings) for some in documents]
    swapped = [np.array([is_shifted(one, seed) for one in some]) for some in documents]
    moved = [np.where(mask[None, :, None], two, one) for one, two, mask in zip(means, other, swapped, strict=True)]
    clusters = np.unique(splits[1].names, return_inverse=True)[1].reshape(-1)
    frames = []
    for task in sentence_tasks(documents[0], documents[1], seed):
        frames.append(_of_task(task, moved if task.name == SHIFT else means, clusters, seed))
        step()
    return pd.concat(frames, ignore_index=True)


def _shifted(model: Model, documents: Sequence[Document], seed: int) -> Aligned:
    return Aligned.of(model, MemoryTexts([shifted(one, seed) if is_shifted(one, seed) else one for one in documents]))


def _of_task(task: SentenceTask, means: Sequence[Means], clusters: IntArray, seed: int) -> pd.DataFrame:
    known = [label for label in {*task.labels[0]} if label and task.labels[0].count(label) >= FEWEST]
    number = {label: place for place, label in enumerate(sorted(known))}
    sides = [_asked(labels, number, seed) for labels in task.labels]
    if len(number) < 2 or not len(sides[1][0]):
        return pd.DataFrame()
    (rows, gold), (places, theirs) = sides
    majority = float((theirs == np.bincount(gold).argmax()).mean())
    found = []
    for layer, (first, second) in enumerate(zip(*means, strict=True)):
        classifier = LinearClassifier.fit(first[rows], gold, len(number))
        hits = (classifier.probabilities(second[places]).argmax(1) == theirs).astype(np.float64)
        about = {"task": task.name, "measure": ACCURACY, "layer": layer}
        found.append(about | ClusteredMean.of(hits, clusters[places]).row | {"held_out": np.nan, "baseline": majority})
    return pd.DataFrame(found)


def _asked(labels: Sequence[str | None], number: dict[str, int], seed: int) -> tuple[IntArray, IntArray]:
    """Return which sentences are asked and their labels as numbers; of two labels as many of one as of the other."""
    gold = np.array([number.get(label or "", -1) for label in labels], np.int64)
    rows = np.flatnonzero(gold >= 0)
    if len(number) == 2:
        random = np.random.default_rng(seed)
        groups = [random.permutation(rows[gold[rows] == label]) for label in range(2)]
        rows = np.sort(np.concatenate([group[: min(map(len, groups))] for group in groups]))
    return rows, gold[rows]
