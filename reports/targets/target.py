"""The three targets of the page, and in which order and place their questions stand."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final

from reports.tables import grades

FIRST, SPECIAL, FURTHER = PLACES = ("first", "special", "further")
"Where a question stands: in the first table of its target, among special tokens, or in what a page unfolds."


@dataclass(frozen=True)
class RoleTarget:
    """One target: the probes that ask for it, and which of their labels a reader sees first.

    Labels are found by patterns, for a corpus need not have all of them.
    """

    name: str
    title: str
    probes: tuple[str, ...]
    "The first that a run has asked leads."
    leads: tuple[str, ...]
    "Labels that the summary tells, in the first variant of the probe."
    labels: str
    "Pattern of the labels of the first table."
    pooled: str = "all"
    "The label that stands there in every variant; the others in their first one."
    special: tuple[str, ...] = ()
    of_language: bool = True
    "Whether its labels are roles of language."

    def place(self, label: str, *, first_variant: bool) -> str:
        """Return where the question of a label stands, read in its first variant or in another one.

        >>> AGREEMENT.place("attractors=1", first_variant=True), AGREEMENT.place("distance=1", first_variant=True)
        ('first', 'further')
        """
        if label in self.special:
            return SPECIAL
        shown = re.fullmatch(self.labels, label) and (first_variant or label == self.pooled)
        return FIRST if shown else FURTHER

    def rank(self, label: str) -> tuple[int, str]:
        """Return the sort key of a label: those of the summary first, then by name."""
        return (self.leads.index(label) if label in self.leads else len(self.leads)), label


AGREEMENT: Final = RoleTarget(
    "agreement", "Subject-verb agreement", ("agreement",), ("all",), "all|attractors(=1|>=2)|attractor=.*|person=3"
)

COREFERENCE: Final = RoleTarget(
    "coreference", "Coreference", ("coreference", "antecedent"), ("all",), "all|pronoun.*|proper|nominal"
)

POSITION: Final = RoleTarget(
    *("position", "Position", ("position",), ("previous", "next"), "previous|next"),
    special=grades.SPECIAL,
    of_language=False,
)

TARGETS: Final = (AGREEMENT, COREFERENCE, POSITION)
"In the order of the page."
