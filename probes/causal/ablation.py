"""What a model does without some of its heads."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial

import torch
from jaxtyping import Float
from torch import Tensor

from mha.causal.interventions import Ablate
from mha.causal.sweep import PIECES, Sweep, TextBatch, head_outputs, sweeping
from mha.parallel import in_order
from probes.causal.behaviours import Behaviour, of_items

Heads = tuple[tuple[int, int], ...]
"Heads that are ablated together: (layer, head), from 0; none leaves the model as it is."

ZERO, UNIFORM, MEAN, POSITION_MEAN, RESAMPLE = "zero", "uniform", "mean", "mean by position", "resample"

WAYS = (ZERO, UNIFORM, MEAN, POSITION_MEAN, RESAMPLE)
"""What stands in the place of a head: nothing; what it would write if it attended to all alike; its mean over all
pieces of the texts of the behaviour (pooled), or over those at the same position; its output on another text."""

BATCH_PIECES = 512
"Pieces of a batch, of which copies are read side by side."


@dataclass(frozen=True)
class Means:
    """The mean output of every head over the texts of a behaviour."""

    pooled: Float[Tensor, "layer head head_dim"]
    by_position: Float[Tensor, "layer head position head_dim"]


def mean_outputs(behaviour: Behaviour) -> Means:
    """Read all texts and return the mean output of every head, before W_O, over pieces that are no padding."""
    longest = max(len(one.text) for one in behaviour.prompts)
    total: Tensor | None = None
    count = torch.zeros(longest, dtype=torch.float64)
    for batch in behaviour.batches(BATCH_PIECES):
        texts = behaviour.texts(batch)
        outputs = torch.stack(head_outputs(behaviour.reader, texts)).cpu().double()
        real = torch.ones_like(texts.ids) if texts.real is None else texts.real
        summed = torch.einsum("lbhqd,bq->lhqd", outputs, real.double())
        width = summed.shape[2]
        if total is None:
            total = summed.new_zeros(*summed.shape[:2], longest, summed.shape[3])
        total[:, :, :width] += summed
        count[:width] += real.sum(0)
    assert total is not None, "a behaviour has texts"
    return Means((total.sum(2) / count.sum()).float(), (total / count[:, None]).float())


def measure(
    behaviour: Behaviour,
    sets: Sequence[Heads],
    how: str = ZERO,
    *,
    means: Means | None = None,
    batch_pieces: int = BATCH_PIECES,
    side_by_side: int = PIECES,
    step: Callable[[int], None] = lambda texts: None,
) -> Float[Tensor, "set item"]:
    """Return the value of every item with each set of heads ablated, in double precision.

    `how` is one of WAYS; the means are made where they are asked for and not given. Neither `batch_pieces`, the pieces
    of a batch, nor `side_by_side`, those of its copies, change a number but by rounding. `step` is told how many texts
    were read under all sets.
    """
    if how not in WAYS:
        raise ValueError(f"unknown ablation {how!r}; the ways are {', '.join(map(repr, WAYS))}")
    if how in (MEAN, POSITION_MEAN) and means is None:
        means = mean_outputs(behaviour)
    batches = behaviour.batches(batch_pieces)
    with sweeping(behaviour.reader) as sweep:
        work = partial(_values, sweep, behaviour, sets, how, means, side_by_side)
        return of_items(behaviour, _told(batches, in_order(work, batches), step), len(sets))


def _told(
    batches: Sequence[Sequence[int]], found: Iterator[Tensor], step: Callable[[int], None]
) -> Iterator[tuple[Sequence[int], Tensor]]:
    for batch, values in zip(batches, found, strict=True):
        yield batch, values
        step(len(batch))


@torch.inference_mode()
def _values(
    sweep: Sweep,
    behaviour: Behaviour,
    sets: Sequence[Heads],
    how: str,
    means: Means | None,
    side_by_side: int,
    batch: Sequence[int],
) -> Float[Tensor, "set text"]:
    texts = behaviour.texts(batch)
    trace = sweep.trace(texts)
    others = _others(behaviour, batch, texts) if how == RESAMPLE else None
    layers = len(trace.seen) if behaviour.below is None else behaviour.below
    variants = [tuple(_change(head, how, means, others) for head in heads if head[0] < layers) for heads in sets]
    values = trace.output.new_zeros(len(sets), len(batch))
    for numbers, output in sweep.run(texts, variants, trace, pieces=side_by_side):
        values[numbers] = behaviour.values(batch, texts, output, trace.output)
    return values


def _change(head: tuple[int, int], how: str, means: Means | None, others: Sequence[Tensor] | None) -> Ablate:
    layer, number = head
    if others is not None:
        return Ablate(layer, number, how, other=others[layer][:, number])
    if how == MEAN and means is not None:
        return Ablate(layer, number, "mean", mean=means.pooled[layer, number])
    if how == POSITION_MEAN and means is not None:
        return Ablate(layer, number, "mean", mean=means.by_position[layer, number])
    return Ablate(layer, number, how)


def _others(behaviour: Behaviour, batch: Sequence[int], texts: TextBatch) -> list[Tensor]:
    """Return the head outputs of each text's donor at the same positions, which begin again where it is shorter."""
    donors = behaviour.donors(batch)
    lengths = torch.tensor([len(behaviour.prompts[donor].text) for donor in donors])
    place = torch.arange(texts.ids.shape[1]) % lengths[:, None]
    row = torch.arange(len(donors))[:, None]
    outputs = head_outputs(behaviour.reader, behaviour.texts(donors))
    return [output.transpose(1, 2)[row, place].transpose(1, 2) for output in outputs]
