"""Senses: attention from an ambiguous noun to the word that decides which sense it has."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from probes.records import Document
from probes.registry import CONTROLS, register
from probes.targets import OTHERS, Targets, key_sets
from probes.words.senses import CUE, DISTRACTOR, TARGET

_BANDS = ((1, "distance=1"), (3, "distance=2-3"), (6, "distance=4-6"))


@dataclass(frozen=True)
class Decided:
    """An ambiguous noun and the word that decides its sense."""

    noun: int
    cue: int
    distractor: int | None
    "The word of the other sense, where the sentence has one."
    kind: str
    'Noun and sense ("bank: river").'

    @property
    def label(self) -> str:
        """Noun and sense, band of distance, side of the cue, and whether there is a baseline."""
        distance = abs(self.cue - self.noun)
        band = next((name for far, name in _BANDS if distance <= far), "distance>=7")
        side = "cue before" if self.cue < self.noun else "cue after"
        return ", ".join((self.kind, band, side, "no rival" if self.distractor is None else "with a rival"))


@register
@dataclass(frozen=True)
class Sense:
    """The most attended other word of an ambiguous noun is the one that decides its sense (or the reverse).

    One item an ambiguous noun of a made sentence (the corpus "senses", `probes.words.senses`). Labels are noun and
    sense, the noun, the band of distance, the side on which the deciding word stands, and whether a word of the other
    sense stands in the sentence too; in the last variant only these two are candidates. What the forms of the cues give
    away says the lexical table. The items are this project's own. Tang, Sennrich and Nivre (2018) asked the like of
    translation and found more attention on the ambiguous nouns themselves than on their context.

    >>> from probes.records import Document, Mention, Sentence, frozen_ints
    >>> mentions = (Mention((0,), 0, "cue"), Mention((2,), 2, "ambiguous"))
    >>> words, n = ("Loan", "from", "bank", "."), 4
    >>> sentence = Sentence("s", words, frozen_ints([-1] * n), ("",) * n, mentions=mentions, kind="bank: money")
    >>> asked = Sense().targets(Document("d", (sentence,)))["noun->cue"]
    >>> int(asked.query[0]), int(asked.gold[0][0]), asked.label[0]
    (2, 0, 'bank: money, distance=2-3, cue before, no rival')
    """

    name: ClassVar[str] = "sense"
    variants: ClassVar[tuple[str, ...]] = ("noun->cue", "cue->noun", "noun->cue or rival")
    scope: ClassVar[str] = "sentence"
    baselines: ClassVar[tuple[str, ...]] = (
        *("offset", "likeliest distance", "nearest candidate", "first candidate", "uniform"),
    )
    rules: ClassVar[tuple[str, ...]] = ()
    controls: ClassVar[tuple[str, ...]] = CONTROLS
    needs: ClassVar[str] = "senses"
    source: ClassVar[str] = "items of this project; compare Tang, Sennrich and Nivre 2018"

    def targets(self, document: Document) -> dict[str, Targets]:
        """Return one item an ambiguous noun with a cue."""
        found = list(decided(document))
        noun, cue = (np.array([getattr(one, name) for one in found], np.int64) for name in ("noun", "cue"))
        label = [one.label for one in found]
        two = [(one, (one.cue, one.distractor)) for one in found if one.distractor is not None]
        return {
            "noun->cue": Targets.pairs(noun, cue, label, candidates=OTHERS),
            "cue->noun": Targets.pairs(cue, noun, label, candidates=OTHERS),
            "noun->cue or rival": Targets.sets(
                [one.noun for one, _ in two],
                [(one.cue,) for one, _ in two],
                [one.label for one, _ in two],
                key_sets([keys for _, keys in two]),
            ),
        }

    def pool(self, label: str) -> Sequence[str]:
        """An item counts among all, with each part of its label, and with its noun."""
        kind, *others = label.split(", ")
        return ("all", kind, kind.partition(":")[0], *others)


def decided(document: Document) -> Iterator[Decided]:
    """Yield the ambiguous noun of every sentence that has one, with its cue."""
    for sentence, start in zip(document.sentences, document.starts.tolist(), strict=True):
        at = {mention.entity: start + mention.head for mention in sentence.mentions}
        if TARGET in at and CUE in at:
            yield Decided(at[TARGET], at[CUE], at.get(DISTRACTOR), sentence.kind)
