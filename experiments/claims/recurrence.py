"""Claim: self-attention is faster than recurrence where sequences are shorter than vectors are wide."""

from __future__ import annotations

from functools import partial

import torch
from torch import Tensor, nn

from experiments.claims.timing import TRAINING, TimedSection, inputs, passes, take_turns, tokens_of
from experiments.statements.claim import Claim, Work, claim_measure, rounds_of
from experiments.statements.estimates import ratio
from experiments.statements.rule import Rule
from mha import MultiHeadAttention
from reports.statements.claim_record import ClaimRecord, Row
from reports.statements.statement import JudgedStatement, judged

ATTENTION, LSTM = "self-attention", "LSTM"


class RecurrenceSection(TimedSection):
    """The config of the claim."""

    lengths: tuple[int, ...] = (16, 64, 256, 512, 1024)


def measure(section: RecurrenceSection, work: Work) -> ClaimRecord:
    """Time one layer of each over the lengths."""
    times: list[Row] = []
    ratios: list[Row] = []
    statements = []
    for done, length in enumerate(section.lengths):
        seconds = work.part(f"length {length}", partial(_time, section, length))
        for kind in (ATTENTION, LSTM):
            times += rounds_of([1e6 * one / tokens_of(section, length) for one in seconds[kind]], kind, length)
        slower = [one / other for one, other in zip(seconds[LSTM], seconds[ATTENTION], strict=True)]
        ratios += rounds_of(slower, "LSTM / self-attention", length)
        if length < section.model:
            statements.append(_statement(section, length, seconds))
        work.progress("recurrence", done + 1, len(section.lengths))
    measures = [
        claim_measure(f"time a token, {TRAINING}", "µs", times, "round", "length", geometric=True),
        claim_measure("ratio of times", "times", ratios, "round", "length", geometric=True),
    ]
    return ClaimRecord(measures, statements)


def _statement(section: RecurrenceSection, length: int, seconds: dict[str, list[float]]) -> JudgedStatement:
    return judged(
        f"Self-attention of width {section.model} is faster than an LSTM of that width, sequences of {length}",
        f"time of the LSTM / time of self-attention, {TRAINING}",
        ratio(seconds[LSTM], seconds[ATTENTION]),
        Rule(above=1.0, unit="times"),
    )


def _time(section: RecurrenceSection, length: int) -> dict[str, list[float]]:
    """Return the seconds of both layers in every round."""
    torch.manual_seed(section.seed)
    attention = MultiHeadAttention(section.model, section.heads)
    lstm = nn.LSTM(section.model, section.model, batch_first=True)

    def recur(x: Tensor) -> Tensor:
        vectors: Tensor = lstm(x)[0]
        return vectors

    x = inputs(section, length)
    calls = {ATTENTION: passes(attention, attention, x)[TRAINING], LSTM: passes(lstm, recur, x)[TRAINING]}
    return take_turns(calls, section.rounds)


CLAIM = Claim(
    name="recurrence",
    title="Self-attention or recurrence",
    sentence="A layer of self-attention is faster than a recurrent one where the sequence is shorter than the width.",
    source="Vaswani et al. 2017, section 4 and table 1 (n² · d against n · d² operations, 1 against n in sequence)",
    about=(
        "One layer of self-attention and one LSTM (Hochreiter and Schmidhuber 1997) of the same width take turns in "
        "one process, forward and backward. A batch has the same number of tokens at every length, so that an LSTM "
        "does the same operations at all lengths, in more steps one after the other.",
    ),
    limits=(
        "Times are those of this machine’s processor, where little runs in parallel; on a GPU an LSTM loses more.",
        "An LSTM has twice as many weights as the layer of attention (8 against 4 times the width squared); both are "
        "what one layer of the kind is.",
        "Lengths from the width on are measured too, but the claim does not cover them.",
    ),
    section=RecurrenceSection,
    measure=measure,
)
