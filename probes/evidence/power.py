"""How significantly a lead is found in so many documents, and how many it takes."""

from __future__ import annotations

import math
from bisect import bisect_left
from dataclasses import dataclass

LARGEST = 10_000_000
"More documents than this are not told."


@dataclass(frozen=True)
class LeadTest:
    """The test of a head's lead in one label: what it asks, and how the documents of a corpus vary."""

    lead: float
    "The lead that is to be found, over all documents there are."
    margin: float
    "What it must be more than."
    level: float
    "What the uncorrected p must be below."
    alpha: float
    "What the adjusted p must be below."
    spread: float
    "Standard deviation of the leads of documents of mean weight: the standard error times the root of their number."

    def power(self, documents: float) -> float:
        """Return the share of corpora of so many (effective) documents in which the lead is found.

        That of Student's t, which follows the noncentral distribution where leads of documents are normal; 0 for fewer
        documents than show any p below the level (see `Documents.p_above` and `p_unseen` of `probes.evidence.leads`).
        """
        from scipy.special import stdtrit
        from scipy.stats import nct

        if documents < self.fewest:
            return 0.0
        away = (self.lead - self.margin) * math.sqrt(documents) / max(self.spread, 1e-9)
        freedom = documents - 1
        return float(nct.sf(stdtrit(freedom, 1 - self.level), freedom, away)) if away < 30 else 1.0

    @property
    def fewest(self) -> float:
        """How few documents can show the lead at all; infinite where it is no larger than the margin."""
        if self.lead <= self.margin:
            return math.inf
        unseen = math.log(self.alpha) / math.log1p(-(self.lead - self.margin) / (1 + self.lead))
        return max(2.0, unseen, -math.log2(self.level))

    def documents(self, power: float) -> int | None:
        """Return how many documents find the lead in that share of corpora; None for more than LARGEST."""
        if not self.fewest < LARGEST or self.power(LARGEST) < power:
            return None
        few = math.ceil(self.fewest)
        return few + bisect_left(range(few, LARGEST), power, key=self.power)
