"""What power the test of leads above a margin costs: both rules in the same simulated runs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from reports.formats import percent
from reports.sandbox.record import Power


@dataclass(frozen=True)
class Loss:
    """Shares of runs in which the planted heads of one lead and size are found, as means over roles."""

    margin: float
    "The lead that was planted."
    documents: int
    roles: int
    graded: float
    "By the first grade."
    former: float
    "By the former rule."

    @property
    def gained(self) -> float:
        """Power now minus that of the former rule."""
        return self.graded - self.former


def losses(power: Sequence[Power]) -> list[Loss]:
    """Return the power of both rules for each lead and size at which both were measured."""
    both = [row for row in power if row.graded.known and row.former.known]
    found = []
    for margin, documents in sorted({(row.margin, row.documents) for row in both}):
        rows = [row for row in both if (row.margin, row.documents) == (margin, documents)]
        graded, former = (
            sum(r.value for r in rates) / len(rows)
            for rates in zip(*((row.graded, row.former) for row in rows), strict=True)
        )
        found.append(Loss(margin, documents, len(rows), graded, former))
    return found


def loss_sentences(power: Sequence[Power]) -> list[str]:
    """Say what power there is beside that of the former rule, over all roles and sizes."""
    rows, parts = losses(power), []
    for margin in dict.fromkeys(row.margin for row in rows):
        own = [row for row in rows if row.margin == margin]
        now, before = (
            sum(values) / len(own) for values in zip(*((row.graded, row.former) for row in own), strict=True)
        )
        parts.append(f"{percent(now)} instead of {percent(before)} % at {percent(margin)}")
    if not parts:
        return []
    return [
        "Power beside the former rule (above every baseline by sign flips, and ten points as measured), the mean over "
        f"roles and sizes, by the planted lead in points: {'; '.join(parts)}."
    ]
