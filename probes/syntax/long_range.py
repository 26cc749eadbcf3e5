"""Long range: every dependency by the distance between its two words."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from probes.records import Document
from probes.registry import TreeProbe, register
from probes.targets import Targets

BORDERS = (2, 4, 8, 16)
BANDS = ("1", "2-3", "4-7", "8-15", "16+")
"Distances in words, 1 for neighbours."


@register
@dataclass(frozen=True)
class LongRange(TreeProbe):
    """The most attended other word is the syntactic head, or a dependent, of any relation, by distance in words.

    dependent->head: row of the dependent, right is its head. head->dependent: row of the head, right is any dependent
    in that band of distance. Labels are bands: 1, 2-3, 4-7, 8-15, 16+. Arcs of punctuation and from the root are not
    scored.

    >>> from probes.records import Document, Sentence, frozen_ints
    >>> words, relations = ("the", "old", "ship", "sank"), ("det", "amod", "nsubj", "root")
    >>> text = Document("d", (Sentence("s", words, frozen_ints([2, 2, 3, -1]), relations),))
    >>> asked = LongRange().targets(text)["dependent->head"]
    >>> [(int(query), int(gold), label) for query, gold, label in zip(asked.query, asked.gold[0], asked.label)]
    [(0, 2, '2-3'), (1, 2, '1'), (2, 3, '1')]
    """

    name: ClassVar[str] = "range"
    variants: ClassVar[tuple[str, ...]] = ("dependent->head", "head->dependent")
    source: ClassVar[str] = "Vig and Belinkov 2019, section on dependency distance; Clark et al. 2019, section 4.2"

    def targets(self, document: Document) -> dict[str, Targets]:
        """Return one item an arc; for head->dependent one a head and band."""
        word = np.array([deprel != "punct" for deprel in document.deprels], bool)
        dependent = np.flatnonzero(word & (document.heads >= 0))
        head = document.heads[dependent]
        label = [BANDS[i] for i in np.searchsorted(BORDERS, np.abs(dependent - head), "right").tolist()]
        forth, back = self.variants
        return {
            forth: Targets.pairs(dependent, head, label),
            back: Targets.grouped(zip(head.tolist(), dependent.tolist(), label, strict=True)),
        }
