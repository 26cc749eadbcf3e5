"""Trees in the attention of single heads: maximum spanning trees of word-level maps (Ravishankar et al. 2021)."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from jaxtyping import Bool, Float, Int
from torch import Tensor

from mha.batches import collate
from mha.models.model import Model
from probes.records import Document
from probes.scoring.aligned import Aligned
from probes.scoring.score import Settings
from probes.states.trees import GoldTree, is_tree

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
                words[row].append(maps[row].numpy()[:, tree.words[:, None], tree.words])

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
