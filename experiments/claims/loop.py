"""Claim: heads are computed in parallel, which is faster than one after the other."""

from __future__ import annotations

import copy
from functools import partial

import torch
from pydantic import Field
from torch import Tensor, nn

from experiments.claims.timing import TRAINING, TimedSection, inputs, passes, take_turns, tokens_of
from experiments.statements.claim import Claim, ClaimError, Work, claim_measure, rounds_of
from experiments.statements.estimates import geometric_mean
from experiments.statements.rule import Rule
from mha import MultiHeadAttention, attend
from mha.parallel import threads
from reports.statements.claim_record import ClaimRecord, Row
from reports.statements.statement import JudgedStatement, judged

EQUAL = 1e-5
"By how much outputs may differ: both ways add the same products, in another order."

LOOPED, AT_ONCE = "one after the other", "at once"


class LoopSection(TimedSection):
    """The config of the claim."""

    threads: tuple[int, ...] = Field(default=(1, 2), min_length=1)
    "Numbers of threads with which torch computes."


class LoopedAttention(nn.Module):
    """The heads of a MultiHeadAttention, each with projections of its own, one after the other in a Python loop."""

    def __init__(self, attention: MultiHeadAttention) -> None:
        """Copy the weights of `attention`."""
        super().__init__()
        self.scaling = attention.scaling
        self.heads = nn.ModuleList(_projection(attention, head) for head in range(attention.heads))
        self.output = copy.deepcopy(attention.output)

    def forward(self, x: Tensor) -> Tensor:
        """Return [batch, token, model] for [batch, token, model]."""
        mixed = []
        for project in self.heads:
            query, key, value = (part[:, None] for part in project(x).chunk(3, -1))
            mixed.append(attend(self, query, key, value, None, scaling=self.scaling)[0][:, :, 0])
        output: Tensor = self.output(torch.cat(mixed, -1))
        return output


def _projection(attention: MultiHeadAttention, head: int) -> nn.Linear:
    """Return the projections of one head to query, key and value, as one matrix."""
    linear = nn.Linear(attention.W_Q.shape[1], 3 * attention.head_dim)
    with torch.no_grad():
        weights = [part[head].T for part in (attention.W_Q, attention.W_K, attention.W_V)]
        linear.weight.copy_(torch.cat(weights))
        linear.bias.copy_(torch.cat([attention.bias(which)[head] for which in range(3)]))
    return linear


def measure(section: LoopSection, work: Work) -> ClaimRecord:
    """Time both ways over lengths and numbers of threads."""
    times: list[Row] = []
    ratios: list[Row] = []
    cases = [(count, length) for count in section.threads for length in section.lengths]
    for done, (count, length) in enumerate(cases):
        found = work.part(f"{count} threads, length {length}", partial(_time, section, length, count))
        for way in (AT_ONCE, LOOPED):
            per_token = [1e6 * seconds / tokens_of(section, length) for seconds in found[way]]
            times += rounds_of(per_token, f"{way}, {_threads(count)}", length)
        slower = [one / other for one, other in zip(found[LOOPED], found[AT_ONCE], strict=True)]
        ratios += rounds_of(slower, _threads(count), length)
        work.progress("loop", done + 1, len(cases))
    measures = [
        claim_measure(f"time a token, {TRAINING}", "µs", times, "round", "length", geometric=True),
        claim_measure("time of the loop / time at once", "times", ratios, "round", "length", geometric=True),
    ]
    return ClaimRecord(measures, [_statement(ratios, count, section) for count in section.threads])


def _threads(count: int) -> str:
    return f"{count} thread{'' if count == 1 else 's'}"


def _statement(ratios: list[Row], count: int, section: LoopSection) -> JudgedStatement:
    """Return the statement for a number of threads: every round gives one ratio, the mean over the lengths."""
    own = [row for row in ratios if row.condition == _threads(count)]
    by_round = [
        geometric_mean([row.value for row in own if row.repeat == number]).value for number in range(section.rounds)
    ]
    return judged(
        f"{section.heads} heads in one batched product are faster than a loop over heads ({_threads(count)})",
        f"time of the loop / time at once, {TRAINING}, geometric mean over the lengths",
        geometric_mean(by_round),
        Rule(above=1.0, unit="times"),
    )


def _time(section: LoopSection, length: int, count: int) -> dict[str, list[float]]:
    """Return the seconds of both ways; raises ClaimError where they do not compute the same."""
    torch.manual_seed(section.seed)
    attention = MultiHeadAttention(section.model, section.heads)
    looped, x = LoopedAttention(attention), inputs(section, length)
    check_equal(attention, looped, x)
    with threads(count):
        both = {AT_ONCE: passes(attention, attention, x), LOOPED: passes(looped, looped, x)}
        return take_turns({way: calls[TRAINING] for way, calls in both.items()}, section.rounds)


def check_equal(attention: nn.Module, looped: nn.Module, x: Tensor) -> None:
    """Raise ClaimError where the two give other outputs for `x`."""
    with torch.no_grad():
        apart = float((attention(x) - looped(x)).abs().max())
    if not apart <= EQUAL:
        raise ClaimError(f"loop: outputs of both ways differ by {apart:.2g}, expected at most {EQUAL:g}")


CLAIM = Claim(
    name="loop",
    title="Heads at once or one after the other",
    sentence="All heads of a layer are computed in parallel, as one batched product, which is faster than a loop.",
    source="Vaswani et al. 2017, section 3.2.2 (attention is performed in parallel on the projected versions)",
    about=(
        "One layer of attention computes its heads in one batched product; the same heads, with the same weights and "
        "outputs equal within 0.00001, are computed in a Python loop, each with a projection of its own. Both take "
        "turns in one process, forward and backward. A batch has the same number of tokens at every length.",
    ),
    limits=(
        "Times are those of this machine’s processor; on a GPU a loop also pays for launching more kernels.",
        "Concat is part of both ways, and so are all biases.",
    ),
    section=LoopSection,
    measure=measure,
)
