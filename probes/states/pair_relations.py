"""The attention probe: is there a dependency between two words, and which, by all heads at once (Reif et al. 2019)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd
from jaxtyping import Int

from mha.models.model import Model
from probes.records import Document, IntArray, basic
from probes.scoring.aligned import Aligned
from probes.scoring.score import Settings
from probes.states.word_states import ClusteredMean
from probes.trained.codelength import LinearClassifier
from probes.trained.pair_attention import attention_between

IS_THERE, WHICH = TASKS = ("relation or not", "which relation")
"Tasks; of the first, half of the pairs have a relation."

RELATIONS = 30
"Relations, the most frequent ones, that are told apart (section 3.1)."

REACH = 10
"Words to either side up to which the baseline tells distances apart."


@dataclass(frozen=True)
class WordPairs:
    """Ordered pairs of words of one split, half of them a dependent and its head."""

    cells: Int[np.ndarray, "pair 2 2"]
    "Text and word of both words; pairs without a relation follow those with one."
    labels: list[str]
    'Relation without its subtype; "" of a pair that has none.'
    clusters: IntArray

    @classmethod
    def of(cls, documents: Sequence[Document], clusters: IntArray, most: int, seed: int) -> WordPairs:
        """Draw `most` arcs at the most, each in random order, and from the same texts as many pairs without an arc."""
        random = np.random.default_rng(seed)
        arcs = [
            (text, word, int(head), basic(document.deprels[word]))
            for text, document in enumerate(documents)
            for word, head in enumerate(document.heads)
            if head >= 0 and document.upos[word] != "PUNCT"
        ]
        drawn = [arcs[place] for place in random.permutation(len(arcs))[:most]]
        rows = [
            (text, *((one, other) if random.integers(2) else (other, one)), label) for text, one, other, label in drawn
        ]
        rows += [(text, *pair, "") for text, *_ in drawn if (pair := _unrelated(documents[text], random)) is not None]
        cells = np.array([[(text, one), (text, other)] for text, one, other, _ in rows], np.int64).reshape(-1, 2, 2)
        return cls(cells, [label for *_, label in rows], clusters[cells[:, 0, 0]])

    @property
    def offsets(self) -> np.ndarray:
        """[pair, offset] The signed distance of the words as indicators, up to REACH."""
        apart = np.clip(self.cells[:, 1, 1] - self.cells[:, 0, 1], -REACH, REACH) + REACH
        found: np.ndarray = np.eye(2 * REACH + 1)[apart]
        return found


def _unrelated(document: Document, random: np.random.Generator) -> tuple[int, int] | None:
    """Return two words of which neither is the other's head, no punctuation; None where a text has no such pair."""
    words = [word for word, tag in enumerate(document.upos) if tag != "PUNCT"]
    heads = document.heads
    pairs = [(one, other) for one in words for other in words if one != other]
    free = [(one, other) for one, other in pairs if heads[one] != other and heads[other] != one]
    return free[int(random.integers(len(free)))] if free else None


def probe_pairs(
    model: Model,
    aligned: tuple[Aligned, Aligned],
    clusters: tuple[IntArray, IntArray],
    settings: Settings,
    *,
    most: int,
    seed: int,
) -> pd.DataFrame:
    """Return a row for each of TASKS: the accuracy of a linear classifier on the attention between two words.

    It sees what every head of the model gives from the first word to the second, and back. `distance` is the accuracy
    of a classifier that sees how far apart they stand, `majority` that of the most frequent label.
    """
    splits = []
    for one, groups in zip(aligned, clusters, strict=True):
        pairs = WordPairs.of(one.texts.take(one.kept), groups, most, seed)
        vectors = attention_between(model, one, pairs.cells, settings) if len(pairs.cells) else np.empty((0, 0, 2))
        splits.append((pairs, vectors.reshape(len(pairs.cells), -1)))
    return pd.DataFrame([row for task in TASKS if (row := _row(task, *splits)) is not None])


Split = tuple[WordPairs, np.ndarray]


def _row(task: str, select: Split, report: Split) -> dict[str, object] | None:
    asked = _asked(task, select[0])
    number = {label: place for place, label in enumerate(sorted({*asked}))}
    if len(number) < 2:
        return None
    rows, gold = [], []
    for pairs, _ in (select, report):
        names = _names(task, pairs)
        rows.append(np.array([place for place, name in enumerate(names) if name in number], np.int64))
        gold.append(np.array([number[names[place]] for place in rows[-1]], np.int64))
    hits = []
    for features in ([part[1] for part in (select, report)], [part[0].offsets for part in (select, report)]):
        classifier = LinearClassifier.fit(features[0][rows[0]], gold[0], len(number))
        hits.append(classifier.probabilities(features[1][rows[1]]).argmax(1) == gold[1])
    mean = ClusteredMean.of(hits[0].astype(np.float64), report[0].clusters[rows[1]])
    majority = float((gold[1] == np.bincount(gold[0]).argmax()).mean())
    return {"task": task, "labels": len(number)} | mean.row | {"distance": hits[1].mean(), "majority": majority}


def _names(task: str, pairs: WordPairs) -> list[str]:
    """Return the label of each pair in a task; "" of those that it does not ask about."""
    return pairs.labels if task == WHICH else ["related" if label else "none" for label in pairs.labels]


def _asked(task: str, pairs: WordPairs) -> list[str]:
    counts = Counter(name for name in _names(task, pairs) if name)
    return [name for name, _ in counts.most_common(RELATIONS)]
