"""Transfer: whether what a head gives in another sentence with the same answer serves a sentence as well as its own.

A sentence (the recipient) is read with its verb masked, and the output of one head at that place, before W_O, is
replaced by its output at the masked verb of another sentence (the donor): one with the same answer, one with the other,
or by the mean of both. A head whose output has the number of the verb serves with the first and harms with the second;
one that is merely needed, or writes of its own sentence or of the place, does as much with either (arXiv 2606.08292:
heads that are needed, readable and restored after ablation often fail to transfer).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial

import numpy as np
import numpy.typing as npt
import pandas as pd
import torch
from jaxtyping import Float
from torch import Tensor

from mha.causal.interventions import Patch
from mha.causal.sweep import PIECES, Sweep, head_outputs, sweeping
from probes.causal.ablation_table import measures
from probes.causal.behaviours import BATCH_PIECES, Behaviour, BehaviourError, Predictions
from probes.evidence.question import Effort
from probes.evidence.results import named_heads
from probes.minimal_pairs import AGREEMENT, Kind, LeftOut
from probes.pairs.scores import NEAR
from probes.records import IntArray, frozen_ints
from probes.scoring.hashed_random import Bits, draws, random_bits
from probes.scoring.tally import Numbers
from reports.tables.shared_columns import ACCURACY, VALUE

Booleans = npt.NDArray[np.bool_]


@dataclass(frozen=True)
class Donors:
    """Whose output each recipient is given."""

    recipients: IntArray
    "[recipient] Index of its item."
    same: IntArray
    "[recipient] Index of the item with the same answer; another document, another verb, another text."
    other: IntArray
    "[recipient] The same with the other answer; its masked verb is the same piece, counted from 0, as that of `same`."
    matched: Booleans
    "[recipient] Whether both donors are of the recipient's construction, with as many attractors."


def verb_numbers(behaviour: Behaviour) -> tuple[Predictions, list[LeftOut]]:
    """Return the items that ask for the number of a verb at one masked place, and those that do not, with the reason.

    Raises BehaviourError where a behaviour has no such item: the loss, embeddings, pairs of other things than verbs.
    """
    about = f"{behaviour.name}: heads transfer what a masked verb asks for, its number"
    if not isinstance(behaviour, Predictions) or not behaviour.kinds:
        raise BehaviourError(f"{about}; take minimal pairs of agreement")
    kept, left_out, count = [], [], np.bincount([prompt.item for prompt in behaviour.prompts])
    for number, prompt in enumerate(behaviour.prompts):
        kind = behaviour.kinds[prompt.item]
        if reason := _unfit(kind, int(count[prompt.item])):
            left_out.append(LeftOut(behaviour.clusters[prompt.item], kind, reason))
        else:
            kept.append(number)
    if not kept:
        raise BehaviourError(f"{about}; of {len(behaviour.clusters)} items none asks for it ({left_out[0].reason})")
    return _only(behaviour, kept), list({(one.source, one.kind): one for one in left_out}.values())


def _unfit(kind: Kind, prompts: int) -> str:
    if kind.phenomenon != AGREEMENT:
        return "no agreement of a verb"
    if not kind.number:
        return "the number of the verb is not known"
    return "" if prompts == 1 else "not decided at one masked place"


def _only(behaviour: Predictions, prompts: Sequence[int]) -> Predictions:
    """Return a behaviour with so many of its items, each of one prompt."""
    items = [behaviour.prompts[number].item for number in prompts]
    return replace(
        behaviour,
        prompts=[replace(behaviour.prompts[number], item=item) for item, number in enumerate(prompts)],
        clusters=tuple(behaviour.clusters[item] for item in items),
        kinds=tuple(behaviour.kinds[item] for item in items),
        left_out=(),
    )


def received(behaviour: Predictions, donors: Donors) -> Predictions:
    """Return the recipients alone, as a behaviour."""
    return _only(behaviour, donors.recipients.tolist())


def draw_donors(behaviour: Predictions, seed: int) -> tuple[Donors, list[LeftOut]]:
    """Draw two donors for every item of `verb_numbers`; items without them are left out.

    Donors are of another document, ask for another verb and are another text, so that neither an item nor its twin in
    the other number is its own donor. They are of the recipient's construction with as many attractors where there are
    such, else of its construction, its file, or any. What is drawn is a function of `seed` and of the texts, whatever
    order they are in.
    """
    candidates = _Candidates.of(behaviour)
    rows, left_out = [], []
    for item in range(len(behaviour.clusters)):
        if found := candidates.draw(item, seed):
            rows.append((item, *found))
        else:
            reason = "no donors of another document with another verb"
            left_out.append(LeftOut(behaviour.clusters[item], behaviour.kinds[item], reason))
    if not rows:
        raise BehaviourError(f"{behaviour.name}: none of {len(behaviour.clusters)} items has donors for a transfer")
    recipients, same, other, level = (frozen_ints(column) for column in zip(*rows, strict=True))
    return Donors(recipients, same, other, level == 0), left_out


@dataclass(frozen=True)
class _Candidates:
    """What decides who may be a donor of whom, a number an item."""

    behaviour: Predictions
    plural: IntArray
    place: IntArray
    apart: tuple[IntArray, ...]
    "Document, forms of the verb, and text: a donor has another one of each."
    levels: tuple[IntArray, ...]
    "Constructions, from the narrowest to all."
    content: Bits

    @classmethod
    def of(cls, behaviour: Predictions) -> _Candidates:
        prompts, kinds = behaviour.prompts, behaviour.kinds
        texts = [tuple(one.text.ids.tolist()) for one in prompts]
        constructions: list[list[object]] = [
            [(one.paradigm, one.condition, one.attractors) for one in kinds],
            [(one.paradigm, one.condition) for one in kinds],
            [one.paradigm for one in kinds],
            [None for _ in kinds],
        ]
        hashed = [draws("donor", text, one.wanted)[0] for text, one in zip(texts, prompts, strict=True)]
        return cls(
            behaviour,
            _codes([one.number for one in kinds]),
            frozen_ints([one.places[0] for one in prompts]),
            (_codes(behaviour.clusters), _codes([frozenset(one.wanted) for one in prompts]), _codes(texts)),
            tuple(map(_codes, constructions)),
            np.array(hashed, np.uint64),
        )

    def draw(self, item: int, seed: int) -> tuple[int, int, int] | None:
        """Return a donor with the same answer, one with the other, and the level of both; None where there is none."""
        apart = np.logical_and.reduce([codes != codes[item] for codes in self.apart])
        drawn = np.array(draws(seed, "recipient", int(self.content[item]))[:1], np.uint64)
        order = np.argsort(random_bits(drawn, self.content), kind="stable")
        for level, codes in enumerate(self.levels):
            fit = order[(apart & (codes == codes[item]))[order]]
            alike = self.plural[fit] == self.plural[item]
            same, other = fit[alike], fit[~alike]
            same = same[np.isin(self.place[same], self.place[other])]
            if len(same):
                return int(same[0]), int(other[self.place[other] == self.place[same[0]]][0]), level
        return None


def _codes(values: Sequence[object]) -> IntArray:
    """Return a number for each value, the same for equal ones."""
    known: dict[object, int] = {}
    return frozen_ints([known.setdefault(value, len(known)) for value in values])


SAME, OTHER, MEAN = VERSIONS = ("same", "other", "mean")
"""What a head gives in a recipient: what it gave in a donor with the same answer, in one with the other answer, or its
mean over masked verbs, in which both answers weigh the same."""


def measure_transfer(
    behaviour: Predictions,
    donors: Donors,
    *,
    batch_pieces: int = BATCH_PIECES,
    side_by_side: int = PIECES,
    step: Callable[[int], None] = lambda items: None,
) -> Numbers:
    """Give every head, one after the other, what it gave at the masked verbs of the donors of each recipient.

    Returned are the log-odds in nats of the right verb form against the wrong one, [1 + version * head, recipient]: the
    intact model's, then those of VERSIONS in their order, heads layer by layer. Neither `batch_pieces` nor
    `side_by_side` (pieces of a batch, and of its copies) change a number but by rounding. `step` is told how many
    recipients were done.
    """
    outputs = masked_outputs(behaviour)
    plural = torch.tensor([kind.number for kind in behaviour.kinds] == np.array(behaviour.kinds[0].number))
    mean = torch.stack([outputs[at].double().mean(0) for at in (plural, ~plural) if at.any()]).mean(0).to(outputs)
    asked = received(behaviour, donors)
    same, other = (outputs[torch.tensor(one)] for one in (donors.same, donors.other))
    given = torch.stack([same, other, mean.expand_as(same)])
    with sweeping(asked.reader) as sweep:
        work = partial(_margins, sweep, asked, given, side_by_side)
        found: Numbers = asked.measured(work, 1 + given[:, 0, ..., 0].numel(), batch_pieces, step).numpy()
    return found


def masked_outputs(behaviour: Predictions) -> Float[Tensor, "item layer head head_dim"]:
    """Return what every head gives at the one masked place of each item, before W_O."""
    batches = behaviour.batches(BATCH_PIECES)
    parts = []
    for batch in batches:
        outputs = torch.stack(head_outputs(behaviour.reader, behaviour.texts(batch))).cpu()
        place = torch.tensor([behaviour.prompts[item].places[0] for item in batch])
        parts.append(outputs[:, torch.arange(len(batch)), :, place])
    order = torch.argsort(torch.tensor([item for batch in batches for item in batch]))
    return torch.cat(parts)[order]


@torch.inference_mode()
def _margins(
    sweep: Sweep, asked: Predictions, given: Tensor, side_by_side: int, batch: Sequence[int]
) -> Float[Tensor, "variant item"]:
    """Return the margins of a batch of recipients: intact, then of every version and head."""
    texts = asked.texts(batch)
    trace = sweep.trace(texts)
    width = texts.ids.shape[1]
    places = torch.tensor([asked.prompts[item].places[0] for item in batch])[:, None] == torch.arange(width)
    variants = [(), *((one,) for one in _patches(given[:, batch], places))]
    values = trace.output.new_zeros(len(variants), len(batch))
    for numbers, output in sweep.run(texts, variants, trace, pieces=side_by_side):
        values[numbers] = asked.values(batch, texts, output, trace.output)
    return values


def _patches(given: Float[Tensor, "version item layer head head_dim"], places: Tensor) -> Iterator[Patch]:
    for version in given:
        for layer in range(version.shape[1]):
            for head in range(version.shape[2]):
                yield Patch(layer, head, version[:, layer, head, None].expand(-1, places.shape[1], -1), places)


def transfer_table(
    behaviour: Predictions,
    donors: Donors,
    margins: Numbers,
    shape: tuple[int, int],
    effort: Effort,
    *,
    alpha: float = 0.05,
) -> pd.DataFrame:
    """Return one row a head; margins are in nats, accuracies and `points` in shares. `shape` is (layers, heads).

    `transfer` is the mean margin with the output of a donor of the same answer less that with a donor of the other
    answer; `over_mean` is the former less that with the mean output; `points` the same difference of accuracies as
    `transfer`. Intervals are those of resampled clusters of recipients, who keep their donors. p is of
    `probes.evidence.leads.two_sided` by cluster, `p_adjusted` corrected for all heads, `p_over_mean` the corrected
    one of `over_mean`. A head `transfers` where both are above 0 and both corrected p below `alpha`; differences of
    a recipient up to NEAR count as none there.
    """
    asked = received(behaviour, donors)
    value, credit = (one for one in measures(asked, margins) if one.name in (VALUE, ACCURACY))
    patched, right = (one.values[1:].reshape(len(VERSIONS), -1, len(asked.prompts)) for one in (value, credit))
    same, other, mean = patched
    transfer, over_mean = same - other, same - mean
    p, p_adjusted = value.two_sided(_beyond_rounding(transfer))
    _, p_over_mean = value.two_sided(_beyond_rounding(over_mean))
    columns = {
        **{**named_heads(shape), **value.about, "matched": donors.matched.mean()},
        **dict(zip(("intact", *VERSIONS), (margins[0].mean(), *patched.mean(2)), strict=True)),
        **value.estimate(transfer, effort, "transfer", "transfer"),
        **value.estimate(over_mean, effort, "over_mean", "over_mean"),
        "accuracy": credit.values[0].mean(),
        **{f"accuracy_{version}": one for version, one in zip(VERSIONS, right.mean(2), strict=True)},
        **credit.estimate(right[0] - right[1], effort, "points", "points"),
        **{"p": p, "p_adjusted": p_adjusted, "p_over_mean": p_over_mean},
        "transfers": _above(transfer, p_adjusted, alpha) & _above(over_mean, p_over_mean, alpha),
    }
    return pd.DataFrame(columns)


def _beyond_rounding(of_items: Numbers) -> Numbers:
    return np.where(np.abs(of_items) > NEAR, of_items, 0)


def _above(of_items: Numbers, p: Numbers, alpha: float) -> Booleans:
    found: Booleans = (of_items.mean(1) > 0) & (p < alpha)
    return found
