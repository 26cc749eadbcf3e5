"""Trees as distances, by hand and against other libraries."""

from collections.abc import Callable
from itertools import combinations

import numpy as np
import pytest
from scipy import stats
from scipy.sparse.csgraph import minimum_spanning_tree

from mha import collate, load_model
from mha.models.maps import stream_maps
from probes.corpora.corpus import MemoryTexts
from probes.evidence.statistics import spearman
from probes.records import Document, Sentence
from probes.scoring.aligned import Aligned
from probes.scoring.score import Settings
from probes.states.trees import GoldTree, attached_arcs, gold_tree, in_a_row, is_tree, spanning_trees

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


@pytest.mark.parametrize("words", [2, 5, 30])
def test_trees_weigh_as_much_as_those_of_scipy(words: int) -> None:
    draws = np.random.default_rng(words).random((20, words, words))
    weights = draws + draws.transpose(0, 2, 1)
    for own, tree in zip(weights, spanning_trees(weights), strict=True):
        assert tree.sum() == 2 * (words - 1)
        assert (tree == tree.T).all()
        theirs = minimum_spanning_tree(np.triu(10 - own, 1)).toarray() > 0
        assert np.array_equal(np.triu(tree), theirs | np.triu(theirs.T))


SAIL = """
ships    NOUN  3 nsubj  _
,        PUNCT 1 punct  _
sail     VERB  0 root   _
past     ADV   3 advmod _
harbours NOUN  3 obl    _
.        PUNCT 3 punct  _
"""
FEW = "no DET 2 det _\nships NOUN 3 nsubj _\nsail VERB 0 root _"


def test_arcs_of_all_heads_are_those_of_a_plain_recomputation(tree: Callable[..., Sentence]) -> None:
    model = load_model("minilm")
    first, other = (Document(name, (tree(rows, name=name),)) for name, rows in (("s", SAIL), ("t", FEW)))
    aligned = Aligned.of(model, MemoryTexts([first, other]))
    places = {number: place for place, number in enumerate(aligned.kept)}
    gold = gold_tree(first)
    assert gold is not None
    trees = [gold if number == 0 else None for number in aligned.kept]
    ours = attached_arcs(model, aligned, trees, Settings())
    both = attached_arcs(
        model, aligned, [gold if number == 0 else gold_tree(other) for number in aligned.kept], Settings()
    )
    assert (both[0] - ours[0] <= 2).all()
    assert (both[0] > ours[0]).any()
    seen: list[np.ndarray] = []
    batch = collate([aligned.pieces[places[0]]])
    stream_maps(model, batch, lambda layer, maps: seen.append(maps[0].numpy().copy()))
    maps = np.stack(seen)  # [layer, head, query, key]
    for layer in range(model.layers):
        for head in range(model.heads):
            own = maps[layer, head][np.ix_(gold.words, gold.words)].astype(np.float64)
            edges = minimum_spanning_tree(np.triu(10 - (own + own.T), 1)).tocoo()
            pairs = {
                frozenset((int(gold.words[a]), int(gold.words[b]))) for a, b in zip(edges.row, edges.col, strict=True)
            }
            right = pairs & {*gold.arcs}
            places = gold.words.tolist()
            far = [arc for arc in right if abs(places.index(min(arc)) - places.index(max(arc))) > 1]
            assert ours[:, layer, head].tolist() == [len(right), len(far)]
