"""The training benchmark: its contestants learn the same from the same, and what it prints follows from its times."""

import sys
from dataclasses import replace
from typing import Any

import pytest
import torch
from torch.utils.flop_counter import FlopCounterMode

from experiments.bench import train as bench_train
from experiments.bench.train import OURS, blocks, flops, grammar_batches, initialised, random_batches
from experiments.bench.trainers import ATTENTION, evaluation_loss, labels, train_ours, train_theirs
from mha import EncoderConfig
from mha.encoder.masked_lm import masked_lm_loss

TINY = EncoderConfig(vocab=2048, layers=2, heads=2, model=16, feed_forward=32, positions=128)


@pytest.mark.slow
@pytest.mark.parametrize("attention", ATTENTION)
def test_without_dropout_both_sides_learn_the_same(attention: str) -> None:
    config = replace(TINY, dropout=0.0, attention_dropout=0.0)
    batches = grammar_batches(rows=4, count=9, seed=0)
    ours, start = initialised(config, 0), initialised(config, 0)
    before = evaluation_loss(start, batches[8:])
    assert len(train_ours(ours, batches[:8], seed=0)) == 8
    theirs, seconds = train_theirs(start, batches[:8], 0, attention)
    assert len(seconds) == 8
    our_loss, their_loss = evaluation_loss(ours, batches[8:]), evaluation_loss(theirs, batches[8:])
    assert before - our_loss > 0.02
    assert our_loss == pytest.approx(their_loss, abs=1e-3)


def test_the_operations_are_those_that_torch_counts() -> None:
    (batch,) = random_batches(TINY, rows=2, count=1, seed=0)
    encoder = initialised(TINY, 0)
    with FlopCounterMode(display=False) as counted:
        with torch.autocast("cpu", torch.bfloat16):
            loss = masked_lm_loss(encoder, batch)
        loss.backward()
    assert flops(TINY, 256, len(batch.gold)) == counted.get_total_flops()


def test_labels_hold_the_gold_pieces_where_they_were_hidden() -> None:
    (batch,) = random_batches(TINY, rows=3, count=1, seed=1)
    gold = labels(batch)
    assert gold.shape == (3, 128)
    assert int((gold != -100).sum()) == len(batch.gold) == round(0.2 * 3 * 128)
    assert torch.equal(gold != -100, batch.pieces == bench_train.MASK)
    assert torch.equal(gold[gold != -100], batch.gold)


def test_batches_of_the_grammar_are_a_function_of_the_seed() -> None:
    first, again = grammar_batches(2, 3, seed=0), grammar_batches(2, 3, seed=0)
    other = grammar_batches(2, 3, seed=1)
    assert len(first) == 3
    assert all(torch.equal(a.pieces, b.pieces) for a, b in zip(first, again, strict=True))
    assert not torch.equal(first[0].pieces, other[0].pieces)
    assert not torch.equal(first[0].pieces, first[1].pieces)


def test_what_is_printed_follows_from_the_times() -> None:
    record = {
        **{"processor": "a CPU", "cores": 2, "bf16 instructions": False, "threads": 2, "precision": "fp32"},
        **{"rounds": 2, "loss steps": 40},
        **{"layers": 4, "d_model": 256, "rows": 64, "pieces": 128, "loss rows": 16, "product": 4096},
        "seconds": {OURS: [[1.0, 2.0, 9.0], [4.0]], "eager": [[9.0], [9.0]], "sdpa": [[12.0], [5.0]]},
        **{"product_seconds": [0.5, 0.25, 1.0], "tokens": 6000, "flops": 2 * 4096**3},
        "losses": [
            {"seed": 0, "untrained": 5.0, OURS: 1.25, "transformers": 1.0},
            {"seed": 1, "untrained": 5.0, OURS: 1.0, "transformers": 1.5},
        ],
    }
    said = blocks(record)["training cost"]
    assert said.startswith("On 2 cores of a CPU without bf16 instructions, 2 threads, products in fp32; ")
    assert "The peak, 0.27 TFLOP/s" in said
    assert [line for line in said.splitlines() if line.startswith("| ") and "---" not in line] == [
        "| | tokens a second |",
        "| headscope | 2,000 |",
        "| Trainer, eager | 667 |",
        "| Trainer, sdpa | 706 |",
        "| | measured | goal | |",
        "| tokens a second, over the Trainer's better setting | 2.83 | at least 3.5 | **missed** |",
        "| share of the peak of products | 0.167 | at least 0.7 | **missed** |",
        "| difference of the mean evaluation losses, nats | 0.125 | at most 0.02 | **missed** |",
        "| evaluation loss in nats after 40 equal steps of 16 rows | untrained | headscope | Trainer |",
        "| seed 0 | 5.0000 | 1.2500 | 1.0000 |",
        "| seed 1 | 5.0000 | 1.0000 | 1.5000 |",
    ]


@pytest.mark.slow
@pytest.mark.parametrize(("arguments", "kept"), [([], True), (["--rounds", "1"], False)])
def test_the_command_keeps_no_record_of_less_than_that_has(
    arguments: list[str], kept: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, small in {"SHAPE": TINY, "ROWS": 2, "LOSS_ROWS": 2, "EVALUATED": 1, "PRODUCT": 64}.items():
        monkeypatch.setattr(bench_train, name, small)
    ended: list[tuple[dict[str, Any], bool]] = []
    monkeypatch.setattr(bench_train, "end", lambda record, *what, kept: ended.append((record, kept)))
    monkeypatch.setattr(bench_train.os, "cpu_count", lambda: 1)
    monkeypatch.setattr(bench_train, "DEFAULTS", dict.fromkeys(bench_train.DEFAULTS, 2))
    monkeypatch.setattr(sys, "argv", ["bench_train", *arguments])
    threads = torch.get_num_threads()
    bench_train.main()
    torch.set_num_threads(threads)
    torch.set_flush_denormal(False)
    ((made, was_kept),) = ended
    assert was_kept == kept
    if kept:
        rounds = {name: [len(steps) for steps in rounds] for name, rounds in made["seconds"].items()}
        assert rounds == {name: [2, 2] for name in (OURS, *ATTENTION)}
        assert [loss["seed"] for loss in made["losses"]] == [0, 1]
