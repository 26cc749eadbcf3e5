"""Heads that a fine-tuned MiniLM needs for a rule: training it, what an exchange does, and where a ranking is cut."""

from itertools import islice, product
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
import torch
from transformers import BertConfig, BertForTokenClassification

from experiments.bench import rules
from headscope import load
from probes.causal.ablation import RESAMPLE, ZERO, measure
from probes.causal.ablation_table import measures
from probes.pairs.number_swaps import RULES, gapped_rows
from reports.tables.shared_columns import LOGIT
from tests.probes.causal.test_rule_classifiers import SIZE, word_tokenizer

EVERY = tuple(product(range(2), range(4)))


@pytest.mark.parametrize("start", [rules.FROZEN, rules.PRETRAINED, rules.RANDOM])
def test_a_classifier_is_trained_at_the_gap_from_the_weights_that_its_start_names(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, start: str
) -> None:
    """A logistic regression whose bias is free has the labels' own shares as its mean probabilities: 3 of 4 and 1."""
    rows = pd.DataFrame(islice(gapped_rows("reflexive", seed=0), 40))
    himself = [{"himself"} <= {*label} for label in rows.label]
    rows = pd.concat([rows[himself][:15], rows[~np.array(himself)][:5]], ignore_index=True)
    words = word_tokenizer([*map(" ".join, rows.words)])
    given = BertForTokenClassification(BertConfig(vocab_size=len(words), pad_token_id=0, **SIZE))
    given.save_pretrained(tmp_path / "given")
    words.save_pretrained(tmp_path / "given")
    monkeypatch.setenv("HEADSCOPE_CACHE", str(tmp_path / "cache"))
    monkeypatch.setattr(rules, "find_model", lambda name: tmp_path / "given")
    monkeypatch.setattr(rules, "BATCH", 10)
    rules.classifier(rows, start, seed=0)
    (folder,) = (tmp_path / "cache" / "objects").iterdir()
    trained = BertForTokenClassification.from_pretrained(folder)
    same = torch.equal(trained.bert.embeddings.word_embeddings.weight, given.bert.embeddings.word_embeddings.weight)
    assert same == (start == rules.FROZEN)
    if start == rules.FROZEN:
        texts = [words(" ".join(one), return_tensors="pt") for one in rows.words]
        with torch.no_grad():
            logits = [trained(**text).logits[0, 1 + gap] for text, gap in zip(texts, rows.gap, strict=True)]
            found = torch.stack(logits).softmax(1).mean(0)
        share = {trained.config.id2label[place]: float(one) for place, one in enumerate(found)}
        assert share == {"himself": pytest.approx(0.75, abs=0.01), "herself": pytest.approx(0.25, abs=0.01)}


def test_attention_from_the_gap_to_the_subject_and_to_the_other_noun_is_the_mean_over_rows(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Head 1-1 gives the subject 0.2 and 0.4, the other noun 0.6 and 0; head 1-2 nothing to either."""
    maps = {"a": np.zeros((1, 2, 3, 5)), "b": np.zeros((1, 2, 3, 5))}
    maps["a"][0, 0, 1, [0, 2]] = 0.2, 0.6
    maps["b"][0, 0, 2, [1, 0]] = 0.4, 0.0
    maps["b"][0, 0, 0, :] = 0.9  # from no gap
    monkeypatch.setattr(rules, "align", lambda tokenizer, texts: [words[0] for words in texts])
    monkeypatch.setattr(rules, "word_level", lambda model, name, settings: maps[name])
    rows = pd.DataFrame({"words": [["a"], ["b"]], "gap": [1, 2], "nouns": [[0, 2], [1, 0]]})
    assert rules.attended(SimpleNamespace(tokenizer=None), rows) == pytest.approx(np.array([[30, 30], [0, 0]]))


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
