"""What a report says first, in sentences built from its numbers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from reports.formats import count, percent, signed, signed_interval
from reports.tables import CLASSIFIER, FEW_CLUSTERS, BestHead

Best = Mapping[str, Sequence[BestHead]]


MOST_OF_ONE_PROBE = 2
"Leaders that one probe may have, so that positions do not fill the list."


@dataclass(frozen=True)
class Summary:
    """A few sentences and the heads with the largest margins."""

    sentences: tuple[str, ...]
    leaders: tuple[BestHead, ...]
    "Up to five labels, each with its best variant; only rows with 20 clusters or more."


def summarise(best: Best, record: Mapping[str, Any], layers: int, heads: int) -> Summary:
    """Build the summary of a run from the chosen heads of every probe."""
    untrained = [row for probe, rows in best.items() if probe != CLASSIFIER for row in rows]
    sentences = [
        _scope(untrained, record, layers, heads),
        *_margins(untrained),
        *_tables(untrained),
        *_classifiers(best.get(CLASSIFIER, ())),
        *_warnings(untrained),
    ]
    return Summary(tuple(sentences), _leaders(untrained))


def _scope(rows: Sequence[BestHead], record: Mapping[str, Any], layers: int, heads: int) -> str:
    """Say what was scored, where heads were chosen and where they are reported."""
    labels = len({(row.probe, row.label) for row in rows})
    select, report = (_corpus(record, split) for split in ("select", "report"))
    return (
        f"{layers * heads} heads ({layers} layers of {heads}) were scored on {labels} labels in {len(rows)} "
        f"label–variant pairs; each pair’s best head was chosen on {select} and is reported on {report}."
    )


def _corpus(record: Mapping[str, Any], split: str) -> str:
    """Name a corpus with its size."""
    corpus = record.get("corpora", {}).get(split, {})
    size = f" ({count(corpus['sentences'])} sentences)" if "sentences" in corpus else ""
    return f"{corpus.get('name', f'the {split} split')}{size}"


def _margins(rows: Sequence[BestHead]) -> list[str]:
    """Count the labels whose head is surely above, or below, the strongest baseline."""
    judged = [row for row in rows if row.baseline and row.margin_low == row.margin_low]
    if not judged:
        return []
    above = sum(row.beats_baseline for row in judged)
    below = sum(row.loses_to_baseline for row in judged)
    return [
        f"In {above} of {len(judged)} pairs with a baseline the chosen head is above its strongest baseline (the 95 % "
        f"interval of the margin lies above 0), in {below} below it; the other {len(judged) - above - below} are "
        "undecided."
    ]


def _tables(rows: Sequence[BestHead]) -> list[str]:
    """Count the heads that are also above the lexical table."""
    judged = [row for row in rows if row.lexical_accuracy == row.lexical_accuracy and row.accuracy == row.accuracy]
    above = sum(row.accuracy > row.lexical_accuracy for row in judged)
    if not judged:
        return []
    return [
        f"In {above} of {len(judged)} pairs the head is also above the lexical table, a supervised count of word forms "
        "and offsets; the head had no supervision."
    ]


def _classifiers(rows: Sequence[BestHead]) -> list[str]:
    """Count the trained classifiers that are selective."""
    above = sum(row.beats_baseline for row in rows)
    if not rows:
        return []
    return [f"In {above} of {len(rows)} trained classifiers the interval of the selectivity lies above 0."]


def _warnings(rows: Sequence[BestHead]) -> list[str]:
    """Say how many rows rest on little, or on nothing."""
    few = sum(row.has_few_clusters for row in rows)
    none = sum(row.n == 0 for row in rows)
    said = [f"Pairs that rest on fewer than {FEW_CLUSTERS} clusters, and are marked: {few}."] if few else []
    return said + ([f"Pairs with nothing to score or no head to choose, shown as “–”: {none}."] if none else [])


def _leaders(rows: Sequence[BestHead]) -> tuple[BestHead, ...]:
    """The five relations with the largest sure margins, each once and at most two of one probe."""
    ranked = sorted((row for row in rows if row.margin > 0 and not row.has_few_clusters), key=lambda row: row.order)
    leaders: dict[tuple[str, str], BestHead] = {}
    for row in ranked:
        of_probe = sum(probe == row.probe for probe, _ in leaders)
        if of_probe < MOST_OF_ONE_PROBE:
            leaders.setdefault((row.probe, row.label.partition(":")[0]), row)
    return tuple(leaders.values())[:5]


def leader_sentence(row: BestHead) -> str:
    """Say one leader in one line, for text without tables."""
    return (
        f"head {row.name} on {row.label} ({row.variant}): {percent(row.accuracy)} % against "
        f"{percent(row.baseline_accuracy)} % ({row.baseline}), margin {signed(row.margin)} "
        f"{signed_interval(row.margin_low, row.margin_high)}"
    )
