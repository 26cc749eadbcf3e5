"""The heads that a report names first."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from reports.scores.best_heads import CLASSIFIER, BestHead
from reports.tables.grades import own_labels

Best = Mapping[str, Sequence[BestHead]]
"Probe -> its best heads."

MOST_OF_ONE_PROBE = 2
"Leaders that one probe may have, so that positions do not fill the list."


def best_rows(best: Best) -> list[BestHead]:
    """Return the best heads of all probes, trained classifiers left out."""
    return [row for probe, rows in best.items() if probe != CLASSIFIER for row in rows]


def leaders(rows: Sequence[BestHead]) -> tuple[BestHead, ...]:
    """The five relations with the highest grades and the surest margins, two of one probe at most.

    Of specialised or graded heads where there are any, and of labels that are no pool or slice of others.
    """
    own = own_labels((row.probe, row.label) for row in rows)
    trusted = [row for row in rows if row.margin > 0 and not row.has_few_clusters and (row.probe, row.label) in own]
    graded = [row for row in trusted if row.grade] or trusted
    ranked = [row for row in trusted if row.specialised] or graded
    first: dict[tuple[str, str], BestHead] = {}
    for row in sorted(ranked, key=lambda row: (-row.grade, row.order)):
        of_probe = sum(probe == row.probe for probe, _ in first)
        if of_probe < MOST_OF_ONE_PROBE:
            first.setdefault((row.probe, row.label.partition(":")[0]), row)
    return tuple(first.values())[:5]
