"""What a linear classifier finds out about a sentence from the mean of its words' states, layer by layer."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np
import pandas as pd
from jaxtyping import Float32

from mha.batches import collate
from mha.models.model import Model
from mha.models.states import layer_states
from mha.parallel import in_order
from probes.corpora.corpus import MemoryTexts
from probes.records import Document, IntArray, basic
from probes.scoring.aligned import Aligned
from probes.scoring.hashed_random import draws
from probes.scoring.score import Settings
from probes.states.trees import is_tree, tree_distances
from probes.states.word_states import ClusteredMean
from probes.syntax.agreement import morphology
from probes.trained.codelength import LinearClassifier

LENGTH, CONTENT, DEPTH, SHIFT, TENSE, SUBJECT, OBJECT = TASKS = (
    "sentence length",
    "word content",
    "tree depth",
    "bigram shift",
    "tense",
    "subject number",
    "object number",
)

BANDS = (8, 12, 16, 20)
"First lengths, in words, of the bands of sentence length after the first."

CONTENT_WORDS = 20
"Words, frequent nouns, verbs and adjectives, of which a sentence of the task on word content has exactly one."

Label = str | None
"None where a sentence is not asked."


@dataclass(frozen=True)
class SentenceTask:
    """A label for each sentence."""

    name: str
    labels: tuple[list[Label], list[Label]]
    "Of the sentences of both splits."


def sentence_tasks(select: Sequence[Document], report: Sequence[Document], seed: int) -> list[SentenceTask]:
    """Return all tasks on the sentences of both splits."""
    content = content_words(select)
    medians = median_depths(select)
    asked: dict[str, Callable[[Document], Label]] = {
        LENGTH: lambda document: f"band {int(np.searchsorted(BANDS, len(document), 'right'))}",
        CONTENT: lambda document: _the_one_of(content, document),
        DEPTH: lambda document: _deep(document, medians),
        SHIFT: lambda document: "shifted" if is_shifted(document, seed) else "as it was",
        TENSE: lambda document: morphology(document.feats[_root(document)]).get("Tense"),
        SUBJECT: lambda document: _number_of("nsubj", document),
        OBJECT: lambda document: _number_of("obj", document),
    }
    return [
        SentenceTask(name, ([label(one) for one in select], [label(one) for one in report]))
        for name, label in asked.items()
    ]


def is_shifted(document: Document, seed: int) -> bool:
    """Return whether a sentence is one of the half that is read with two words in each other's place."""
    return bool(draws(seed, "bigram shift", document.sentences[0].id)[0] % 2)


def shifted(document: Document, seed: int) -> Document:
    """Return a sentence with two neighbouring words, which differ, in each other's place; as it is where none do."""
    words = list(document.words)
    places = [place for place in range(len(words) - 1) if words[place].lower() != words[place + 1].lower()]
    if not places:
        return document
    place = places[draws(seed, "shifted at", document.sentences[0].id)[0] % len(places)]
    words[place : place + 2] = words[place + 1], words[place]
    return Document(document.id, (replace(document.sentences[0], words=tuple(words)),))


def content_words(documents: Sequence[Document]) -> set[str]:
    """Return the CONTENT_WORDS content words that stand in the most sentences."""
    counts = Counter(
        word
        for document in documents
        for word in {
            word.lower()
            for word, tag in zip(document.words, document.upos, strict=True)
            if tag in ("NOUN", "VERB", "ADJ")
        }
    )
    return {word for word, _ in sorted(counts.items(), key=lambda one: (-one[1], one[0]))[:CONTENT_WORDS]}


def depth(document: Document) -> float:
    """Return how many arcs the deepest word of a tree is below its root."""
    return float(tree_distances(document.heads)[_root(document)].max())


def median_depths(documents: Sequence[Document]) -> dict[int, float]:
    """Return the median depth of trees by the number of words."""
    depths: dict[int, list[float]] = {}
    for document in documents:
        if is_tree(document):
            depths.setdefault(len(document), []).append(depth(document))
    return {length: float(np.median(found)) for length, found in depths.items()}


def _the_one_of(content: set[str], document: Document) -> Label:
    found = [word for word in map(str.lower, document.words) if word in content]
    return found[0] if len(found) == 1 else None


def _deep(document: Document, medians: dict[int, float]) -> Label:
    """Say whether a tree is deeper or flatter than half of the trees of as many words; None for one in between."""
    if not is_tree(document) or len(document) not in medians:
        return None
    beyond = depth(document) - medians[len(document)]
    return None if beyond == 0 else "deep" if beyond > 0 else "flat"


def _root(document: Document) -> int:
    return int(np.flatnonzero(document.heads < 0)[0])


def _number_of(relation: str, document: Document) -> Label:
    """Return the number of the root's only subject or object; None where it has none, or several."""
    root = _root(document)
    found = [
        word
        for word, (head, label) in enumerate(zip(document.heads, document.deprels, strict=True))
        if head == root and basic(label) == relation
    ]
    return morphology(document.feats[found[0]]).get("Number") if len(found) == 1 else None


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
    read = [MemoryTexts([shifted(one, seed) if is_shifted(one, seed) else one for one in some]) for some in documents]
    other = [sentence_means(model, Aligned.of(model, some), settings) for some in read]
    swapped = [np.array([is_shifted(one, seed) for one in some]) for some in documents]
    moved = [np.where(mask[None, :, None], two, one) for one, two, mask in zip(means, other, swapped, strict=True)]
    clusters = np.unique(splits[1].names, return_inverse=True)[1].reshape(-1)
    frames = []
    for task in sentence_tasks(documents[0], documents[1], seed):
        frames.append(_of_task(task, moved if task.name == SHIFT else means, clusters, seed))
        step()
    return pd.concat(frames, ignore_index=True)


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
