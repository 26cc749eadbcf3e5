"""What a report says first, in sentences built from its numbers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import median

from reports.baseline_names import shown_baseline
from reports.formats import count, p_value, percent, points, signed, signed_interval
from reports.run.record import RunRecord
from reports.scores.best_heads import CLASSIFIER, FEW_CLUSTERS, BestHead
from reports.scores.verdicts import RunThresholds, Verdicts
from reports.tables.grades import own_labels

Best = Mapping[str, Sequence[BestHead]]

MOST_OF_ONE_PROBE = 2
"Leaders that one probe may have, so that positions do not fill the list."


@dataclass(frozen=True)
class Summary:
    """A few sentences and the heads with the largest margins."""

    sentences: tuple[str, ...]
    leaders: tuple[BestHead, ...]
    "Up to five labels, each with its best variant, specialised heads first, then those with a grade; rows without ⚠."


def summarise(best: Best, record: RunRecord, verdicts: Verdicts, layers: int, heads: int) -> Summary:
    """Build the summary of a run from the verdicts and from the chosen heads of every probe."""
    untrained = [row for probe, rows in best.items() if probe != CLASSIFIER for row in rows]
    sentences = [
        *(verdicts.counted(layers * heads) or ("No label has a baseline to be tested against, so nothing is graded.",)),
        *_proven(untrained, verdicts.rule),
        _scope(untrained, record, layers, heads),
        *_margins(untrained),
        *_classifiers(best.get(CLASSIFIER, ())),
        *_warnings(untrained),
    ]
    return Summary(tuple(sentences), _leaders(untrained))


def _proven(rows: Sequence[BestHead], rule: RunThresholds) -> list[str]:
    """Say what is tested, what is only measured, and how firmly the chosen heads were chosen."""
    if not any(row.p_adjusted == row.p_adjusted for row in rows):
        return []
    stable = [row.stability for row in rows if row.grade]
    sentences = [
        f"Tested: a graded head leads every baseline of its grade by more than {points(rule.margin)} points (adjusted "
        f"p below {rule.alpha:g}). For each grade the false discovery rate over label–direction pairs is at most "
        f"{points(rule.alpha)} % (Benjamini and Yekutieli 2001). Each verdict “no” has an error rate of 5 % by itself.",
        "Reported, not tested: accuracy, mass, precision and lift.",
    ]
    if stable:
        sentences.append(
            f"Where the selected head has a grade, it is selected again in {percent(median(stable))} % of resamples of "
            f"the selection split (median; lowest {percent(min(stable))} %)."
        )
    return sentences


def _scope(rows: Sequence[BestHead], record: RunRecord, layers: int, heads: int) -> str:
    """Say what was scored, where heads were chosen and where they are reported."""
    labels = len({(row.probe, row.label) for row in rows})
    select, report = (corpus_name(record, split) for split in ("select", "report"))
    return (
        f"{layers * heads} heads ({layers} layers of {heads}) were scored on {labels} labels in {len(rows)} "
        f"label–direction pairs; the best head of each pair was selected on {select} and evaluated on {report}."
    )


def corpus_name(record: RunRecord, split: str) -> str:
    """Return the name of a split's corpus with its size."""
    corpus = record.corpus(split)
    size = f" ({count(corpus.sentences)} sentences)" if corpus.sentences is not None else ""
    return f"{corpus.name or f'the {split} split'}{size}"


def _margins(rows: Sequence[BestHead]) -> list[str]:
    """Count the labels whose head is surely above, or below, the strongest baseline."""
    judged = [row for row in rows if row.baseline and row.margin_low == row.margin_low]
    if not judged:
        return []
    above = sum(row.beats_baseline for row in judged)
    below = sum(row.loses_to_baseline for row in judged)
    return [
        f"The 95 % interval of the margin over the strongest baseline or control lies above 0 in {above} of "
        f"{len(judged)} pairs, below 0 in {below} and contains 0 in {len(judged) - above - below} (not corrected)."
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
    said = [f"Pairs whose effective number of documents is below {FEW_CLUSTERS}, marked ⚠: {few}."] if few else []
    return said + ([f"Pairs with nothing to score or no head to select, shown as “–”: {none}."] if none else [])


def _leaders(rows: Sequence[BestHead]) -> tuple[BestHead, ...]:
    """The five relations with the highest grades and the surest margins, two of one probe at most.

    Of specialised or graded heads where there are any, and of labels that are no pool or slice of others.
    """
    own = own_labels((row.probe, row.label) for row in rows)
    trusted = [row for row in rows if row.margin > 0 and not row.has_few_clusters and (row.probe, row.label) in own]
    graded = [row for row in trusted if row.grade] or trusted
    ranked = [row for row in trusted if row.specialised] or graded
    leaders: dict[tuple[str, str], BestHead] = {}
    for row in sorted(ranked, key=lambda row: (-row.grade, row.order)):
        of_probe = sum(probe == row.probe for probe, _ in leaders)
        if of_probe < MOST_OF_ONE_PROBE:
            leaders.setdefault((row.probe, row.label.partition(":")[0]), row)
    return tuple(leaders.values())[:5]


def leader_sentence(row: BestHead) -> str:
    """Say one leader in one line, for text without tables."""
    p = p_value(row.p_adjusted)
    told = p if p.startswith("<") else f"= {p}"
    return (
        f"head {row.name} on {row.label} ({row.variant}): {percent(row.accuracy)} % against "
        f"{percent(row.baseline_accuracy)} % ({shown_baseline(row.baseline)}), margin {signed(row.margin)} "
        f"{signed_interval(row.margin_low, row.margin_high)}; {row.graded} (adjusted p {told}, "
        f"stability {percent(row.stability)} %)"
    )
