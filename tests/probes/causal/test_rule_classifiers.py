"""Classifiers of the grammar's rules: which heads they need where that is known, and that none is needed by chance."""

from collections.abc import Sequence
from itertools import combinations, islice
from typing import Any

import numpy as np
import pandas as pd
import pytest
import torch
from tokenizers import Tokenizer, models, pre_tokenizers
from transformers import BertConfig, BertForSequenceClassification, PreTrainedTokenizerFast

from headscope import ablate, load
from mha import Model
from probes.causal.ablation import Heads, measure, single_heads
from probes.causal.ablation_table import ablation_table, measures
from probes.causal.behaviours import Behaviour
from probes.causal.labelled_rows import labelled_rows
from probes.causal.labels import TEXTS, Classifier, labels
from probes.evidence.question import Effort
from probes.grammar import lexicon
from probes.pairs.number_swaps import RULES, rule_rows
from probes.scoring.tally import Numbers
from reports.tables.shared_columns import ACCURACY, LOGIT, VALUE
from tests.probes.causal.test_labels import SPECIAL, wrapped

SIZE: dict[str, Any] = {"hidden_size": 32, "num_hidden_layers": 2, "num_attention_heads": 4, "intermediate_size": 32}
SIZE |= {"max_position_embeddings": 64, "id2label": {0: "wrong", 1: "right"}, "initializer_range": 0.1}
NOUN, PLACE, NOUN_SIDE, FORM, FORM_SIDE, NOUN_READ, FORM_READ, AGREE, KNOWN = range(9)
"Dimensions that mean something: what kind of word, how far right, and on which side a noun or form is, -1 or 1."


def word_tokenizer(texts: Sequence[str]) -> PreTrainedTokenizerFast:
    vocabulary = {word: i for i, word in enumerate((*SPECIAL, *sorted({w for text in texts for w in text.split()})))}
    fast = Tokenizer(models.WordLevel(vocabulary, unk_token="[UNK]"))
    fast.pre_tokenizer = pre_tokenizers.WhitespaceSplit()
    return wrapped(fast)


def simple_rows(rule: str, seed: int, count: int) -> tuple[pd.DataFrame, dict[str, int], dict[str, int]]:
    """Return groups of four rows whose subject is the first noun, with one form that shows its side; and the sides."""
    every = list(islice(rule_rows(rule, seed), 4 * count))
    other_side = {one.plural for one in lexicon.NOUNS} | {one.singular for one in lexicon.NOUNS if one.gender == "Fem"}
    nouns: dict[str, int] = {}
    forms: dict[str, int] = {}
    groups = []
    for four in (every[i : i + 4] for i in range(0, len(every), 4)):
        first, second, third, _ = (one["text"].split() for one in four)
        noun = next(i for i, (one, other) in enumerate(zip(first, third, strict=True)) if one != other)
        form = next(i for i, (one, other) in enumerate(zip(first, second, strict=True)) if one != other)
        sides = {words[noun].lower(): 1 if words[noun].lower() in other_side else -1 for words in (first, third)}
        nouns |= sides
        forms |= {first[form]: sides[first[noun].lower()], second[form]: -sides[first[noun].lower()]}
        groups.append((four, first, noun))
    kept = [
        row
        for four, words, noun in groups
        for row in four
        if not any(word.lower() in nouns for word in words[:noun]) and sum(word in forms for word in words) == 1
    ]
    return pd.DataFrame(kept), nouns, forms


def planted(
    fast: PreTrainedTokenizerFast, nouns: dict[str, int], forms: dict[str, int], seed: int
) -> tuple[BertForSequenceClassification, list[tuple[int, int]]]:
    """Return a classifier that follows a rule, and its two heads, which bring to every piece the sides of two words.

    One attends to the first noun, the other to the form of the rule. The last feed-forward net adds both sides, which
    is far from 0 where they agree. The other heads, of random weights, write to dimensions that mean nothing. Two large
    dimensions are the same for all words, so that LayerNorm leaves the others as they are.
    """
    torch.manual_seed(seed)
    chosen = np.random.default_rng(seed).permutation(8)[:2].tolist()
    heads = [divmod(place, 4) for place in chosen]
    vocabulary = fast.get_vocab()
    module = BertForSequenceClassification(BertConfig(vocab_size=len(vocabulary), pad_token_id=0, **SIZE)).eval()
    bert = module.bert
    with torch.no_grad():
        table, places, types = (
            getattr(bert.embeddings, f"{name}_embeddings").weight for name in ("word", "position", "token_type")
        )
        for weight in (table, places, types):
            weight[:, :KNOWN] = 0
            weight[:, -2:] = 0
        types[:, -2:] = torch.tensor([8.0, -8])
        places[:, PLACE] = -0.2 * torch.arange(64)
        for word, number in vocabulary.items():
            for sides, kind, side in ((nouns, NOUN, NOUN_SIDE), (forms, FORM, FORM_SIDE)):
                if word.lower() in sides:
                    table[number, kind], table[number, side] = 3, 2.0 * sides[word.lower()]
        for write in (part.output.dense.weight for block in bert.encoder.layer for part in (block, block.attention)):
            write[[*range(KNOWN), -2, -1]] = 0
            write[KNOWN:-2] -= write[KNOWN:-2].mean(0)
        for (layer, head), read in zip(
            heads, ((NOUN, NOUN_SIDE, NOUN_READ), (FORM, FORM_SIDE, FORM_READ)), strict=True
        ):
            _plant(bert.encoder.layer[layer].attention, head, *read)
        last = bert.encoder.layer[-1]
        for unit, sign in enumerate((1.0, -1.0)):
            last.intermediate.dense.weight[unit] = 0
            last.intermediate.dense.weight[unit, [NOUN_READ, FORM_READ]] = 2 * sign
            last.output.dense.weight[:, unit] = 0
            last.output.dense.weight[AGREE, unit] = 0.5
        bert.pooler.dense.weight[:] = 0
        bert.pooler.dense.weight[0, AGREE], bert.pooler.dense.bias[0] = 2, -2
        module.classifier.weight[:] = 0
        module.classifier.weight[:, 0] = torch.tensor([-3.0, 3])
    return module, heads


def _plant(attention: Any, head: int, kind: int, side: int, read: int) -> None:
    rows = slice(8 * head, 8 * head + 8)
    own = attention.self
    for part in (own.query, own.key, own.value):
        part.weight[rows] = 0
    own.query.bias[8 * head] = 8**0.5
    own.key.weight[8 * head, [kind, PLACE]] = torch.tensor([60.0, 30])
    own.value.weight[8 * head, side] = 1
    attention.output.dense.weight[:, rows] = 0
    attention.output.dense.weight[read, 8 * head] = 4


def behaviour(model: Model, rows: pd.DataFrame) -> Behaviour:
    return labels(Classifier.of(model, TEXTS), "rows", labelled_rows(rows))


def accuracy(asked: Behaviour, sets: Sequence[Heads]) -> list[float]:
    (found,) = (one for one in measures(asked, measure(asked, sets).numpy()) if one.name == ACCURACY)
    return [float(one) for one in found.values.mean(1)]


@pytest.mark.parametrize("rule", RULES)
def test_the_planted_heads_come_first_in_ten_of_ten_seeds_and_the_rule_is_lost_with_them_alone(rule: str) -> None:
    for seed in range(10):
        rows, nouns, forms = simple_rows(rule, seed, 60)
        fast = word_tokenizer([*rows.text])
        module, heads = planted(fast, nouns, forms, seed)
        model = load(module, fast)
        table = ablate(model, "each", rows)
        names = {f"{layer + 1}-{head + 1}" for layer, head in heads}
        assert {table.rows[0][0], table.rows[1][0]} == names, f"seed {seed}: {table.rows[:3]}"
        costs = table.frame.set_index(["measure", "name"])
        assert (costs.loc[[(VALUE, name) for name in names], "p_adjusted"] < 0.05).all()
        others = [one for one in ((layer, head) for layer in range(2) for head in range(4)) if one not in heads]
        intact, without, *random = accuracy(behaviour(model, rows), [(), tuple(heads), *combinations(others, 2)])
        assert (intact > 0.85, without, min(random) > intact - 0.05) == (True, 0.5, True), (intact, without, random)


def uniform(size: int, seed: int) -> BertForSequenceClassification:
    """Return a classifier of random weights all of whose heads attend to all pieces alike."""
    torch.manual_seed(seed)
    shape = SIZE | {"initializer_range": 0.3}
    module = BertForSequenceClassification(BertConfig(vocab_size=size, pad_token_id=0, **shape)).eval()
    for block in module.bert.encoder.layer:
        for part in (block.attention.self.query, block.attention.self.key):
            torch.nn.init.zeros_(part.weight)
    return module


def by_text(asked: Behaviour, sets: Sequence[Heads]) -> Numbers:
    """Return values [set, measure * row] of rows in the order of their texts, whatever their labels are."""
    order = sorted(range(len(asked.prompts)), key=lambda item: asked.prompts[item].text.ids.tobytes())
    return measure(asked, sets).numpy().reshape(len(sets), -1, len(order))[:, :, order].reshape(len(sets), -1)


@pytest.mark.slow
def test_of_heads_that_know_nothing_of_the_labels_one_is_significant_in_a_run_of_twenty() -> None:
    """Heads attend uniformly, and a coin decides the labels: their attention does nothing, their values nothing right.

    In place of a head its uniform attention changes nothing. Zero changes what is predicted, but not for the better or
    worse, by accuracy and logit difference. The log-loss of a coin is lower the less certain a classifier is, so heads
    have an effect on it: its mean over both sides of the coin. Against that one is not significant.
    """
    every = pd.DataFrame(islice(rule_rows("agreement", 0), 4000)).drop(columns="group")
    fast, sets, runs = word_tokenizer([*every.text]), single_heads(2, 4), 50
    ablated = [(), *(one.heads for one in sets)]
    found = dict.fromkeys((ACCURACY, LOGIT, VALUE), 0)
    against = 0
    for seed in range(20):
        model, rows = load(uniform(len(fast), seed), fast), every.sample(60, random_state=seed)
        right, wrong = (behaviour(model, rows.assign(label=label)) for label in ("right", "wrong"))
        same = measure(right, ablated, "uniform").numpy()
        assert (ablation_table(right, "uniform", sets, same, Effort(50, seed)).p_adjusted == 1).all()
        heads, tails = (by_text(one, ablated) for one in (right, wrong))
        expected = (heads + tails)[:, :60].mean(1) / 2
        random = np.random.default_rng(seed)
        for _ in range(runs):
            values = np.where(np.tile(random.integers(0, 2, 60), 3), heads, tails)
            costs = ablation_table(right, "zero", sets, values, Effort(50, seed))
            for name in found:
                told = costs[costs.measure == name]
                significant = told.p_adjusted < 0.05
                found[name] += bool(significant.any())
                if name == VALUE:
                    against += bool((significant & (told.cost * (expected[0] - expected[1:]) < 0)).any())
    shares = {name: count / (20 * runs) for name, count in found.items()}
    assert shares == pytest.approx({ACCURACY: 0.002, LOGIT: 0.02, VALUE: 0.84}, abs=0.015)
    assert against / (20 * runs) == pytest.approx(0.002, abs=0.01)


def test_rows_of_a_group_are_one_cluster_and_others_each_their_own() -> None:
    rows = pd.DataFrame(islice(rule_rows("agreement", 0), 40))
    fast = word_tokenizer([*rows.text])
    model = load(uniform(len(fast), 0), fast)
    assert len(set(behaviour(model, rows).clusters)) == rows.group.nunique() < len(rows) / 4
    assert len(set(behaviour(model, rows.assign(group=None)).clusters)) == len(rows)
