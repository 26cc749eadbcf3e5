"""What a model does without some of its heads: single ones, whole layers, chosen heads, and as many at random."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np
import pandas as pd
import torch
import torch.nn.functional as F
from jaxtyping import Float
from torch import Tensor

from mha.causal.interventions import Ablate, Borrow
from mha.causal.sweep import PIECES, Sweep, TextBatch, Variant, head_outputs, sweeping
from mha.hooks import record
from probes.causal.behaviours import BATCH_PIECES, Behaviour
from reports.tables.effects import KINDS, SELECTED_BY
from reports.tables.grades import has_stable_grade

Heads = tuple[tuple[int, int], ...]
"Heads that are ablated together: (layer, head), from 0; none leaves the model as it is."

ZERO, UNIFORM, MEAN, POSITION_MEAN, RESAMPLE = "zero", "uniform", "mean", "mean by position", "resample"

WAYS = (ZERO, UNIFORM, MEAN, POSITION_MEAN, RESAMPLE)
"""What stands in the place of a head: nothing; what it would write if it attended to all alike; its mean over all
pieces of the texts of the behaviour (pooled), or over those at the same position; its output on another text."""

INTERCHANGE = "interchange"
"""In the place of each head of a set: its values mixed by the attention, with all heads, of the next one of the set, of
the last by that of the first. Two heads are exchanged so."""


def mean_outputs(
    behaviour: Behaviour, by_position: bool
) -> Float[Tensor, "layer head head_dim"] | Float[Tensor, "layer head position head_dim"]:
    """Return the mean output of every head, before W_O, over all pieces of all texts that are no padding."""
    longest = max(len(one.text) for one in behaviour.prompts)
    total, count = torch.zeros(()), torch.zeros(longest, dtype=torch.float64)
    for batch in behaviour.batches(BATCH_PIECES):
        texts = behaviour.texts(batch)
        outputs = torch.stack(head_outputs(behaviour.reader, texts)).cpu().double()
        real = torch.ones_like(texts.ids) if texts.real is None else texts.real
        summed = torch.einsum("lbhqd,bq->lhqd", outputs, real.double())
        total = total + F.pad(summed, (0, 0, 0, longest - summed.shape[2]))
        count[: summed.shape[2]] += real.sum(0)
    return (total / count[:, None] if by_position else total.sum(2) / count.sum()).float()


def measure(
    behaviour: Behaviour,
    sets: Sequence[Heads],
    how: str = ZERO,
    *,
    batch_pieces: int = BATCH_PIECES,
    side_by_side: int = PIECES,
    step: Callable[[int], None] = lambda texts: None,
) -> Float[Tensor, "set item"]:
    """Return the value of every item with each set of heads ablated, in double precision.

    What is measured `beside` the value follows: as many columns more for each such measure.
    `how` is one of WAYS, or INTERCHANGE. Neither `batch_pieces`, the pieces of a batch, nor `side_by_side`, those of
    its copies, change a number but by rounding. `step` is told how many texts were read under all sets.
    """
    mean = mean_outputs(behaviour, how == POSITION_MEAN) if how in (MEAN, POSITION_MEAN) else None
    with sweeping(behaviour.reader) as sweep:
        work = partial(_values, sweep, behaviour, sets, how, mean, side_by_side)
        rows = len(sets) * (1 + len(behaviour.beside))
        return behaviour.measured(work, rows, batch_pieces, step).view(len(sets), -1)


@torch.inference_mode()
def _values(
    sweep: Sweep,
    behaviour: Behaviour,
    sets: Sequence[Heads],
    how: str,
    mean: Tensor | None,
    side_by_side: int,
    batch: Sequence[int],
) -> Float[Tensor, "row text"]:
    """Return a row for each set and measure."""
    texts = behaviour.texts(batch)
    trace = sweep.trace(texts)
    others = _others(behaviour, batch, texts) if how == RESAMPLE else None
    layers = len(trace.seen) if behaviour.below is None else behaviour.below
    if how == INTERCHANGE:
        with record(behaviour.reader.module) as maps:
            behaviour.reader.read(texts.ids, texts.real, texts.selected)
        variants = [_exchanged(heads, maps["pattern"]) for heads in sets]
    else:
        variants = [tuple(_change(head, how, mean, others) for head in heads if head[0] < layers) for heads in sets]
    values = trace.output.new_zeros(len(sets), 1 + len(behaviour.beside), len(batch))
    for numbers, output in sweep.run(texts, variants, trace, pieces=side_by_side):
        values[numbers] = behaviour.numbers(batch, texts, output, trace.output)
    return values.flatten(0, 1)


def _change(head: tuple[int, int], how: str, mean: Tensor | None, others: Sequence[Tensor] | None) -> Ablate:
    layer, number = head
    if others is not None:
        return Ablate(layer, number, how, other=others[layer][:, number])
    return Ablate(layer, number, how) if mean is None else Ablate(layer, number, "mean", mean=mean[layer, number])


def _exchanged(heads: Heads, patterns: Sequence[Tensor]) -> Variant:
    lenders = (*heads[1:], *heads[:1])
    return tuple(Borrow(*own, patterns[layer][:, head]) for own, (layer, head) in zip(heads, lenders, strict=True))


def _others(behaviour: Behaviour, batch: Sequence[int], texts: TextBatch) -> list[Tensor]:
    """Return the head outputs of each text's donor at the same positions, which begin again where it is shorter."""
    donors = behaviour.donors(batch)
    lengths = torch.tensor([len(behaviour.prompts[donor].text) for donor in donors])
    place = torch.arange(texts.ids.shape[1]) % lengths[:, None]
    row = torch.arange(len(donors))[:, None]
    outputs = head_outputs(behaviour.reader, behaviour.texts(donors))
    return [output.transpose(1, 2)[row, place].transpose(1, 2) for output in outputs]


HEAD, LAYER, SELECTED, RANDOM = KINDS
"""Kinds of sets: one head; all heads of a layer; those that a probe's label selects; as many random heads as these."""

SPECIALISED, MARGIN = SELECTED_BY
"What heads of a label are selected by: their stable grades, or their margins on the selection split."


@dataclass(frozen=True)
class HeadSet:
    """Heads that are ablated together."""

    kind: str
    "One of `reports.tables.effects.KINDS`."
    name: str
    "The head's name, from 1 (3-5); the layer's number, from 1; or what the heads were chosen for."
    heads: Heads
    draw: int = 0
    "Number of a random set, from 1; 0 for others."
    by: str = ""
    "What chosen heads were chosen by; empty for others."


def single_heads(layers: int, heads: int) -> list[HeadSet]:
    """Return a set for every head."""
    return [HeadSet(HEAD, head_name((i, j)), ((i, j),)) for i in range(layers) for j in range(heads)]


def whole_layers(layers: int, heads: int) -> list[HeadSet]:
    """Return a set for every layer."""
    return [HeadSet(LAYER, str(i + 1), tuple((i, j) for j in range(heads))) for i in range(layers)]


def head_name(head: tuple[int, int]) -> str:
    """Return the name of a head, from 1: "3-5" for (2, 4)."""
    return f"{head[0] + 1}-{head[1] + 1}"


def random_sets(selected: Heads, shape: tuple[int, int], draws: int, seed: Sequence[int]) -> list[Heads]:
    """Return `draws` sets of heads that are not chosen, of each layer as many as are; `shape` is (layers, heads).

    Where a layer has too few other heads all of them are taken, and what is missing is drawn from the other layers.
    Nothing where more than half of all heads are chosen, or none.
    """
    layers, heads = shape
    others = {
        layer: [(layer, head) for head in range(heads) if (layer, head) not in selected] for layer in range(layers)
    }
    wanted = Counter(layer for layer, _ in selected)
    if not selected or sum(map(len, others.values())) < len(selected):
        return []
    random = np.random.default_rng(list(seed))

    def drawn(pool: list[tuple[int, int]], count: int) -> list[tuple[int, int]]:
        return [pool[place] for place in random.permutation(len(pool))[:count].tolist()]

    elsewhere = sum(max(0, count - len(others[layer])) for layer, count in wanted.items())
    sets: list[Heads] = []
    for _ in range(draws):
        taken = [head for layer, count in sorted(wanted.items()) for head in drawn(others[layer], count)]
        rest = [head for pool in others.values() for head in pool if head not in taken]
        sets.append(tuple(sorted(taken + drawn(rest, elsewhere))))
    return sets


def choose_heads(scores: pd.DataFrame, label: str, top: int) -> tuple[Heads, str]:
    """Return the heads of "probe: label", or of any label of "probe", in order, and what they are chosen by.

    With `top` those with the largest margins on the selection split, in any variant; without it those that have a
    stable grade, or the one with the largest margin where there is none. None where nothing of the label was scored.
    """
    probe, _, name = label.partition(": ")
    rows = scores[(scores["probe"] == probe) & (scores["label"] == name if name else True)]
    found, by = rows[(rows["split"] == "report") & has_stable_grade(rows)], SPECIALISED
    if top or found.empty:
        best = rows[(rows["split"] == "select") & rows["margin"].notna()]
        best = best.sort_values(["margin", "layer", "head"], ascending=[False, True, True])
        found, by = best.drop_duplicates(["layer", "head"]).head(max(top, 1)), MARGIN
    places = zip(found["layer"].tolist(), found["head"].tolist(), strict=True)
    return tuple(sorted(set(places))), by


def against_random(label: str, selected: Heads, by: str, drawn: Sequence[Heads]) -> list[HeadSet]:
    """Return the set of the heads that a label chose, and those of random heads."""
    random = (HeadSet(RANDOM, label, heads, number) for number, heads in enumerate(drawn, 1))
    return [HeadSet(SELECTED, label, selected, by=by), *random]
