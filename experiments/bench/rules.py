"""Which heads MiniLM needs once it is fine-tuned on a rule: docs/rules.json, `make bench-rules`.

Heads are ranked on one half of the held-out rows by what each alone costs of the logit difference. Those of the ranking
that take the rule away together are compared on the other half with random heads, in three ways: without them (zero),
with them alone (the others at their mean), and with their output of the row whose nouns have changed places.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from itertools import islice
from pathlib import Path
from typing import Any, Final

import numpy as np
import pandas as pd
import torch
from scipy.stats import spearmanr
from torch import Tensor
from torch.nn.functional import cross_entropy
from transformers import AutoTokenizer, BertConfig, BertForTokenClassification

from experiments.bench.records import BenchError
from mha import Model, align, load_model
from mha.models.folders import find_model, keep
from probes.causal.ablation import (
    MEAN,
    RESAMPLE,
    ZERO,
    head_name,
    measure,
    random_sets,
    single_heads,
    whole_layers,
)
from probes.causal.ablation_table import ablation_table, measures
from probes.causal.decisions import Labels
from probes.causal.labelled_rows import labelled_rows
from probes.causal.labels import WORDS, Classifier, labels
from probes.evidence.examples import word_level
from probes.evidence.question import Effort
from probes.pairs.number_swaps import RULES, gapped_rows
from probes.scoring.score import Settings
from probes.scoring.tally import Numbers
from reports.tables.shared_columns import ACCURACY, LOGIT

RECORD: Final = Path("docs") / "rules.json"
SEEDS: Final = 2
TRAIN, RANK, HELD = 1000, 100, 100
"Rows to fine-tune on, to rank heads on, and to evaluate them on."
BATCH, EPOCHS, RATE = 32, 2, 1e-4
LOST, TURNED = 55, 5
"""Accuracies, in percent, at which a rule is no longer followed (50 by a coin), and at which answers are those of the
other row."""
STEP, DRAWS = 2, 20
"Heads from point to point of a curve; random sets of as many heads."
Head = tuple[int, int]
PRETRAINED, FROZEN, RANDOM = "pretrained", "frozen", "randomly initialised"
"What is trained: all weights from MiniLM's on, the classifying head alone, or all from random ones on."


@dataclass(frozen=True)
class Exchanged(Labels):
    """Rows in groups of two: what heads write on one is resampled from the other, whose nouns have changed places."""

    def donors(self, batch: Sequence[int]) -> list[int]:
        """Return the other row of each row's group."""
        group = [self.clusters[one.item] for one in self.prompts]
        return [next(j for j, other in enumerate(group) if other == group[i] and j != i) for i in batch]


def behaviour(model: Model, rows: pd.DataFrame) -> Exchanged:
    """Return what a classifier decides of rows."""
    found = labels(Classifier.of(model, WORDS), "rows", labelled_rows(rows[["words", "label", "group"]]))
    return Exchanged(**{one.name: getattr(found, one.name) for one in fields(found)})


def classifier(rows: pd.DataFrame, start: str, seed: int) -> Model:
    """Return MiniLM with a head for the words of rows, trained on them."""
    folder, names = find_model("minilm"), sorted({one for label in rows.label for one in label if one})
    torch.manual_seed(seed)
    tokenizer = AutoTokenizer.from_pretrained(folder)
    config = BertConfig.from_pretrained(folder, id2label=dict(enumerate(names)))
    encoder = BertForTokenClassification(config)
    if start != RANDOM:
        encoder = BertForTokenClassification.from_pretrained(folder, config=config)
    batch = tokenizer([" ".join(words) for words in rows.words], padding=True, return_tensors="pt")
    gap = batch["input_ids"] == tokenizer.convert_tokens_to_ids("_")
    gold = torch.tensor([names.index(label[place]) for label, place in zip(rows.label, rows.gap, strict=True)])
    batch["labels"] = torch.where(gap, gold[:, None], -100)
    if start == FROZEN:
        _fit_head(encoder.train(False), batch, gap, gold)
    else:
        _fine_tune(encoder.train(), batch)
    return load_model(str(keep(encoder.train(False), tokenizer)))


def _fit_head(encoder: Any, batch: Mapping[str, Tensor], gap: Tensor, gold: Tensor) -> None:
    """Fit the classifying head alone: logistic regression on the vectors of the gaps."""
    with torch.no_grad():
        read = encoder.bert(batch["input_ids"], batch["attention_mask"]).last_hidden_state[gap]
    head = encoder.classifier
    optimizer: Any = torch.optim.LBFGS(head.parameters(), max_iter=200, line_search_fn="strong_wolfe")

    def loss() -> float:
        optimizer.zero_grad()
        found = cross_entropy(head(read), gold) + 1e-3 * head.weight.square().sum()
        found.backward()
        return float(found.detach())

    optimizer.step(loss)


def _fine_tune(encoder: Any, batch: Mapping[str, Tensor]) -> None:
    """Train all weights; the rate falls to 0 in a straight line."""
    optimizer = torch.optim.AdamW(encoder.parameters(), lr=RATE)
    count = len(batch["labels"])
    steps = EPOCHS * (count // BATCH)
    rate = torch.optim.lr_scheduler.LambdaLR(optimizer, lambda step: 1 - step / steps)
    for _ in range(EPOCHS):
        for some in torch.randperm(count)[: count // BATCH * BATCH].view(-1, BATCH):
            encoder(**{name: values[some] for name, values in batch.items()}).loss.backward()
            optimizer.step()
            rate.step()
            optimizer.zero_grad()


def accuracies(decisions: Labels, sets: Sequence[Sequence[tuple[int, int]]], how: str = ZERO) -> list[float]:
    """Return the accuracy in percent with each set of heads ablated."""
    values = measure(decisions, [tuple(sorted(heads)) for heads in sets], how).numpy()
    (found,) = (one for one in measures(decisions, values) if one.name == ACCURACY)
    return [round(100 * float(one), 1) for one in found.values.mean(1)]


def needed(model: Model, rank: pd.DataFrame, held: pd.DataFrame, seed: int) -> dict[str, Any]:
    """Return which heads take the rule away together, ranked on `rank`, and what they do on `held`."""
    shape = model.layers, model.heads
    decisions, told = behaviour(model, rank), behaviour(model, held)
    singles, layers = single_heads(*shape), [one.heads for one in whole_layers(*shape)]
    values = measure(decisions, [(), *(one.heads for one in singles)]).numpy()
    costs = ablation_table(decisions, ZERO, singles, values, Effort(seed=seed))
    by = {name: rows.reset_index(drop=True) for name, rows in costs.groupby("measure")}
    chosen, others, curve = first(decisions, shape, by[LOGIT].cost, ZERO, LOST)
    values = measure(decisions, [(), *(one.heads for one in singles)], RESAMPLE).numpy()
    exchanged = ablation_table(decisions, RESAMPLE, singles, values, Effort(seed=seed)).query("measure == @LOGIT").cost
    carrying, *_ = first(decisions, shape, exchanged, RESAMPLE, TURNED)
    random, as_many = (random_sets(tuple(sorted(some)), shape, DRAWS, [seed]) for some in (chosen, carrying))
    attention = attended(model, held)
    carry = [layer * shape[1] + head for layer, head in carrying]
    return {
        "significant": {name: int(((one.p_adjusted < 0.05) & (one.cost > 0)).sum()) for name, one in by.items()},
        "largest cost, % of the logit difference": round(100 * float((by[LOGIT].cost / by[LOGIT].intact).max()), 1),
        "accuracy without a head, least": round(100 * float(by[ACCURACY].ablated.min()), 1),
        "accuracy without a layer, least": min(accuracies(told, layers)),
        "heads": [*map(head_name, chosen)],
        "accuracy without the first 0, 2, ...": curve[: len(curve) // 2 + 1],
        "without": _beside(accuracies(told, [chosen, *random])),
        "alone": _beside(
            accuracies(told, [others, *([one for one in [*chosen, *others] if one not in own] for own in random)], MEAN)
        ),
        "exchanged": _beside(accuracies(told, [chosen, *random], RESAMPLE)),
        "all others exchanged": accuracies(told, [others], RESAMPLE)[0],
        "ranked by exchange": {
            "heads": [*map(head_name, carrying)],
            "exchanged": _beside(accuracies(told, [carrying, *as_many], RESAMPLE)),
            "the first alone exchanged": accuracies(told, [carrying[:1]], RESAMPLE)[0],
            "without": accuracies(told, [carrying])[0],
            "among the heads": len({*carrying} & {*chosen}),
            "rank correlation": round(float(spearmanr(exchanged, by[LOGIT].cost).statistic), 2),
            "attention to the subject and to the other noun, %": attention[carry].round(1).tolist(),
            "of other heads, mean": np.delete(attention, carry, axis=0).mean(0).round(1).tolist(),
        },
    }


def first(
    decisions: Labels, shape: tuple[int, int], cost: pd.Series[float], how: str, least: float
) -> tuple[list[Head], list[Head], list[float]]:
    """Return the heads that cost most and together bring the accuracy to at most `least`, the others, and the curve.

    The curve has the accuracies without the first 0, STEP, 2 STEP ... heads.
    """
    order = [divmod(int(place), shape[1]) for place in np.argsort(-cost.to_numpy(), kind="stable")]
    curve = accuracies(decisions, [order[:count] for count in range(0, len(order) + 1, STEP)], how)
    if min(curve) > least:
        raise BenchError(
            f"of the answers {curve[0]} % are right, and {min(curve)} % without heads ({how}): train it longer"
        )
    count = STEP * next(i for i, one in enumerate(curve) if one <= least)
    return order[:count], order[count:], curve


def _beside(found: Sequence[float]) -> dict[str, float]:
    """Return an accuracy beside those of random sets; of more than half of the heads there are none."""
    own, *random = found
    if not random:
        return {"heads": own}
    return {"heads": own, "random, mean": round(float(np.mean(random)), 1), "least": min(random), "most": max(random)}


def attended(model: Model, rows: pd.DataFrame) -> Numbers:
    """Return [head, 2], attention from the gap to the subject and to the other noun, in percent."""
    pieces = align(model.tokenizer, [*rows.words])
    maps = [word_level(model, one, Settings()) for one in pieces]
    found = [of[:, :, gap, [*nouns]] for of, gap, nouns in zip(maps, rows.gap, rows.nouns, strict=True)]
    means: Numbers = 100 * np.mean(found, axis=0, dtype=np.float64).reshape(-1, 2)
    return means


def main() -> None:
    """Write the record of the rules that are asked for, beside those that it has."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("rules", nargs="*", default=RULES)
    parser.add_argument("--out", type=Path, default=RECORD)
    options = parser.parse_args()
    record = json.loads(options.out.read_text("utf-8")) if options.out.exists() else {"made by": "make bench-rules"}
    for rule in options.rules:
        rows = pd.DataFrame(islice(gapped_rows(rule, seed=0), TRAIN + RANK + HELD))
        parts = rows[:TRAIN], rows[TRAIN : TRAIN + RANK], rows[TRAIN + RANK :]
        found: dict[str, Any] = {"rows": [*map(len, parts)], "seeds": []}
        for seed in range(SEEDS):
            model = classifier(parts[0], PRETRAINED, seed)
            right = accuracies(behaviour(model, parts[2]), [()])[0]
            print(rule, seed, right, flush=True)
            found["seeds"].append({"accuracy": right, **needed(model, parts[1], parts[2], seed)})
            options.out.write_text(json.dumps(record | {rule: found}, indent=1) + "\n", encoding="utf-8")
        for start in (FROZEN, RANDOM):
            model = classifier(parts[0], start, 0)
            found[start] = accuracies(behaviour(model, parts[2]), [()])[0]
        record[rule] = found
        options.out.write_text(json.dumps(record, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
