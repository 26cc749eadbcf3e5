"""Donors: for each sentence with a masked verb one whose verb has the same number, and one whose has the other."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from probes.causal.behaviours import Behaviour, BehaviourError, Predictions
from probes.minimal_pairs import AGREEMENT, Kind, LeftOut
from probes.records import IntArray, frozen_ints
from probes.scoring.hashed_random import Bits, draws, random_bits

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
