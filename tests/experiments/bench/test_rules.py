"""Heads that a fine-tuned MiniLM needs for a rule: what an exchange does, and where a ranking is cut."""

from itertools import islice, product

import numpy as np
import pandas as pd
import pytest
import torch
from transformers import BertConfig, BertForTokenClassification

from experiments.bench import rules
from headscope import load
from probes.causal.ablation import RESAMPLE, ZERO, measure
from probes.causal.ablation_table import LOGIT, measures
from probes.pairs.number_swaps import RULES, gapped_rows
from tests.probes.causal.test_rule_classifiers import SIZE, word_tokenizer

EVERY = tuple(product(range(2), range(4)))


@pytest.mark.parametrize("rule", RULES)
def test_with_all_heads_exchanged_a_row_has_the_answer_of_the_other_row_of_its_group(rule: str) -> None:
    rows = pd.DataFrame(islice(gapped_rows(rule, seed=0), 20))
    names = sorted({one for label in rows.label for one in label if one})
    torch.manual_seed(0)
    words = word_tokenizer([*map(" ".join, rows.words)])
    config = BertConfig(vocab_size=len(words), pad_token_id=0, **SIZE | {"id2label": dict(enumerate(names))})
    asked = rules.behaviour(load(BertForTokenClassification(config), words), rows)
    intact, exchanged = (
        next(one for one in measures(asked, measure(asked, [heads], RESAMPLE).numpy()) if one.name == LOGIT).values[0]
        for heads in ((), EVERY)
    )
    other = [
        next(j for j, two in enumerate(asked.clusters) if two == one and j != i) for i, one in enumerate(asked.clusters)
    ]
    assert np.abs(intact).min() > 0
    assert exchanged == pytest.approx(-intact[other], abs=1e-5), "its gold label is the other one"


def test_a_ranking_is_cut_where_the_accuracy_is_low_enough(monkeypatch: pytest.MonkeyPatch) -> None:
    """By cost the order is 1-4, 1-2, 1-1, 1-3; 100 % with all, 60 % without two, 50 % without four."""
    monkeypatch.setattr(
        rules, "accuracies", lambda decisions, sets, how: [{0: 100.0, 2: 60.0, 4: 50.0}[len(one)] for one in sets]
    )
    cost = pd.Series([0.1, 0.3, -0.2, 0.9])
    first, others, curve = rules.first(None, (1, 4), cost, ZERO, 60)
    assert (first, others, curve) == ([(0, 3), (0, 1)], [(0, 0), (0, 2)], [100, 60, 50])
    assert len(rules.first(None, (1, 4), cost, ZERO, 59)[0]) == 4
