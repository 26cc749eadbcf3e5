from collections.abc import Callable

import numpy as np
import pytest
import torch

import probes.trained.parser_scores as parsed_module
from mha import CLS, SEP, Model, collate, stream_maps
from probes import Document, Sentence, Settings
from probes.corpora.corpus import MemoryTexts
from probes.scoring.aligned import Aligned
from probes.trained.head_vectors import embedding_of
from probes.trained.parser import PADDING, Treebank
from probes.trained.parser_scores import (
    NEXT,
    Parsed,
    control_heads,
    distances,
    next_word,
    parser_table,
    read_trees,
    sample_sentences,
    word_vectors,
    wordless,
)

Make = Callable[..., list[Document]]
TREE = """
the   DET   2 det   _
ship  NOUN  3 nsubj _
sank  VERB  0 root  _
.     PUNCT 3 punct _
"""
SHORT = "she PRON 2 nsubj _\nsank VERB 0 root _"


@pytest.fixture
def texts(tree: Callable[..., Sentence]) -> MemoryTexts:
    return MemoryTexts([Document("a", (tree(TREE),)), Document("b", (tree(SHORT, name="t"),))])


@pytest.fixture
def parsed(model: Model, texts: MemoryTexts) -> Parsed:
    aligned = Aligned.of(model, texts)
    return read_trees(model, aligned, [0, 1], Settings(), word_vectors(model, 3))


def test_gold_heads_roots_and_punctuation(parsed: Parsed) -> None:
    (bank,) = parsed.banks
    longer = int(bank.real.sum(1).argmax())
    assert bank.gold[longer].tolist() == [1, 2, 4, 2]
    assert bank.gold[1 - longer].tolist() == [1, 2, PADDING, PADDING]
    assert parsed.scored[0][longer].tolist() == [True, True, True, False]
    assert parsed.scored[0][1 - longer].tolist() == [True, True, False, False]
    assert parsed.words == 6


def test_control_heads_go_by_word_forms(parsed: Parsed) -> None:
    """The offsets of the two trees: one before, three ahead, two roots."""
    assert parsed.offsets == [-1, 0, 0, 1, 1, 1]
    forms = ("the", "ship", "the")
    assert control_heads(forms, [1], 0) == [1, 2, 1], "the last word has the nearest other one"
    assert control_heads(forms, [-9], 0) == [1, 0, 0]
    assert control_heads(forms, [0], 0) == [3, 3, 3]
    assert control_heads(("sank",), [2], 0) == [1], "a word alone is the root"
    control = parsed.control(parsed.offsets, 0)
    for bank, forms_of, other in zip(control.banks, control.forms, parsed.banks, strict=True):
        np.testing.assert_array_equal(bank.real, other.real)
        for row, some in enumerate(forms_of):
            assert bank.gold[row, : len(some)].tolist() == control_heads(some, parsed.offsets, 0)


def test_maps_ends_and_vectors_are_those_of_each_text_alone(model: Model, random_documents: Make) -> None:
    aligned = Aligned.of(model, MemoryTexts([one for text in random_documents(8) for one in text.split_sentences()]))
    numbers, vectors = sample_sentences(aligned, 10, 0), word_vectors(model, 3)
    found = read_trees(model, aligned, numbers, Settings(batch_pieces=40), vectors)
    trees = [tuple(aligned.texts.take([number])[0].heads.tolist()) for number in numbers]
    documents = {tree: number for tree, number in zip(trees, numbers, strict=True) if trees.count(tree) == 1}
    checked = 0
    for bank in found.banks:
        for row, gold in enumerate(bank.gold):
            n = int((gold != PADDING).sum())
            tree = tuple(-1 if int(head) == n else int(head) for head in gold[:n])
            if tree not in documents:
                continue  # another sentence has the same
            number = documents[tree]
            layers: list[torch.Tensor] = []
            batch = collate([aligned.pieces[number]])
            stream_maps(model, batch, lambda layer, maps: layers.append(maps[0].clone()))  # noqa: B023  # called at once
            maps = torch.cat(layers)
            np.testing.assert_allclose(bank.maps[row, :n, :n], maps[:, :n, :n].permute(1, 2, 0), atol=1e-5)
            ends = torch.cat([maps[:, :n, CLS], maps[:, :n, SEP]]).T
            np.testing.assert_allclose(bank.ends[row, :n], ends, atol=1e-5)
            first = aligned.pieces[number]
            mean = vectors[first.ids[first.word == 0]].mean(0)
            np.testing.assert_allclose(bank.vectors[row, 0], mean, atol=1e-6)
            checked += 1
    assert checked == len(documents) > 4


def test_sentences_without_a_whole_tree_are_counted(model: Model, tree: Callable[..., Sentence]) -> None:
    two_roots = tree("she PRON 0 root _\nsank VERB 0 root _", name="two")
    bare = Sentence("bare", ("she", "sank"), two_roots.heads, ("", ""))
    texts = [Document("d", (one,)) for one in (tree(TREE), two_roots, bare)]
    aligned = Aligned.of(model, MemoryTexts(texts))
    assert sample_sentences(aligned, 9, 0) == [0]
    assert aligned.dropped.counts == {"sentence without a whole tree": 2}


def test_distances_say_how_far_the_head_is_and_nothing_else(parsed: Parsed) -> None:
    bank = distances(wordless(parsed.banks[0]))
    assert bank.ends.shape[2] == bank.vectors.shape[2] == 0
    assert bank.maps.sum(-1).eq(1).all()
    assert int(bank.maps[0, 1, 3].argmax()) == parsed_module.REACH + 2
    assert int(bank.maps[0, 3, 0].argmax()) == parsed_module.REACH - 3
    far = Treebank(torch.zeros(1, 30, 30, 1), torch.zeros(1, 30, 2), torch.zeros(1, 30, 0), torch.zeros(1, 30).long())
    assert int(distances(far).maps[0, 0, 29].argmax()) == 2 * parsed_module.REACH


def test_word_vectors_are_components_of_the_embedding(model: Model) -> None:
    vectors, table = word_vectors(model, 3).double(), embedding_of(model).double()
    centred = table - table.mean(0)
    assert vectors[:, 0].var(unbiased=False) == pytest.approx(1, abs=1e-4)
    kept = (vectors.var(0) / vectors[:, 0].var()).numpy()
    spectrum = torch.linalg.svdvals(centred).square()[:3]
    np.testing.assert_allclose(kept, spectrum / spectrum[0], rtol=1e-3)


def test_the_next_word_is_the_head_and_the_last_word_the_root() -> None:
    gold = torch.tensor([[1, 2, 4, 2], [1, 2, PADDING, PADDING]])
    bank = Treebank(torch.zeros(2, 4, 4, 1), torch.zeros(2, 4, 2), torch.zeros(2, 4, 0), gold)
    assert (next_word(bank) == gold).tolist() == [[True, True, False, False]] * 2


def small(random_documents: Make, seed: int) -> MemoryTexts:
    return MemoryTexts([one for text in random_documents(12, seed=seed) for one in text.split_sentences()])


@pytest.mark.slow
def test_the_table_has_a_row_a_parser_beside_the_next_word(model: Model, random_documents: Make) -> None:
    sides = [small(random_documents, seed) for seed in (0, 1)]
    told: list[str] = []
    table, aligned = parser_table(
        model, model, sides, Settings(), sentences=20, replicates=50, seed=0, step=told.append
    )
    assert table.parser.tolist() == [
        *(NEXT, "attention", "attention + words", "distances", "distances + words"),
        *("attention", "attention + words"),
    ]
    assert table.weights.tolist() == ["none", "trained", "trained", "none", "none", "random", "random"]
    assert len(told) == 6
    assert (table.margin[0], table.parameters[0], table.n_select[0]) == (0, 0, 0)
    np.testing.assert_allclose(table.margin, table.uas - table.uas[0])
    np.testing.assert_allclose(table.selectivity, table.uas - table.control_uas)
    assert ((table.selectivity_low <= table.selectivity) & (table.selectivity <= table.selectivity_high)).all()
    assert table.n.nunique() == 1
    one, other = table[table.parser == "attention"].drop(columns="weights").to_dict("records")
    assert one == other, "the same model twice"
    assert (one["parameters"], len(aligned)) == (6 * 2 + 13, 2)
    again, _ = parser_table(model, None, sides, Settings(), sentences=20, replicates=50, seed=0)
    np.testing.assert_array_equal(again.uas, table.uas[:5])
