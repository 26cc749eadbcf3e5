"""Trees as distances and depths of words, and how well predicted ones agree with them (Hewitt and Manning 2019)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from jaxtyping import Float, Int

from probes.records import Document, IntArray

Square = Float[np.ndarray, "_word _word"]

Layers = Float[np.ndarray, " _layer"]
"A number for each layer, or for the baseline alone."


def tree_distances(heads: Int[np.ndarray, " word"]) -> Square:
    """Return how many arcs lie between any two words of a tree.

    >>> tree_distances(np.array([1, -1, 1, 2]))[0].tolist()
    [0.0, 1.0, 2.0, 3.0]
    """
    from scipy.sparse import csr_matrix
    from scipy.sparse.csgraph import shortest_path

    words = np.flatnonzero(heads >= 0)
    arcs = csr_matrix((np.ones(len(words)), (words, heads[words])), shape=(len(heads), len(heads)))
    found: Square = shortest_path(arcs, directed=False, unweighted=True)
    return found


def is_tree(document: Document) -> bool:
    """Return whether a text is one sentence with one root."""
    return len(document.sentences) == 1 and int((document.heads < 0).sum()) == 1


def in_a_row(words: int) -> Square:
    """Return how far words stand apart in a sentence: the baseline without any model."""
    places = np.arange(words, dtype=np.float64)
    found: Square = np.abs(places[:, None] - places)
    return found


@dataclass(frozen=True)
class GoldTree:
    """The tree of a sentence, which predicted distances and depths of all layers are compared with."""

    distances: Square
    depths: Float[np.ndarray, " word"]
    "Arcs below the root."
    words: IntArray
    "Words that are no punctuation."
    arcs: tuple[frozenset[int], ...]
    "Between these words, without direction."

    @classmethod
    def of(cls, document: Document) -> GoldTree:
        """Read the tree of a text that is one."""
        distances = tree_distances(document.heads)
        words = np.array([place for place, tag in enumerate(document.upos) if tag != "PUNCT"], np.int64)
        known = {*words.tolist()}
        arcs = [frozenset((word, int(head))) for word, head in enumerate(document.heads) if head >= 0]
        root = int(np.flatnonzero(document.heads < 0)[0])
        return cls(distances, distances[root], words, tuple(arc for arc in arcs if arc <= known))

    def attached(self, distances: Square) -> list[float]:
        """Return for each arc whether the minimum spanning tree of predicted distances has it, 0 or 1 (UUAS).

        The tree and the arcs are those of words that are no punctuation (Hewitt and Manning 2019, section 4.1).
        """
        from scipy.sparse.csgraph import minimum_spanning_tree

        inside = distances[np.ix_(self.words, self.words)].astype(np.float64)
        tree = minimum_spanning_tree(inside - inside.min() + 1).tocoo()  # 0 would be no edge; the tree stays the same
        ends = zip(self.words[tree.row].tolist(), self.words[tree.col].tolist(), strict=True)
        edges = {frozenset(pair) for pair in ends}
        return [float(arc in edges) for arc in self.arcs]

    def distance_correlation(self, distances: Float[np.ndarray, "_layer word word"]) -> Layers:
        """Return Spearman's rho of predicted and gold distances of a word to others, the mean over words (DSpr)."""
        n = len(self.depths)
        apart = ~np.eye(n, dtype=bool)
        theirs = self.distances[apart].reshape(n, n - 1)
        found = spearman(distances[:, apart].reshape(-1, n, n - 1), theirs[None])
        known = np.isfinite(found)
        counted = np.maximum(known.sum(1), 1)
        mean: Layers = np.where(known.any(1), np.where(known, found, 0).sum(1) / counted, np.nan)
        return mean

    def depth_correlation(self, depths: Float[np.ndarray, "_layer word"]) -> Layers:
        """Return Spearman's rho of predicted and gold depths of the words (NSpr)."""
        return spearman(depths, self.depths[None])

    def root_correct(self, depths: Float[np.ndarray, "_layer word"]) -> Layers:
        """Return 1 where the word of the least depth, punctuation aside, is the root; else 0."""
        found: Layers = (self.depths[self.words[depths[:, self.words].argmin(1)]] == 0).astype(np.float64)
        return found


def spearman(first: Float[np.ndarray, "*rows n"], second: Float[np.ndarray, "*others n"]) -> Float[np.ndarray, "*rows"]:
    """Return the rank correlation of the last axes; NaN where one of them is constant."""
    from scipy.stats import rankdata

    ranks = [rankdata(values, axis=-1) for values in (first, second)]
    centred = [values - values.mean(-1, keepdims=True) for values in ranks]
    spread = np.sqrt((centred[0] ** 2).sum(-1) * (centred[1] ** 2).sum(-1))
    products = (centred[0] * centred[1]).sum(-1)
    found: Float[np.ndarray, "*rows"] = np.divide(
        products, spread, out=np.full(products.shape, np.nan), where=spread > 0
    )
    return found
