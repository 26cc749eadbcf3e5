"""Tasks about sentences: surface, syntax and semantics (Conneau et al. 2018, as Jawahar et al. 2019 ask them)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np

from probes.records import Document, basic
from probes.scoring.hashed_random import draws
from probes.states.trees import is_tree, tree_distances
from probes.syntax.agreement import morphology

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
