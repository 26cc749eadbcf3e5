"""Amnesic probing: what is lost without all that linear classifiers can tell of a property (Elazar et al. 2021)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from jaxtyping import Bool, Float, Int

from probes.records import Document, basic
from probes.states.word_states import ClusteredMean, WordStates
from probes.trained.codelength import fitted

CLOSE = 0.02
"Directions are removed until a classifier is no more than this above the majority on held-out documents."

ROUNDS = 16
"Classifiers that are fitted for this at the most."

WORDS = 3000
"Words of the selection split that these learn from at the most."

FORMS = 100
"Word forms, the most frequent ones of the selection split, by which words are told."

RANDOM = 5
"Sets of random directions."

States = Float[np.ndarray, "_word _model"]
Labels = Int[np.ndarray, " _word"]
Bools = Bool[np.ndarray, " _word"]


def phrase_starts(document: Document) -> list[str]:
    """Return for each word whether it is the first of a noun's phrase, of the noun and all below it.

    It stands for the starts of phrases of OntoNotes, which dependency trees do not have.
    """
    first = list(range(len(document)))
    for word in range(len(document)):
        above = word
        for _ in range(len(document)):
            above = int(document.heads[above])
            if above < 0:
                break
            first[above] = min(first[above], word)
    starts = {first[word] for word, tag in enumerate(document.upos) if tag in ("NOUN", "PROPN", "PRON")}
    return ["start" if word in starts else "other" for word in range(len(document))]


PROPERTIES: Mapping[str, Callable[[Document], list[str]]] = {
    "part of speech": lambda document: list(document.upos),
    "dependency label": lambda document: [basic(label) for label in document.deprels],
    "phrase start": phrase_starts,
}
"What is removed: a label of every word."


@dataclass(frozen=True)
class Sides:
    """The last layer's states of the words of both splits, centred, with labels."""

    select: States
    report: States

    @classmethod
    def of(cls, select: WordStates, report: WordStates) -> Sides:
        """Centre and scale the states of both splits by what the selection split has."""
        mean = select.vectors[-1].mean(0, dtype=np.float64)
        scale = float((select.vectors[-1] - mean).std()) or 1.0
        first, second = ((part.vectors[-1] - mean) / scale for part in (select, report))
        return cls(first, second)

    def without(self, directions: Float[np.ndarray, "direction model"]) -> Sides:
        """Return the states in the space that is orthogonal to `directions`, which are orthonormal."""
        first, second = (part - (part @ directions.T) @ directions for part in (self.select, self.report))
        return Sides(first, second)


@dataclass(frozen=True)
class Removed:
    """What iterative nullspace projection has found of one property."""

    directions: Float[np.ndarray, "direction model"]
    "Orthonormal; without them no linear classifier tells the property, as far as ROUNDS of them say."
    accuracy: Float[np.ndarray, " word"]
    "[word] Whether the first classifier is correct on the report split."
    left: float
    "Accuracy of the last classifier on the report split, after all directions were removed that count as found."
    majority: float
    "Accuracy of the most frequent label of the selection split."


def remove(sides: Sides, select: Labels, report: Labels, held_out: Bools, seed: int) -> Removed:
    """Take away the directions of one classifier after the other (INLP, Ravfogel et al. 2020; section 2).

    Each learns from what the ones before it have left, and all its directions go, until one is at the majority on the
    words of the selection split that are `held_out`: the report split does not say when to stop.
    """
    chosen = np.random.default_rng(seed).permutation(np.flatnonzero(~held_out))[:WORDS]
    labels = select[chosen]
    most = np.bincount(labels).argmax()
    directions = np.empty((0, sides.select.shape[1]))
    first, left = np.empty(0), np.nan
    for number in range(ROUNDS):
        rest = sides.without(directions)
        classifier = fitted(rest.select[chosen], labels)
        hits = (classifier.predict(rest.report) == report).astype(np.float64)
        first, left = (hits if number == 0 else first), float(hits.mean())
        inside = classifier.predict(rest.select[held_out]) == select[held_out]
        if inside.mean() <= (select[held_out] == most).mean() + CLOSE:
            break
        directions = _joined(directions, classifier.coef_)
    return Removed(directions, first, left, float((report == most).mean()))


def _joined(directions: Float[np.ndarray, "one model"], more: Float[np.ndarray, "other model"]) -> States:
    """Return orthonormal rows that span both; what `more` adds by rounding alone is left out."""
    more = more - (more @ directions.T) @ directions
    _, lengths, rows = np.linalg.svd(more, full_matrices=False)
    return np.concatenate([directions, rows[lengths > 1e-6 * max(lengths.max(), 1e-12)]])


def random_directions(count: int, size: int, random: np.random.Generator) -> States:
    """Return `count` orthonormal rows in a random place."""
    found: States = np.linalg.qr(random.normal(size=(size, count)))[0].T
    return found


@dataclass(frozen=True)
class Readout:
    """A classifier that tells frequent words from the intact states, in the place of a masked-LM head."""

    classifier: Any
    "The fitted scikit-learn estimator."
    report: Labels
    "Forms of the words of the report split; -1 for all others."

    @classmethod
    def of(cls, sides: Sides, select: WordStates, report: WordStates) -> Readout:
        """Learn from all words of the selection split whose form is frequent."""
        frequent = [form for form, _ in Counter(sorted(select.words)).most_common(FORMS)]
        number = {form: place for place, form in enumerate(frequent)}
        forms, asked = (np.array([number.get(word, -1) for word in part.words]) for part in (select, report))
        return cls(fitted(sides.select[forms >= 0], forms[forms >= 0]), asked)

    def hits(self, sides: Sides) -> Float[np.ndarray, " asked"]:
        """Return for each word of a frequent form on the report split whether it is told right."""
        found = self.classifier.predict(sides.report) == self.report
        hits: Float[np.ndarray, " asked"] = found[self.report >= 0].astype(np.float64)
        return hits


def amnesic(select: WordStates, report: WordStates, seed: int, step: Callable[[], None] = lambda: None) -> pd.DataFrame:
    """Return a row for each of PROPERTIES: how well it can be told, and what words are told by without it.

    `accuracy` is that of a classifier of the property, `left` that of the last one; `intact`, `amnesic` and `random`
    are the accuracy of the Readout of words from all of the last layer, without the `directions` of the property, and
    without as many random ones, RANDOM times. `effect` is random minus amnesic, with an interval over documents, as
    has `lost`, intact minus amnesic. Directions are learned from four fifths of the documents of the selection split,
    and the others say when there are enough. `step` is called after each property.
    """
    sides = Sides.of(select, report)
    readout = Readout.of(sides, select, report)
    intact = readout.hits(sides)
    clusters = report.clusters[report.text]
    held_out = select.held_out[select.text]
    rows = []
    for name, labels, theirs in _labelled(select, report):
        removed = remove(sides, labels, theirs, held_out, seed)
        without = readout.hits(sides.without(removed.directions))
        random = _random(sides, readout, len(removed.directions), seed)
        row = {"property": name, "directions": len(removed.directions), "majority": removed.majority}
        row |= {"left": removed.left, "intact": intact.mean(), "amnesic": without.mean(), "random": random.mean()}
        kinds = {"accuracy": ClusteredMean.of(removed.accuracy, clusters)}
        asked = clusters[readout.report >= 0]
        kinds |= {
            "effect": ClusteredMean.of(random - without, asked),
            "lost": ClusteredMean.of(intact - without, asked),
        }
        for kind, mean in kinds.items():
            row |= {kind: mean.value, f"{kind}_low": mean.row["low"], f"{kind}_high": mean.row["high"]}
        rows.append(row | {"n": len(without)})
        step()
    return pd.DataFrame(rows)


def _random(sides: Sides, readout: Readout, count: int, seed: int) -> Float[np.ndarray, " asked"]:
    random = np.random.default_rng(seed)
    size = sides.select.shape[1]
    drawn = [readout.hits(sides.without(random_directions(count, size, random))) for _ in range(RANDOM)]
    mean: Float[np.ndarray, " asked"] = np.mean(drawn, 0)
    return mean


def _labelled(select: WordStates, report: WordStates) -> Iterator[tuple[str, Labels, Labels]]:
    """Yield each property with its labels as numbers; -1 where the selection split does not have a label."""
    for name, labels_of in PROPERTIES.items():
        texts = [[label for document in part.documents for label in labels_of(document)] for part in (select, report)]
        number = {label: place for place, label in enumerate(sorted(set(texts[0])))}
        first, second = (np.array([number.get(label, -1) for label in some]) for some in texts)
        if len(np.unique(first[~select.held_out[select.text]])) > 1:
            yield name, first, second
