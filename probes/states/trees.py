"""Trees as distances and depths of words, and how well predicted ones agree with them (Hewitt and Manning 2019)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from jaxtyping import Bool, Float, Int
from torch import Tensor

from mha.batches import collate
from mha.models.model import Model
from probes.evidence.statistics import spearman
from probes.records import Document, IntArray
from probes.scoring.aligned import Aligned
from probes.scoring.score import Settings

Trees = Bool[np.ndarray, "head word word"]


def spanning_trees(weights: Float[np.ndarray, "head word word"]) -> Trees:
    """Return the maximum spanning trees of symmetric weights, as symmetric arrays that are True at their edges.

    Of all heads at once, for one call of scipy a head would take longer than the model's pass (Prim 1957, section 3).
    Of equal weights the word that stands first is joined first.
    """
    heads, words, _ = weights.shape
    trees = np.zeros(weights.shape, np.bool_)
    every = np.arange(heads)
    joined = np.zeros((heads, words), np.bool_)
    joined[:, 0] = True
    best, partner = weights[:, 0].astype(np.float64), np.zeros((heads, words), np.int64)
    for _ in range(words - 1):
        new = np.where(joined, -np.inf, best).argmax(1)
        old = partner[every, new]
        trees[every, new, old] = trees[every, old, new] = True
        joined[every, new] = True
        nearer = weights[every, new] > best
        best, partner = np.where(nearer, weights[every, new], best), np.where(nearer, new[:, None], partner)
    return trees


def attached_arcs(
    model: Model, aligned: Aligned, trees: Sequence[GoldTree | None], settings: Settings
) -> Float[np.ndarray, "reach layer head"]:
    """Return how many arcs of the trees of some texts every head's spanning trees have.

    Under 0 all arcs are counted, under 1 those between words that are no neighbours, punctuation aside. `trees` are
    those of `aligned.kept`; texts without one are left out. The weight of two words is the attention of both to each
    other, added. Trees and arcs are those of words that are no punctuation (Hewitt and Manning 2019, section 4.1).
    """
    total = np.zeros((2, model.layers, model.heads))
    for chosen in aligned.batches(settings.batch_pieces):
        batch = collate([aligned.pieces[i] for i in chosen], reduce=settings.reduce, padding=model.padding)
        gold = {row: tree for row, i in enumerate(chosen) if (tree := trees[i]) is not None}
        words: dict[int, list[np.ndarray]] = {row: [] for row in gold}

        def see(
            layer: int,
            maps: Tensor,
            gold: dict[int, GoldTree] = gold,
            words: dict[int, list[np.ndarray]] = words,
        ) -> None:
            for row, tree in gold.items():
                words[row].append(maps[row].cpu().numpy()[:, tree.words[:, None], tree.words])

        settings.stream(model, batch, see)
        for row, tree in gold.items():
            total += attached(np.concatenate(words[row]), tree).reshape(total.shape)
    return total


def attached(maps: Float[np.ndarray, "head word word"], tree: GoldTree) -> Float[np.ndarray, "reach head"]:
    """Return how many arcs of a tree each head's spanning tree has: of all, and of those between no neighbours.

    Maps are of `tree.words` alone.
    """
    edges = spanning_trees(maps.astype(np.float64) + maps.transpose(0, 2, 1))
    first, second = arc_ends(tree).T
    hits = edges[:, first, second]
    return np.stack([hits.sum(1), hits[:, second > first + 1].sum(1)]).astype(np.float64)


def arc_ends(tree: GoldTree) -> Int[np.ndarray, "arc 2"]:
    """Return the places of both words of each arc among `tree.words`, the first word first."""
    place = {int(word): number for number, word in enumerate(tree.words)}
    return np.array([sorted(place[word] for word in arc) for arc in tree.arcs], np.int64).reshape(-1, 2)


def gold_tree(document: Document) -> GoldTree | None:
    """Return the tree of a text; None where it is none, or has fewer than two words besides punctuation."""
    tree = GoldTree.of(document) if is_tree(document) else None
    return tree if tree is not None and len(tree.words) > 1 and tree.arcs else None


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
