"""Linear classifiers, and how many bits labels cost one who learns to predict them as they come."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
from jaxtyping import Float, Int

from probes.records import IntArray
from probes.scoring.hashed_random import draws
from probes.scoring.tally import Numbers

FRACTIONS = (0.001, 0.002, 0.004, 0.008, 0.016, 0.032, 0.0625, 0.125, 0.25, 0.5)
"Where blocks end, as shares of all examples, as in the code of Voita and Titov 2020; the last one ends at 1."

PENALTY, ITERATIONS, TOLERANCE = 0.1, 50, 1e-3
"Of scikit-learn's logistic regression: C, the most steps of L-BFGS, and where it stops."


def fitted(x: Float[np.ndarray, "n feature"], y: Int[np.ndarray, " n"]) -> Any:
    """Return scikit-learn's LogisticRegression of at least two labels.

    It is stopped after ITERATIONS, like the penalty a guard against overfitting, and not told as a failure.
    """
    import warnings

    from sklearn.exceptions import ConvergenceWarning
    from sklearn.linear_model import LogisticRegression

    estimator = LogisticRegression(C=PENALTY, max_iter=ITERATIONS, tol=TOLERANCE)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        warnings.filterwarnings("ignore", "The number of unique classes")  # of the code's first blocks
        return estimator.fit(x, y)


@dataclass(frozen=True)
class LinearClassifier:
    """A logistic regression over `classes` labels on standardised features."""

    classes: int
    n: int
    "Number of examples that it has learned from."
    known: IntArray
    "The labels among them, ascending."
    mean: Numbers
    scale: Numbers
    estimator: Any
    "The fitted scikit-learn estimator; None where all examples had one label."

    @classmethod
    def fit(cls, x: Float[np.ndarray, "n feature"], y: Int[np.ndarray, " n"], classes: int) -> LinearClassifier:
        """Fit scikit-learn's LogisticRegression; at least one example is needed."""
        mean, scale = x.mean(0, dtype=np.float64), x.std(0, dtype=np.float64)
        scale[scale == 0] = 1
        known = np.unique(y)
        estimator = fitted((x - mean) / scale, y) if len(known) > 1 else None
        return cls(classes, len(x), known, mean, scale, estimator)

    def probabilities(self, x: Float[np.ndarray, "m feature"]) -> Float[np.ndarray, "m label"]:
        """Return the probability of every label, `mixed` with the uniform one."""
        found = np.zeros((len(x), self.classes))
        if self.estimator is None:
            found[:, self.known] = 1
        else:
            found[:, self.known] = self.estimator.predict_proba((x - self.mean) / self.scale)
        return mixed(found, self.n, self.classes)


def mixed(p: Numbers, n: int, classes: int) -> Numbers:
    """Return probabilities learned from n examples, mixed with one part in n + 1 of the uniform distribution.

    So that no label costs infinitely many bits, above all not one that the n examples did not have.
    """
    uniform: Numbers = (n * p + 1 / classes) / (n + 1)
    return uniform


def coding_order(clusters: Int[np.ndarray, " n"], seed: int) -> IntArray:
    """Return the order in which examples are coded: clusters at random, the examples of one as they come."""
    drawn = {cluster: draws(seed, "coding order", cluster) for cluster in set(clusters.tolist())}
    return np.array(sorted(range(len(clusters)), key=lambda i: drawn[int(clusters[i])]), np.int64)


def block_ends(clusters: Int[np.ndarray, " n"]) -> list[int]:
    """Return where the blocks of an online code end: after whole clusters, the first ones that reach FRACTIONS.

    `clusters` is the cluster (document) of every example, those of one side by side. The last end is n.

    >>> block_ends(np.array([4, 4, 4, 7, 7, 1, 1, 1]))
    [3, 5, 8]
    """
    n = len(clusters)
    if not n:
        return []
    borders = np.append(np.flatnonzero(np.diff(clusters)) + 1, n)
    reached = borders[np.searchsorted(borders, [max(1, round(share * n)) for share in FRACTIONS])]
    return sorted({*reached.tolist(), n})


def online_codelength(
    x: Float[np.ndarray, "n feature"], y: Int[np.ndarray, " n"], classes: int, ends: list[int]
) -> float:
    """Return the bits of the labels of all n examples: the first block costs log2(classes) each.

    Every further block is coded with what a classifier learned from the blocks before it (Voita and Titov 2020,
    section 2.2, equation 3). In [0, infinity), lower is better; 0 for no examples.
    """
    if not ends:
        return 0.0
    bits = ends[0] * np.log2(classes)
    for begin, end in pairwise(ends):
        p = LinearClassifier.fit(x[:begin], y[:begin], classes).probabilities(x[begin:end])
        bits -= np.log2(p[np.arange(end - begin), y[begin:end]]).sum()
    return float(bits)


def compression(n: int, classes: int, bits: float) -> float:
    """Return how many times shorter the code is than log2(classes) bits a label; 1 is no gain, higher is better.

    NaN where there is nothing to code (Voita and Titov 2020, section 3).
    """
    return n * float(np.log2(classes)) / bits if n and classes > 1 else float("nan")
