"""Signs before numbers that say: read this with care."""

from __future__ import annotations

from typing import Final

from reports.tables.cells import Mark

FEW_CLUSTERS: Final = 20
"Below this many documents (or sentences) a bootstrap interval is rough, and is marked."


def few_clusters(clusters: int) -> tuple[Mark, ...]:
    """Return the mark of a number that rests on few clusters; none where they are enough, or nothing was counted."""
    if not 0 < clusters < FEW_CLUSTERS:
        return ()
    return (Mark("⚠", f"{clusters} clusters, fewer than {FEW_CLUSTERS}: intervals and tests are rough", "few"),)
