from collections.abc import Callable

import numpy as np
import pytest
import torch

from mha import Model
from probes import Document, Settings
from probes.corpora.corpus import MemoryTexts
from probes.trained.parser import PADDING, Treebank
from probes.trained.parser_scores import NEXT, next_word, parser_table

Make = Callable[..., list[Document]]


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
