"""The training benchmark: its contestants learn the same from the same, and what it prints follows from its times."""

import json
import sys
from dataclasses import replace
from pathlib import Path

import pytest
import torch
from torch.utils.flop_counter import FlopCounterMode

from experiments.bench import train as bench_train
from experiments.bench.train import OURS, flops, grammar_batches, initialised, random_batches, summary
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
    rounds = {OURS: [[1.0, 2.0, 9.0], [4.0]], "eager": [[9.0], [9.0]], "sdpa": [[12.0], [5.0]]}
    times = {"seconds": rounds, "product_seconds": [0.5, 0.25, 1.0], "tokens": 6000, "flops": 2 * 4096**3}
    losses = [
        {"seed": 0, "untrained": 5.0, OURS: 1.25, "transformers": 1.0},
        {"seed": 1, "untrained": 5.0, OURS: 1.0, "transformers": 1.5},
    ]
    assert summary(times, losses) == [
        "headscope           2,000 tokens/s",
        "Trainer, eager        667 tokens/s",
        "Trainer, sdpa         706 tokens/s",
        "peak of bf16 products 0.27 TFLOP/s, reached 17% (goal 40%)",
        "seed 0: untrained 5.000, headscope 1.2500, Trainer 1.0000 nats",
        "seed 1: untrained 5.000, headscope 1.0000, Trainer 1.5000 nats",
        "difference of the mean loss -0.1250 nats (goal within 0.02)",
        "training ratio 2.83 (goal 3.0)",
    ]


@pytest.mark.slow
def test_the_command_keeps_raw_times_and_ends_with_the_ratio(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    for name, small in {"SHAPE": TINY, "ROWS": 2, "LOSS_ROWS": 2, "EVALUATED": 1, "PRODUCT": 64}.items():
        monkeypatch.setattr(bench_train, name, small)
    monkeypatch.setattr(bench_train.os, "cpu_count", lambda: 1)
    out, threads = tmp_path / "deep" / "times.json", torch.get_num_threads()
    arguments = ["--rounds", "2", "--steps", "2", "--loss-steps", "2", "--seeds", "2", "--out", str(out)]
    monkeypatch.setattr(sys, "argv", ["bench_train", *arguments])
    bench_train.main()
    torch.set_num_threads(threads)
    torch.set_flush_denormal(False)
    record = json.loads(out.read_text())
    assert {name: [len(steps) for steps in rounds] for name, rounds in record["seconds"].items()} == {
        name: [2, 2] for name in (OURS, *ATTENTION)
    }
    assert [loss["seed"] for loss in record["losses"]] == [0, 1]
    last = capsys.readouterr().out.splitlines()[-1]
    assert last.startswith("training ratio ")
    assert last.endswith(" (goal 3.0)")
