import numpy as np
import pytest
from scipy.sparse.csgraph import minimum_spanning_tree

from mha import collate, load_model
from mha.models.maps import stream_maps
from probes.corpora.corpus import MemoryTexts
from probes.records import Document, Sentence, frozen_ints
from probes.scoring.aligned import Aligned
from probes.scoring.score import Settings
from probes.states.trees import attached_arcs, gold_tree, spanning_trees


@pytest.mark.parametrize("words", [2, 5, 30])
def test_trees_weigh_as_much_as_those_of_scipy(words: int) -> None:
    draws = np.random.default_rng(words).random((20, words, words))
    weights = draws + draws.transpose(0, 2, 1)
    for own, tree in zip(weights, spanning_trees(weights), strict=True):
        assert tree.sum() == 2 * (words - 1)
        assert (tree == tree.T).all()
        theirs = minimum_spanning_tree(np.triu(10 - own, 1)).toarray() > 0
        assert np.array_equal(np.triu(tree), theirs | np.triu(theirs.T))


def sentence(words: str, heads: list[int], upos: list[str], name: str = "s") -> Document:
    forms = tuple(words.split())
    parts = Sentence(name, forms, frozen_ints(heads), ("dep",) * len(forms), tuple(upos))
    return Document(name, (parts,))


TAGS = ["NOUN", "PUNCT", "VERB", "ADV", "NOUN", "PUNCT"]
TREE = sentence("ships , sail past harbours .", [2, 0, -1, 2, 2, 2], TAGS)


def test_punctuation_has_no_part_in_a_tree() -> None:
    tree = gold_tree(TREE)
    assert tree is not None
    assert tree.words.tolist() == [0, 2, 3, 4]
    assert set(tree.arcs) == {frozenset((0, 2)), frozenset((3, 2)), frozenset((4, 2))}


def test_arcs_of_all_heads_are_those_of_a_plain_recomputation() -> None:
    model = load_model("minilm")
    other = sentence("no ships sail", [1, 2, -1], ["DET", "NOUN", "VERB"], "t")
    aligned = Aligned.of(model, MemoryTexts([TREE, other]))
    places = {number: place for place, number in enumerate(aligned.kept)}
    tree = gold_tree(TREE)
    assert tree is not None
    trees = [tree if number == 0 else None for number in aligned.kept]
    ours = attached_arcs(model, aligned, trees, Settings())
    both = attached_arcs(
        model, aligned, [tree if number == 0 else gold_tree(other) for number in aligned.kept], Settings()
    )
    assert (both[0] - ours[0] <= 2).all()
    assert (both[0] > ours[0]).any()
    seen: list[np.ndarray] = []
    batch = collate([aligned.pieces[places[0]]])
    stream_maps(model, batch, lambda layer, maps: seen.append(maps[0].numpy().copy()))
    maps = np.stack(seen)  # [layer, head, query, key]
    for layer in range(model.layers):
        for head in range(model.heads):
            own = maps[layer, head][np.ix_(tree.words, tree.words)].astype(np.float64)
            edges = minimum_spanning_tree(np.triu(10 - (own + own.T), 1)).tocoo()
            pairs = {
                frozenset((int(tree.words[a]), int(tree.words[b]))) for a, b in zip(edges.row, edges.col, strict=True)
            }
            right = pairs & {*tree.arcs}
            places = tree.words.tolist()
            far = [arc for arc in right if abs(places.index(min(arc)) - places.index(max(arc))) > 1]
            assert ours[:, layer, head].tolist() == [len(right), len(far)]
