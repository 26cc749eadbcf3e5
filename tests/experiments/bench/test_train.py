"""The training benchmark: its contestants learn the same from the same, and what it prints follows from its times."""

from dataclasses import replace

import pytest
import torch
from torch.utils.flop_counter import FlopCounterMode

from experiments.bench.train import (
    ATTENTION,
    flops,
    grammar_batches,
    initialised,
    random_batches,
    train_ours,
    train_theirs,
)
from experiments.statements.trained import held_out_loss
from mha import EncoderConfig
from mha.encoder.masked_lm import masked_lm_loss

TINY = EncoderConfig(vocab=2048, layers=2, heads=2, model=16, feed_forward=32, positions=128)


@pytest.mark.slow
@pytest.mark.parametrize("attention", ATTENTION)
def test_without_dropout_both_sides_learn_the_same(attention: str) -> None:
    config = replace(TINY, dropout=0.0, attention_dropout=0.0)
    batches = grammar_batches(rows=4, count=9, seed=0)
    ours, start = initialised(config, 0), initialised(config, 0)
    before = held_out_loss(start, batches[8:])
    assert len(train_ours(ours, batches[:8], seed=0)) == 8
    theirs, seconds = train_theirs(start, batches[:8], 0, attention)
    assert len(seconds) == 8
    our_loss, their_loss = held_out_loss(ours, batches[8:]), held_out_loss(theirs, batches[8:])
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
