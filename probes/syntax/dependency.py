"""Dependency relations: attention from a word to its syntactic head, or from a head to its dependents."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from probes.records import Document
from probes.registry import TreeProbe, register
from probes.targets import Targets


@register
@dataclass(frozen=True)
class Dependency(TreeProbe):
    """The most attended other word is the syntactic head, or a dependent, over any set of labels.

    dependent->head: row of the dependent, right is its head. head->dependent: row of the head, right is any of its
    dependents with that label. head<-dependent: column of the dependent, right is its head (what Clark et al. 2019,
    section 4.2, call the other direction). Arcs from the root are not scored.

    >>> from probes.records import Document, Sentence, frozen_ints
    >>> words, relations = ("the", "old", "ship", "sank"), ("det", "amod", "nsubj", "root")
    >>> text = Document("d", (Sentence("s", words, frozen_ints([2, 2, 3, -1]), relations),))
    >>> asked = Dependency().targets(text)["dependent->head"]
    >>> [(int(query), int(gold), label) for query, gold, label in zip(asked.query, asked.gold[0], asked.label)]
    [(0, 2, 'det'), (1, 2, 'amod'), (2, 3, 'nsubj')]
    """

    name: ClassVar[str] = "dependency"
    variants: ClassVar[tuple[str, ...]] = ("dependent->head", "head->dependent", "head<-dependent")
    source: ClassVar[str] = "Clark et al. 2019, section 4.2; Voita et al. 2019, section 5.2"

    def targets(self, document: Document) -> dict[str, Targets]:
        """Return one item an arc; for head->dependent one a head and label."""
        dependent = np.flatnonzero(document.heads >= 0)
        head = document.heads[dependent]
        label = [document.deprels[i] for i in dependent]
        return {
            "dependent->head": Targets.pairs(dependent, head, label),
            "head->dependent": Targets.grouped(zip(head.tolist(), dependent.tolist(), label, strict=True)),
            "head<-dependent": Targets.pairs(dependent, head, label, by_column=True),
        }

    def pool(self, label: str) -> Sequence[str]:
        """A relation counts as itself, with its subtypes ("nsubj:*"), and among all; a word without one among all."""
        if not label:
            return ("all",)
        return (label, label.partition(":")[0] + ":*", "all")
