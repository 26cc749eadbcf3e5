"""What a classifier decides of labelled rows: as transformers itself has it, and which heads it takes."""

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any, cast

import numpy as np
import pandas as pd
import pytest
import torch
from tokenizers import Tokenizer, models, pre_tokenizers, processors
from transformers import (
    BertConfig,
    BertForMultipleChoice,
    BertForSequenceClassification,
    BertModel,
    DistilBertConfig,
    DistilBertForTokenClassification,
    ModernBertConfig,
    ModernBertForSequenceClassification,
    PreTrainedTokenizerFast,
    XLNetConfig,
    XLNetForSequenceClassification,
)

from headscope import ablate, load
from mha import Model, ModelError
from probes.causal.ablation import Heads, measure, single_heads
from probes.causal.ablation_table import ablation_table, measures
from probes.causal.behaviours import Behaviour, BehaviourError
from probes.causal.decisions import Labels
from probes.causal.gradients import slopes
from probes.causal.labelled_rows import LabelError, has_labels, labelled_rows
from probes.causal.labels import CHOICES, TEXTS, Classifier, head_for, label_lead, labels
from probes.causal.labels import WORDS as OF_WORDS
from probes.causal.pruning import taken
from probes.corpora.line_reader import CorpusError
from probes.evidence.question import Effort
from reports.tables.shared_columns import ACCURACY, LOGIT, VALUE

WORDS = ["good", "fine", "bad", "poor", "the", "a", "film", "book", "is", "was", "very", "so"]
SPECIAL = ("[PAD]", "[UNK]", "[CLS]", "[SEP]")
SIZE: dict[str, Any] = {"vocab_size": len(SPECIAL) + len(WORDS), "initializer_range": 0.4, "pad_token_id": 0}
BERT = {"hidden_size": 32, "num_hidden_layers": 2, "num_attention_heads": 4, "intermediate_size": 32}
BERT |= {"max_position_embeddings": 24}
DISTIL = {"dim": 32, "n_layers": 2, "n_heads": 4, "hidden_dim": 32, "max_position_embeddings": 24}


def tokenizer(*inputs: str) -> PreTrainedTokenizerFast:
    """Return one of WORDS, which gives a model these `inputs` too."""
    vocabulary = {piece: number for number, piece in enumerate((*SPECIAL, *WORDS))}
    fast = Tokenizer(models.WordPiece(vocabulary, unk_token="[UNK]"))
    fast.pre_tokenizer = pre_tokenizers.Whitespace()
    return wrapped(fast, *inputs)


def wrapped(fast: Tokenizer, *inputs: str) -> PreTrainedTokenizerFast:
    """Return a tokenizer, whose vocabulary begins with SPECIAL, as `transformers` has it."""
    fast.post_processor = processors.TemplateProcessing(
        single="[CLS] $A [SEP]", pair="[CLS] $A [SEP] $B:1 [SEP]:1", special_tokens=[("[CLS]", 2), ("[SEP]", 3)]
    )
    names = dict(zip(("pad_token", "unk_token", "cls_token", "sep_token"), SPECIAL, strict=True))
    return PreTrainedTokenizerFast(
        tokenizer_object=fast, model_input_names=["input_ids", *inputs, "attention_mask"], **names
    )


def texts(count: int, seed: int = 0) -> list[str]:
    random = np.random.default_rng(seed)
    return [" ".join(random.choice(WORDS, random.integers(1, 9))) for _ in range(count)]


def decided(model: Model, table: pd.DataFrame | Path) -> Behaviour:
    rows = labelled_rows(table)
    return labels(Classifier.of(model, head_for(rows)), "rows", rows)


def means(behaviour: Behaviour, heads: Heads = ()) -> dict[str, float]:
    return {one.name: one.values.mean() for one in measures(behaviour, measure(behaviour, [heads]).numpy())}


@torch.no_grad()
def logits(module: Any, fast: Any, *text: str) -> torch.Tensor:
    """Return what transformers itself gives, one row at a time."""
    given: torch.Tensor = module.eval()(**fast(*text, return_tensors="pt")).logits[0]
    return given


@pytest.mark.parametrize("types", [(), ("token_type_ids",)])
def test_of_pairs_accuracy_loss_and_logit_are_those_of_transformers(types: tuple[str, ...]) -> None:
    torch.manual_seed(0)
    module, fast = BertForSequenceClassification(BertConfig(num_labels=3, **SIZE, **BERT)).train(), tokenizer(*types)
    before = {name: weight.clone() for name, weight in module.state_dict().items()}
    table = pd.DataFrame({"text": texts(30), "text_pair": texts(30, 1), "label": [0, "LABEL_1", 2] * 10})
    found = means(decided(load(module, fast), table))
    assert module.training
    assert all(torch.equal(before[name], weight) for name, weight in module.state_dict().items())
    given = torch.stack([logits(module, fast, one, other) for one, other in table[["text", "text_pair"]].to_numpy()])
    gold = torch.tensor([0, 1, 2] * 10)
    assert found[ACCURACY] == pytest.approx(float((given.argmax(1) == gold).float().mean()))
    assert found[VALUE] == pytest.approx(-float(torch.nn.functional.cross_entropy(given, gold)), abs=1e-5)
    others = (given.sum(1) - given[range(30), gold]) / 2
    assert found[LOGIT] == pytest.approx(float((given[range(30), gold] - others).mean()), abs=1e-5)


def test_pairs_with_one_first_text_are_one_cluster_unless_a_group_says_otherwise() -> None:
    rows = [
        ("Ann ran.", "Yes.", None),
        ("Bo sat.", "Yes.", None),
        ("Ann ran.", "No.", float("nan")),
        ("Ann ran.", "Hm.", 1),
    ]
    table = pd.DataFrame([*rows, ("Cy fell.", "Hm.", 1)], columns=["text", "text_pair", "group"]).assign(label=0)
    assert [row.group for row in labelled_rows(table)] == ["Ann ran.", "Bo sat.", "Ann ran.", "group 1.0", "group 1.0"]
    listed = table.assign(group=[["a", "b"]] * len(table))
    assert {row.group for row in labelled_rows(listed)} == {"group ['a', 'b']"}
    alone = table.drop(columns=["text_pair", "group"])
    assert [row.group for row in labelled_rows(alone)] == alone["text"].tolist(), "equal texts are one cluster"


@pytest.mark.parametrize("blank", ["", None, float("nan"), pd.NA])
def test_a_row_without_a_second_text_or_group_is_a_single_text(blank: Any) -> None:
    (row,) = labelled_rows(pd.DataFrame([{"text": "a", "text_pair": blank, "group": blank, "label": 0}], dtype=object))
    assert (row.pair, row.group) == (None, "a")


def test_of_words_each_labelled_word_counts_once() -> None:
    torch.manual_seed(1)
    names = {0: "O", 1: "B", 2: "I"}
    config = DistilBertConfig(num_labels=3, id2label=names, **SIZE, **DISTIL)
    module, fast = DistilBertForTokenClassification(config), tokenizer()
    words = [text.split() for text in texts(20)]
    gold = [[(None, "O", "B", 2)[place % 4] for place in range(len(one))] for one in words]
    behaviour = decided(load(module, fast), pd.DataFrame({"words": words, "label": gold}))
    right, lost = [], []
    for one, own in zip(words, gold, strict=True):
        given = logits(module, fast, " ".join(one))[1:-1]  # a piece a word
        for row, label in zip(given, own, strict=True):
            if label is not None:
                number = {"O": 0, "B": 1, 2: 2}[label]
                right.append(float(row.argmax() == number))
                lost.append(float(row.log_softmax(0)[number]))
    found, short = means(behaviour), sum(len(one) == 1 for one in words)
    assert (found[ACCURACY], found[VALUE]) == (pytest.approx(np.mean(right)), pytest.approx(np.mean(lost), abs=1e-5))
    assert len(behaviour.clusters) == 20 - short
    assert [one.reason for one in behaviour.left_out] == ["no word has a label"] * short
    written = [" ".join("-100" if one is None else str(one) for one in own) for own in gold]
    assert means(decided(load(module, fast), pd.DataFrame({"words": words, "label": written}))) == found


def test_of_several_labels_a_text_each_counts_as_there_or_not() -> None:
    torch.manual_seed(5)
    kind = {"problem_type": "multi_label_classification", "id2label": {0: "long", 1: "good", 2: "bad"}}
    module, fast = BertForSequenceClassification(BertConfig(**kind, **SIZE, **BERT)), tokenizer()
    gold = [["good"], ["bad", "long"], [], [2, "good"]] * 5
    found = means(decided(load(module, fast), pd.DataFrame({"text": texts(20), "label": gold})))
    given = torch.stack([logits(module, fast, text) for text in texts(20)])
    there = torch.tensor([[0.0, 1, 0], [1, 0, 1], [0, 0, 0], [0, 1, 1]] * 5)
    loss = float(torch.nn.functional.binary_cross_entropy_with_logits(given, there))
    assert (found[VALUE], found[ACCURACY], found[LOGIT]) == (
        pytest.approx(-loss, abs=1e-5),
        pytest.approx(float(((given > 0) == (there > 0)).float().mean())),
        pytest.approx(float(torch.where(there > 0, given, -given).mean()), abs=1e-5),
    )
    for marks in (there.tolist(), there.int().numpy(), [" ".join(map(str, row)) for row in there.int().tolist()]):
        assert means(decided(load(module, fast), pd.DataFrame({"text": texts(20), "label": [*marks]}))) == found
    for wrong, message in ((["fair"], "'fair' is no label"), ([1, 1], "has a label twice"), ([[1, 0]], "is no label")):
        with pytest.raises(LabelError, match=f"row 1: .*{message}"):
            decided(load(module, fast), pd.DataFrame({"text": ["the film"], "label": [wrong]}))


def test_of_two_labels_a_pair_of_no_and_yes_may_be_numbers_and_is_refused(model: Model) -> None:
    two = Classifier.of(model, TEXTS)
    (row,) = labelled_rows(pd.DataFrame({"text": ["the film"], "label": [(0, 1)]}))
    with pytest.raises(LabelError, match="may be two numbers, or say no and yes: name the labels"):
        two.labels_of(row)
    assert [two.labels_of(replace(row, label=one)) for one in ((1, 1), (0, 0), "bad good")] == [(0, 1), (), (0, 1)]


SIGMOID = {"sentence_transformers": {"activation_fn": "torch.nn.modules.activation.Sigmoid", "version": "6"}}
BCE = {"problem_type": "multi_label_classification"}


@pytest.mark.parametrize(
    ("said", "number"),
    [
        (BCE, None),
        (BCE | SIGMOID, None),
        (SIGMOID, torch.sigmoid),
        ({"sentence_transformers": {"version": "6"}}, torch.sigmoid),
        ({"sbert_ce_default_activation_function": "mine.Activation"}, torch.sigmoid),
        ({"sentence_transformers": {"activation_fn": "torch.nn.modules.linear.Identity"}}, torch.clone),
        ({}, torch.clone),
    ],
)
def test_one_logit_is_a_yes_or_no_under_bce_and_else_a_number_of_a_cross_encoder_behind_its_sigmoid(
    said: dict[str, Any], number: Callable[[torch.Tensor], torch.Tensor] | None
) -> None:
    torch.manual_seed(7)
    module, fast = BertForSequenceClassification(BertConfig(num_labels=1, **said, **SIZE, **BERT)), tokenizer()
    gold = torch.tensor([0.0, 1, 1, 0] * 5) if number is None else torch.linspace(0, 1, 20)
    model, frame = load(module, fast), pd.DataFrame({"text": texts(20), "label": gold.tolist()})
    behaviour = decided(model, frame)
    if number is torch.sigmoid:  # STS-B has 0 to 5
        with pytest.raises(LabelError, match=r"row \d+: \d\.\d+, but the model's number is behind a sigmoid, .* by 5"):
            decided(model, frame.assign(label=np.round(5 * frame["label"], 2)))
    given, found = torch.stack([logits(module, fast, text) for text in texts(20)])[:, 0], means(behaviour)
    if number is not None:
        assert found == {VALUE: pytest.approx(-float((number(given) - gold).square().mean()), rel=1e-4)}
    else:
        loss = float(torch.nn.functional.binary_cross_entropy_with_logits(given, gold))
        assert found[VALUE] == pytest.approx(-loss, abs=1e-5)
        assert found[ACCURACY] == pytest.approx(float(((given > 0) == (gold > 0)).float().mean()))


@pytest.mark.parametrize(
    ("said", "message"),
    [
        (
            {"num_labels": 1, "sbert_ce_default_activation_function": "torch.nn.modules.activation.LogSigmoid"},
            r"number is behind torch\.nn\.modules\.activation\.LogSigmoid: expected Sigmoid or Identity",
        ),
        ({"id2label": {1: "bad", 2: "good"}}, "id2label of 1, 2: expected 0 to 1, the places of its logits"),
    ],
)
def test_a_classifier_whose_numbers_cannot_be_read_is_refused(said: dict[str, Any], message: str) -> None:
    module = BertForSequenceClassification(BertConfig(**said, **SIZE, **BERT))
    with pytest.raises(ModelError, match=message):
        decided(load(module, tokenizer()), pd.DataFrame({"text": texts(4), "label": [1.0, 2.0] * 2}))


def test_special_tokens_of_ones_own_are_read_as_transformers_reads_them() -> None:
    torch.manual_seed(8)
    fast = tokenizer()
    fast.add_special_tokens({"additional_special_tokens": ["[E1]", "[/E1]"]})
    module = BertForSequenceClassification(BertConfig(num_labels=2, **{**SIZE, "vocab_size": len(fast)}, **BERT))
    marked = [f"the [E1] {text} [/E1]" for text in texts(20)]
    found = means(decided(load(module, fast), pd.DataFrame({"text": marked, "label": [0, 1] * 10})))
    given = torch.stack([logits(module, fast, text) for text in marked])
    loss = float(torch.nn.functional.cross_entropy(given, torch.tensor([0, 1] * 10)))
    assert found[VALUE] == pytest.approx(-loss, abs=1e-5)


def test_of_choices_each_row_is_one_decision() -> None:
    torch.manual_seed(6)
    module, fast = BertForMultipleChoice(BertConfig(**SIZE, **BERT)), tokenizer("token_type_ids")
    counts, first = [2, 3, 4, 3] * 5, texts(20)
    choices = [texts(count, 7 + row) for row, count in enumerate(counts)]
    table = pd.DataFrame({"text": first, "choices": choices, "label": [row % 2 for row in range(20)]})
    behaviour = decided(load(module, fast), table)
    lost, right, apart = [], [], []
    for text, some, gold in table.to_numpy():
        pairs = fast([text] * len(some), some, padding=True, return_tensors="pt")
        with torch.no_grad():
            (given,) = module.eval()(**{name: one[None] for name, one in pairs.items()}).logits
        lost.append(float(given.log_softmax(0)[gold]))
        right.append(float(given.argmax() == gold))
        apart.append(float(given[gold] - (given.sum() - given[gold]) / (len(some) - 1)))
    assert means(behaviour) == {
        **{VALUE: pytest.approx(np.mean(lost), abs=1e-5), ACCURACY: pytest.approx(np.mean(right))},
        LOGIT: pytest.approx(np.mean(apart), abs=1e-5),
    }
    values = [measure(behaviour, [(), ((0, 1),)], batch_pieces=pieces) for pieces in (20, 2000)]
    torch.testing.assert_close(*values, rtol=1e-5, atol=1e-5)
    assert len(behaviour.clusters) == 20
    with pytest.raises(LabelError, match=r"row \d+: expected two choices or more"):
        decided(behaviour.reader.model, table.assign(label=4))


def right(given: torch.Tensor, gold: torch.Tensor) -> torch.Tensor:
    return given.argmax(1) == gold


def test_a_score_of_ones_own_is_ablated_in_place_of_the_log_probability() -> None:
    module, (layer, head) = planted(1)
    model, rows = load(module, tokenizer()), opinions(40, 1)

    def brier(given: torch.Tensor, gold: torch.Tensor) -> torch.Tensor:
        return -((given.softmax(1) - torch.nn.functional.one_hot(gold, given.shape[1])) ** 2).sum(1)

    table = ablate(model, "each", rows, score=brier)
    costs = table.frame.set_index(["measure", "name"]).loc[VALUE]
    given = torch.stack([logits(module, tokenizer(), text) for text in rows.text])
    gold = torch.tensor([("bad", "good").index(label) for label in rows.label])
    assert costs.intact.iloc[0] == pytest.approx(float(brier(given, gold).mean()), abs=1e-5)
    assert (costs.cost.idxmax(), set(costs.unit)) == (f"{layer + 1}-{head + 1}", {"score"})
    with pytest.raises(
        BehaviourError, match=r"score: expected a tensor \(\d+,\), a number for each gold label, got \(\d+, 2\)"
    ):
        ablate(model, "each", rows, score=lambda given, gold: given)
    answered = ablate(model, "each", rows, score=right).frame.set_index(["measure", "name"])
    numbers = ["cost", "ci_low", "ci_high", "p", "p_adjusted"]
    pd.testing.assert_frame_equal(answered.loc[VALUE, numbers], answered.loc[ACCURACY, numbers])
    behaviour = labels(Classifier.of(model, TEXTS), "rows", labelled_rows(rows), score=right)
    with pytest.raises(BehaviourError, match="rows: what is measured has no gradient"):
        slopes(behaviour, model.layers, model.heads)


def test_of_several_numbers_it_is_the_mean_and_a_row_has_as_many() -> None:
    torch.manual_seed(2)
    config = ModernBertConfig(num_labels=3, problem_type="regression", **SIZE, **BERT)
    module, fast = ModernBertForSequenceClassification(config), tokenizer()
    gold = np.random.default_rng(0).normal(size=(20, 3))
    model, table = load(module, fast), pd.DataFrame({"text": texts(20), "label": [*gold]})
    given = np.stack([logits(module, fast, text).numpy() for text in texts(20)])
    assert means(decided(model, table)) == {VALUE: pytest.approx(-np.mean((given - gold) ** 2), rel=1e-4)}
    written = table.assign(label=[" ".join(map(str, row)) for row in gold])
    assert means(decided(model, written)) == means(decided(model, table))
    for label in ([0.5, 1.5], 0.5, [0.5, "high", 1.0], [[1, 2], [3, 4], [5, 6]]):
        with pytest.raises(LabelError, match=r"row 1: .*, expected the 3 numbers that the model should give"):
            decided(model, pd.DataFrame({"text": ["good film"], "label": [label]}))


def test_a_head_that_reads_the_last_piece_reads_no_padding() -> None:
    torch.manual_seed(3)
    config = XLNetConfig(**SIZE, d_model=32, n_layer=2, n_head=4, d_inner=32)
    module, fast = XLNetForSequenceClassification(config), tokenizer()
    lost = [float(logits(module, fast, text).log_softmax(0)[1]) for text in texts(20)]
    table = pd.DataFrame({"text": texts(20), "label": 1})
    assert means(decided(load(module, fast), table))[VALUE] == pytest.approx(np.mean(lost), abs=1e-5)


def planted(seed: int, *, reads: bool = True) -> tuple[BertForSequenceClassification, tuple[int, int]]:
    """Return a classifier, and the head that alone brings to [CLS] whether words are good (0, 1) or bad (2, 3).

    Words have that in dimension 0, the head moves it to dimension 1, and the classifier reads dimension 1; nothing else
    writes either, nor the mean of all that LayerNorm takes away. Without `reads` no head writes anything.
    """
    torch.manual_seed(seed)
    layer, head = divmod(seed * 3 % 8, 4)
    module = BertForSequenceClassification(BertConfig(num_labels=2, id2label={0: "bad", 1: "good"}, **SIZE, **BERT))
    bert = module.bert
    with torch.no_grad():
        for table in (bert.embeddings.word_embeddings, bert.embeddings.position_embeddings):
            table.weight[:, :2] = 0
            table.weight[:, 2:] -= table.weight[:, 2:].mean(1, keepdim=True)
        bert.embeddings.token_type_embeddings.weight[:] = 0
        bert.embeddings.word_embeddings.weight[4:8, 0] = torch.tensor([2.0, 2, -2, -2])
        for writes in (part.output.dense.weight for block in bert.encoder.layer for part in (block, block.attention)):
            writes[:2] = 0
            writes[2:] -= writes[2:].mean(0)
        of = bert.encoder.layer[layer].attention
        rows = slice(8 * head, 8 * head + 8)
        of.self.query.weight[rows] = 0  # it attends to all words alike
        of.self.value.weight[rows] = 0
        of.self.value.weight[8 * head, 0] = 3
        of.output.dense.weight[:, rows] = 0
        of.output.dense.weight[1, 8 * head] = 3
        for block in bert.encoder.layer if not reads else ():
            block.attention.output.dense.weight[:] = 0
        bert.pooler.dense.weight[:] = 0
        bert.pooler.dense.weight[0, 1] = 1
        module.classifier.weight[:] = 0
        module.classifier.weight[:, 0] = torch.tensor([-3.0, 3])
    return module, (layer, head)


def opinions(count: int, seed: int) -> pd.DataFrame:
    """Return texts with more good words than bad ones, or the other way round, and which."""
    random = np.random.default_rng(seed)
    rows = []
    for number in range(count):
        good = number % 2
        words = [
            *random.choice(WORDS[2 - 2 * good : 4 - 2 * good], 2),
            *random.choice(WORDS[4:], random.integers(3, 7)),
        ]
        rows.append({"text": " ".join(random.permutation(words)), "label": ("bad", "good")[good]})
    return pd.DataFrame(rows)


def test_the_planted_head_comes_first_in_ten_of_ten_seeds() -> None:
    for seed in range(10):
        module, (layer, head) = planted(seed)
        table = ablate(load(module, tokenizer()), "each", opinions(60, seed))
        assert table.rows[0][0] == f"{layer + 1}-{head + 1}", f"seed {seed}: {table.rows[:2]}"
        costs = table.frame.set_index(["measure", "name"])
        intact, *_ = costs.loc[(ACCURACY, f"{layer + 1}-{head + 1}"), ["intact", "ablated"]]
        assert intact >= 0.9
        assert costs.loc[(ACCURACY, f"{layer + 1}-{head + 1}"), "ci_low"] > 0.2
        assert costs.loc[(VALUE, f"{layer + 1}-{head + 1}"), "p_adjusted"] < 0.05


def test_of_each_head_the_largest_effects_are_shown_wherever_they_point_and_the_frame_has_all(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("experiments.heads.sentence.MOST", 5)
    rows = opinions(60, 0)
    table = ablate(load(planted(0)[0], tokenizer()), "each", rows.assign(label=rows.label.iloc[::-1].to_list()))
    costs = table.frame[table.frame.measure == LOGIT].set_index("name")
    by_size = [name for _, name in sorted((-abs(cost), name) for name, cost in costs.cost.items())]
    assert [row[0] for row in table] == by_size[:5]
    assert (len(costs), costs.cost[by_size[0]] < 0) == (8, True), "labels are wrong, and the head is a hindrance"
    assert f"The 5 largest effects of 8, {(costs.p_adjusted < 0.05).sum()} of them significant" in str(table)
    shown = table._repr_html_()
    assert (shown.count("<tr>"), "The 5 largest effects of 8" in shown) == (6, True)


def test_of_heads_that_do_nothing_none_is_significant() -> None:
    for seed in range(10):
        behaviour = decided(load(planted(seed, reads=False)[0], tokenizer()), opinions(40, seed))
        sets = single_heads(2, 4)
        values = measure(behaviour, [(), *(one.heads for one in sets)]).numpy()
        assert (ablation_table(behaviour, "zero", sets, values, Effort(200, seed))["p_adjusted"] == 1).all()


@pytest.mark.parametrize("reads", [True, False])
def test_the_lead_over_the_most_frequent_label_is_significant_only_of_a_classifier_that_knows(reads: bool) -> None:
    """Of 30 rows 20 are good; one whose heads write nothing has half of them, for all its labels tie."""
    model, rows = load(planted(0, reads=reads)[0], tokenizer()), opinions(60, 1)
    rows = pd.concat([rows[rows["label"] == "good"].head(20), rows[rows["label"] == "bad"].head(10)])
    behaviour = decided(model, rows)
    lead = label_lead(cast(Labels, behaviour), Effort())
    assert (lead.frequent, lead.label) == (pytest.approx(2 / 3), "good")
    assert lead.accuracy == pytest.approx(means(behaviour)[ACCURACY])
    assert lead.low <= lead.accuracy - lead.frequent <= lead.high
    assert (lead.low > 0) == reads
    assert ("no significant lead over always good" in ablate(model, "1-1", rows).note) != reads


def test_of_words_the_most_frequent_label_is_counted_by_word() -> None:
    torch.manual_seed(1)
    config = DistilBertConfig(num_labels=2, id2label={0: "O", 1: "B"}, **SIZE, **DISTIL)
    frame = pd.DataFrame(
        {"words": [["the", "film"], ["a", "book", "is", "so"]], "label": [["O", "O"], ["O", "B", "B", None]]}
    )
    behaviour = decided(load(DistilBertForTokenClassification(config), tokenizer()), frame)
    lead = label_lead(cast(Labels, behaviour), Effort())
    assert (lead.frequent, lead.label) == (pytest.approx(3 / 5), "O")


def test_of_labels_that_tie_each_counts_in_part() -> None:
    module, _ = planted(0)
    torch.nn.init.zeros_(module.classifier.weight)
    behaviour = decided(load(module, tokenizer()), opinions(10, 0))
    assert means(behaviour) == {VALUE: pytest.approx(-np.log(2)), ACCURACY: 0.5, LOGIT: 0}


@pytest.fixture(scope="module")
def model() -> Model:
    return load(planted(0)[0], tokenizer())


def test_rows_are_read_from_files_as_from_frames(model: Model, tmp_path: Path) -> None:
    frame = opinions(12, 0)
    frame.to_csv(tmp_path / "rows.csv", index=False)
    frame.to_csv(tmp_path / "rows.tsv", index=False, sep="\t")
    frame.to_json(tmp_path / "rows.jsonl", orient="records", lines=True)
    (tmp_path / "pairs.jsonl").write_text(json.dumps({"sentence_good": "a b", "sentence_bad": "b a"}) + "\n", "utf-8")
    (tmp_path / "pairs.tsv").write_text("sen\twrong_sen\na b\tb a\n", "utf-8")
    names = ("rows.csv", "rows.tsv", "rows.jsonl", "pairs.jsonl", "pairs.tsv", "no.csv")
    assert [name for name in names if has_labels(tmp_path / name)] == [*names[:3]]
    for name in names[:3]:
        assert means(decided(model, frame)) == means(decided(model, tmp_path / name))
    (tmp_path / "quoted.tsv").write_text('text\tlabel\n"He said ""no"""\t1\n', "utf-8")
    with pytest.raises(CorpusError, match=r"quoted\.tsv:2: .* has the quotation marks that spreadsheets put"):
        labelled_rows(tmp_path / "quoted.tsv")
    (tmp_path / "quoted.tsv").write_text('text\tlabel\tsource\nThe film\t1\t"a, b"\n', "utf-8")
    assert len(labelled_rows(tmp_path / "quoted.tsv")) == 1, "no column that is read"
    (tmp_path / "words.csv").write_text("words,label\nthe film,O B\n", "utf-8")
    (row,) = labelled_rows(tmp_path / "words.csv")
    assert (row.words, row.label) == (("the", "film"), ("O", "B"))


def test_a_file_with_two_columns_of_labels_is_refused(tmp_path: Path) -> None:
    (tmp_path / "rows.csv").write_text("text,label,label\na film,0,1\n", "utf-8")
    with pytest.raises(CorpusError, match=r"rows\.csv:1: 2 columns called 'label', expected one$"):
        labelled_rows(tmp_path / "rows.csv")
    with pytest.raises(LabelError, match=r"rows\.txt: no labelled row; files are \.jsonl, \.csv or \.tsv$"):
        labelled_rows((tmp_path / "rows.csv").rename(tmp_path / "rows.txt"))


def test_words_and_labels_may_be_arrays_and_empty_cells_are_none() -> None:
    frame = pd.DataFrame({"words": [np.array(["a", "b"]), float("nan")], "label": [np.array([1, 0]), 1]})
    rows = labelled_rows(frame.assign(text=[float("nan"), "a film"]))
    assert [(row.text, row.words, row.label) for row in rows] == [("a b", ("a", "b"), (1, 0)), ("a film", (), 1)]


def test_a_label_that_is_a_name_and_a_number_is_the_name(model: Model) -> None:
    numbered = replace(Classifier.of(model, TEXTS), labels=("1", "0"))
    assert [numbered.label(one, "row 1") for one in ("1", 1, 1.0, "1.0", True, "0", 0, 0.0)] == [0] * 5 + [1] * 3
    stars = replace(numbered, labels=("1", "2", "3"))
    assert [stars.label(one, "row 1") for one in (1, 2.0, np.float32(3))] == [0, 1, 2]
    for one in (0, 0.0, 1.5):  # not the first: whoever counts from 0 means another label by 1
        with pytest.raises(LabelError, match=rf"row 1: {one} is no label of .*, which has 1, 2, 3$"):
            stars.label(one, "row 1")


def test_true_and_false_are_the_labels_called_so() -> None:
    module = BertForSequenceClassification(BertConfig(id2label={0: "TRUE", 1: "False"}, **SIZE, **BERT))
    classifier = Classifier.of(load(module, tokenizer()), TEXTS)
    assert [classifier.label(one, "row 1") for one in (True, False, np.True_, 1, 0)] == [0, 1, 0, 1, 0]
    said = replace(classifier, labels=("no", "yes"))
    assert [said.label(one, "row 1") for one in (True, False)] == [1, 0]
    rows = labelled_rows(pd.DataFrame({"text": ["the film"] * 4, "label": [True, False, 1, "TRUE"]}))
    assert [[one.by_place(row) for row in rows] for one in (classifier, said)] == [
        [False, False, True, False],
        [True] * 3 + [False],
    ]


def test_rows_that_number_labels_are_told_which_number_is_which() -> None:
    """As in MNLI, whose labels many a model has in another order."""
    torch.manual_seed(0)
    names = {0: "contradiction", 1: "entailment", 2: "neutral"}
    module, fast = BertForSequenceClassification(BertConfig(id2label=names, **SIZE, **BERT)), tokenizer()
    right = [int(logits(module, fast, text).argmax()) for text in texts(60)]
    model, frame = load(module, fast), pd.DataFrame({"text": texts(60)})
    told = "0 contradiction, 1 entailment, 2 neutral, as rows number them"
    wrong = "; do the rows number labels in another order?"
    several = replace(
        Classifier.of(model, TEXTS),
        module=BertForSequenceClassification(BertConfig(num_labels=3, **BCE, **SIZE, **BERT)),
    )
    marked = labelled_rows(pd.DataFrame({"text": ["the film"] * 3, "label": [[1, 0, 1], [2], ["neutral"]]}))
    assert [several.by_place(row) for row in marked] == [False, True, False]
    for labelled, numbered, asked in (
        ([names[label] for label in right], False, False),
        (right, True, False),
        ([(label + 1) % 3 for label in right], True, True),
    ):
        note = ablate(model, "1-1", frame.assign(label=labelled)).note
        assert (told in note, wrong in note) == (numbered, asked), note


def test_a_subset_of_the_rows_has_a_mean_of_its_own() -> None:
    """Rows of two and of four labelled words: of one row alone the value is that of its words."""
    torch.manual_seed(1)
    config = DistilBertConfig(num_labels=2, id2label={0: "O", 1: "B"}, **SIZE, **DISTIL)
    words = [["the", "film"], ["the", "film", "the", "film"]]
    frame = pd.DataFrame({"words": words, "label": [["O"] * len(one) for one in words]})
    behaviour = decided(load(DistilBertForTokenClassification(config), tokenizer()), frame)
    alone = [means(taken(behaviour, np.array([item])))[VALUE] for item in (0, 1)]
    counts = [len(one.wanted) for one in behaviour.prompts]
    assert means(behaviour)[VALUE] == pytest.approx(np.average(alone, weights=counts), abs=1e-5)
    assert means(taken(behaviour, np.array([1])))[ACCURACY] <= 1


def test_at_most_so_many_rows_are_a_sample_whatever_their_order(model: Model) -> None:
    frame, classifier = opinions(30, 1), Classifier.of(model, TEXTS)
    one, other = (labels(classifier, "rows", labelled_rows(f), 7) for f in (frame, frame.iloc[::-1]))
    assert {p.text.ids.tobytes() for p in one.prompts} == {p.text.ids.tobytes() for p in other.prompts}
    assert len(one.clusters) == 7


def test_rows_that_cannot_be_read_are_left_out_with_the_reason(model: Model) -> None:
    frame = pd.DataFrame({"text": ["the film", "", "so " * 40, "the [SEP] film"], "label": ["good"] * 4})
    behaviour = decided(model, frame)
    assert sorted((one.source, one.reason) for one in behaviour.left_out) == [
        ("row 2", "no text"),
        ("row 3", "longer than the model (24 pieces)"),
        ("row 4", "'[SEP]' is a special token to the model, not a word"),
    ]
    assert len(behaviour.clusters) == 1
    told = ablate(model, "1-1", pd.concat([frame, frame.iloc[1:2]])).note
    for lost in ("2 left out: no text", "1 left out: longer than the model (24 pieces)", "1 left out: '[SEP]' is a"):
        assert f"; {lost}" in told
    with pytest.raises(BehaviourError, match=r"labels of rows: no row can be read \(no text\)"):
        decided(model, frame.iloc[1:2])


@pytest.mark.parametrize(
    ("row", "message"),
    [
        ({"text": "the film", "label": "fair"}, r"row 1: 'fair' is no label of .*, which has bad, good, or 0 to 1"),
        ({"text": "the film", "label": 2}, "row 1: 2 is no label"),
        ({"text": "the film", "label": None}, "row 1: expected text and label, or words and a label for each"),
        ({"text": "the film", "label": ["good"]}, r"row 1: \('good',\) is no label"),
        ({"words": ["the", "film"], "label": ["O"]}, "row 1: 1 labels of 2 words"),
        ({"words": ["the", "film"], "label": 3}, "row 1: 1 labels of 2 words"),
        ({"words": float("nan"), "label": "good"}, "row 1: expected text and label"),
        ({"words": ["a"], "text_pair": "b", "label": [0]}, "row 1: expected text_pair as a text, beside text alone"),
        ({"text": "a", "text_pair": "b", "choices": ["c", "d"], "label": 0}, "row 1: expected text_pair as a text"),
    ],
)
def test_a_row_without_text_or_a_label_of_the_model_is_refused(model: Model, row: Any, message: str) -> None:
    with pytest.raises(LabelError, match=message):
        decided(model, pd.DataFrame([row]))


def test_a_model_without_such_a_head_is_refused(model: Model) -> None:
    with pytest.raises(ModelError, match=r"no head for rows with a label for each word.*BertForSequenceClassification"):
        Classifier.of(model, OF_WORDS)
    bare = load(BertModel(BertConfig(**SIZE, **BERT)), tokenizer())
    with pytest.raises(ModelError, match=r"no head for rows with one label.*\(it is a BertModel\)"):
        Classifier.of(bare, TEXTS)
    several = BertForSequenceClassification(BertConfig(problem_type="multi_label_classification", **SIZE, **BERT))
    with pytest.raises(ModelError, match="no head for rows with choices"):
        Classifier.of(load(several, tokenizer()), CHOICES)
