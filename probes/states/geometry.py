"""The geometry of states by layer: anisotropy, and how much a word's state depends on its context (Ethayarajh 2019)."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise

import numpy as np
import pandas as pd
from jaxtyping import Float

from probes.records import IntArray
from probes.states.word_states import ClusteredMean, WordStates

RANDOM, SELF, SENTENCE, EXPLAINED, BEYOND = MEASURES = (
    "random words",
    "self-similarity",
    "intra-sentence similarity",
    "explained variance",
    "intra-sentence similarity, beyond random sentences",
)
"""Mean cosine of two random words of different texts; mean cosine of two occurrences of one word; mean cosine of a word
and the mean of its sentence; the share of the variance of a word's occurrences on their first principal component;
and how much more similar words are to their sentence than random words of as many other texts are to their own mean,
which each of them is a part of as well."""

ADJUSTED = ", adjusted"
"Behind the name of a measure minus its value for random words (Ethayarajh 2019, section 3.3)."

CONTEXTS = 20
"Occurrences, in different texts, that a word has at least; as many are drawn of each."

WORDS = 300
"Words, the most frequent ones, that are measured at the most."

Cells = Float[np.ndarray, "occurrence model"]


def geometry(states: WordStates, seed: int, *, contexts: int = CONTEXTS) -> pd.DataFrame:
    """Return a row for each layer and measure: `value` with its interval, and `n`, what it is a mean over.

    Cosines lie in [-1, 1]. Every measure but the first also stands there ADJUSTED for anisotropy: minus what random
    words have, which for explained variance are sets of as many random words (Ethayarajh 2019, sections 3.2 and 3.3).
    NaN where no word stands in `contexts` texts.
    """
    random = np.random.default_rng(seed)
    pairs = random_pairs(states, random)
    chosen = repeated_words(states, random, contexts)
    others = [random_words(states, random, contexts) for _ in range(min(100, 2 * len(chosen)))]
    mixed = [random_words(states, random, size) for size in np.diff(states.starts).tolist()]
    rows = []
    for layer in range(len(states.vectors)):
        vectors = states.vectors[layer].astype(np.float64)
        baseline = ClusteredMean.of(cosines(vectors[pairs[:, 0]], vectors[pairs[:, 1]]))
        measured = {RANDOM: baseline, SELF: _mean(self_similarity(vectors[one]) for one in chosen)}
        of_texts = [_around_mean(vectors[start:end]) for start, end in pairwise(states.starts.tolist())]
        measured[SENTENCE] = ClusteredMean.of(np.array(of_texts), states.clusters)
        beyond = np.array(of_texts) - np.array([_around_mean(vectors[words]) for words in mixed])
        measured[BEYOND] = ClusteredMean.of(beyond, states.clusters)
        measured[EXPLAINED] = _mean(explained_variance(vectors[one]) for one in chosen)
        random_variance = _mean(explained_variance(vectors[one]) for one in others)
        for name, less in ((SELF, baseline), (SENTENCE, baseline), (EXPLAINED, random_variance)):
            measured[name + ADJUSTED] = measured[name] - less
        rows += [{"layer": layer, "measure": name} | one.row for name, one in measured.items()]
    return pd.DataFrame(rows)


def random_pairs(states: WordStates, random: np.random.Generator) -> IntArray:
    """[pair, 2] Return one word of every text, at random, two and two: no text is in two pairs."""
    first, size = states.starts[:-1], np.diff(states.starts)
    words = random.permutation(first + random.integers(0, size)) if len(first) else np.empty(0, np.int64)
    pairs: IntArray = words[: len(words) // 2 * 2].reshape(-1, 2)
    return pairs


def repeated_words(states: WordStates, random: np.random.Generator, contexts: int) -> list[IntArray]:
    """Return `contexts` occurrences, in as many texts, of each word that has them; WORDS most frequent ones at most."""
    places: dict[str, dict[int, int]] = {}
    for place, (word, text) in enumerate(zip(states.words, states.text.tolist(), strict=True)):
        places.setdefault(word, {}).setdefault(text, place)
    enough = sorted(
        (word for word, at in places.items() if len(at) >= contexts), key=lambda one: (-len(places[one]), one)
    )
    return [random.choice(list(places[word].values()), contexts, replace=False) for word in enough[:WORDS]]


def random_words(states: WordStates, random: np.random.Generator, count: int) -> IntArray:
    """Return random words, each of another text while there are as many texts."""
    texts = random.choice(len(states.documents), count, replace=count > len(states.documents))
    sizes = np.diff(states.starts)[texts]
    words: IntArray = states.starts[texts] + random.integers(0, sizes)
    return words


def cosines(first: Cells, second: Cells) -> Float[np.ndarray, " occurrence"]:
    """Return the cosine of each row of one with that of the other; NaN for a row of zeros."""
    lengths = np.linalg.norm(first, axis=1) * np.linalg.norm(second, axis=1)
    products = np.einsum("nm,nm->n", first, second)
    found: Float[np.ndarray, " occurrence"] = np.divide(
        products, lengths, out=np.full(len(first), np.nan), where=lengths > 0
    )
    return found


def self_similarity(occurrences: Cells) -> float:
    """Return the mean cosine of all pairs of rows (Ethayarajh 2019, definition 1).

    >>> self_similarity(np.array([[1.0, 0.0], [0.0, 1.0], [2.0, 0.0]]))
    0.3333333333333333
    """
    unit = occurrences / np.linalg.norm(occurrences, axis=1, keepdims=True)
    n = len(unit)
    return float((np.square(unit.sum(0)).sum() - n) / (n * (n - 1)))


def explained_variance(occurrences: Cells) -> float:
    """Return the share of the variance of the rows that their first principal component explains, in [0, 1].

    Rows are centred, as in the later of two versions of the author's code; NaN where all rows are equal.
    """
    values = np.square(np.linalg.svd(occurrences - occurrences.mean(0), compute_uv=False))
    return float(values[0] / values.sum()) if values.sum() > 0 else float("nan")


def _mean(values: Iterator[float]) -> ClusteredMean:
    return ClusteredMean.of(np.array([*values], np.float64))


def _around_mean(words: Cells) -> float:
    """Return the mean cosine of words and their mean (Ethayarajh 2019, definition 2)."""
    return float(cosines(words, np.broadcast_to(words.mean(0), words.shape)).mean())
