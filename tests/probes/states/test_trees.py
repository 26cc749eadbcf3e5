"""Trees as distances, by hand and against other libraries."""

from collections.abc import Callable
from itertools import combinations

import numpy as np
import pytest
from scipy import stats

from probes.evidence.statistics import spearman
from probes.records import Document, Sentence
from probes.states.trees import GoldTree, in_a_row, is_tree

TREE = """
the   DET   2 det   _
ship  NOUN  3 nsubj _
sank  VERB  0 root  _
,     PUNCT 3 punct _
old   ADJ   3 xcomp _
"""


@pytest.fixture
def gold(tree: Callable[..., Sentence]) -> GoldTree:
    document = Document("d", (tree(TREE),))
    assert is_tree(document)
    return GoldTree.of(document)


def test_distances_are_arcs_between_words(gold: GoldTree) -> None:
    by_hand = [[0, 1, 2, 3, 3], [1, 0, 1, 2, 2], [2, 1, 0, 1, 1], [3, 2, 1, 0, 2], [3, 2, 1, 2, 0]]
    assert gold.distances.tolist() == by_hand
    assert gold.depths.tolist() == [2, 1, 0, 1, 1]


def test_the_spanning_tree_of_gold_distances_has_every_arc_and_punctuation_none(gold: GoldTree) -> None:
    assert gold.words.tolist() == [0, 1, 2, 4]
    assert gold.attached(gold.distances) == [1, 1, 1]
    assert gold.attached(in_a_row(5)) == [1, 1, 1], "without the comma the words stand in a row as in the tree"
    far = gold.distances.copy()
    far[2, 4] = far[4, 2] = 9
    assert gold.attached(far) == [1, 1, 0]


def test_the_spanning_tree_is_the_lightest_of_all(gold: GoldTree) -> None:
    """All trees over four words are tried; one arc may be 0."""
    drawn = np.random.default_rng(0).random((5, 5))
    drawn = drawn + drawn.T
    drawn[0, 1] = drawn[1, 0] = 0
    pairs = list(combinations(gold.words.tolist(), 2))
    trees = [some for some in combinations(pairs, 3) if _connected(some)]
    best = min(trees, key=lambda some: sum(drawn[pair] for pair in some))
    edges = {frozenset(pair) for pair in best}
    assert gold.attached(drawn) == [float(arc in edges) for arc in gold.arcs]


def _connected(pairs: tuple[tuple[int, int], ...]) -> bool:
    reached = {pairs[0][0]}
    for _ in pairs:
        reached |= {word for pair in pairs if reached & {*pair} for word in pair}
    return len(reached) == 4


def test_rank_correlations_are_those_of_scipy(gold: GoldTree) -> None:
    random = np.random.default_rng(1)
    distances, depths = random.random((2, 5, 5)), random.integers(0, 3, (2, 5)).astype(float)
    for layer in range(2):
        rows = [
            stats.spearmanr(np.delete(distances[layer, word], word), np.delete(gold.distances[word], word)).statistic
            for word in range(5)
        ]
        assert gold.distance_correlation(distances)[layer] == pytest.approx(np.nanmean(rows))
        expected = stats.spearmanr(depths[layer], gold.depths).statistic
        assert gold.depth_correlation(depths)[layer] == pytest.approx(expected)
    assert np.isnan(spearman(np.ones(4), np.arange(4.0)))
