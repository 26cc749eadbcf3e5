"""How many items a verdict needs, as a run writes it down beside its scores."""

from __future__ import annotations

from dataclasses import dataclass

from reports.formats import points


@dataclass(frozen=True)
class NeededItems:
    """How many scored words a verdict needs, as a run has found out beforehand."""

    margin: float
    "A head that is really this much above its baselines ..."
    power: float
    "... is called specialised in this share of runs ..."
    items: int
    "... that score this many words ..."
    documents: int = 0
    "... in this many documents."
    source: str = ""
    "The study that says so."

    def marks(self, n: int, clusters: int) -> bool:
        """Whether a label with `n` scored words in so many clusters is too small to miss a verdict for a reason."""
        return n > 0 and (n < self.items or clusters < self.documents)

    @property
    def said(self) -> str:
        """What the mark means, in one sentence."""
        source = f" ({self.source})" if self.source else ""
        documents = f" in {self.documents:,} documents" if self.documents else ""
        return (
            f"To be called specialised in {points(self.power)} % of runs, a head that is really {points(self.margin)} "
            f"percentage points above its baselines takes {self.items:,} scored words{documents}{source}; a label that "
            f"has less is marked †, and a missing verdict there says little."
        )
