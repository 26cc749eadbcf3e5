"""What a report says first, in sentences built from its numbers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import median

from reports.formats import count, p_value, percent, points, signed, signed_interval
from reports.run.needed_items import NeededItems
from reports.run.record import RunRecord
from reports.scores.best_heads import CLASSIFIER, FEW_CLUSTERS, BestHead
from reports.scores.verdicts import Finds, Head, RunThresholds, Verdicts

Best = Mapping[str, Sequence[BestHead]]

MOST_OF_ONE_PROBE = 2
"Leaders that one probe may have, so that positions do not fill the list."

MOST_NAMED = 3
"Heads beyond the lexical table, or beyond the rules, that are named."


@dataclass(frozen=True)
class Summary:
    """A few sentences and the heads with the largest margins."""

    sentences: tuple[str, ...]
    leaders: tuple[BestHead, ...]
    "Up to five labels, each with its best variant, of specialised heads if there are any; rows of 20 clusters or more."


def summarise(best: Best, record: RunRecord, verdicts: Verdicts, layers: int, heads: int) -> Summary:
    """Build the summary of a run from the verdicts and from the chosen heads of every probe."""
    untrained = [row for probe, rows in best.items() if probe != CLASSIFIER for row in rows]
    sentences = [
        *_found(verdicts.finds, layers * heads),
        *_beyond("the lexical table", "table", [(one.with_table, one.beyond) for one in verdicts.finds]),
        *_beyond("the rules of grammar", "rule", [(one.with_rule, one.beyond_rules) for one in verdicts.finds]),
        *_sure(untrained, verdicts.rule),
        _scope(untrained, record, layers, heads),
        *_margins(untrained),
        *_classifiers(best.get(CLASSIFIER, ())),
        *_warnings(untrained, verdicts.design),
    ]
    return Summary(tuple(sentences), _leaders(untrained))


def _found(finds: Sequence[Finds], heads: int) -> list[str]:
    """Say in how many labels and pairs, and how many heads, are specialised; by probe where there are several."""
    if not finds:
        return ["No label has a baseline to be tested against, so there are no verdicts."]
    pairs, tested = sum(one.found_pairs for one in finds), sum(one.pairs for one in finds)
    labels, known = sum(one.found_labels for one in finds), sum(one.labels for one in finds)
    specialised = frozenset[str]().union(*(one.heads for one in finds))
    by_pairs = ", ".join(f"{one.probe} {one.found_pairs} of {one.pairs}" for one in finds)
    by_heads = ", ".join(f"{one.probe} {len(one.heads)}" for one in finds)
    return [
        f"Labels with at least one specialised head: {labels} of {known} tested, in {pairs} of their {tested} "
        f"label–variant pairs ({by_pairs}).",
        f"Heads that are specialised in at least one label: {len(specialised)} of {heads} ({by_heads}).",
    ]


def _beyond(what: str, such: str, finds: Sequence[tuple[int, Sequence[Head]]]) -> list[str]:
    """Count and name the specialised heads that are beyond `what`; of every probe the pairs that have it, and heads."""
    known = sum(pairs for pairs, _ in finds)
    if not known:
        return []
    beyond = [head for _, heads in finds for head in heads]
    pairs, names = sum(len({head[1:] for head in heads}) for _, heads in finds), len({head[0] for head in beyond})
    first = [f"{name} in {label} ({variant})" for name, label, variant in beyond[:MOST_NAMED]]
    more = [f"+{len(beyond) - MOST_NAMED}"] if len(beyond) > MOST_NAMED else []
    who = f", by {names} head{'s' if names > 1 else ''}: {', '.join([*first, *more])}" if beyond else ""
    return [f"Beyond {what}: {pairs} of the {known} pairs with a specialised head and such a {such}{who}."]


def _sure(rows: Sequence[BestHead], rule: RunThresholds) -> list[str]:
    """Say how many finds may be false, and how firmly the chosen heads were chosen."""
    stable = [row.stability for row in rows if row.specialised]
    if not stable:
        return []
    return [
        f"How sure: of the pairs in which a head’s adjusted p is below {rule.alpha:g}, on average at most "
        f"{points(rule.alpha)} % have one by chance (proven for labels that share no words). Where the chosen "
        f"head is specialised, it is the best again in "
        f"{percent(median(stable))} % of resamples of the selection split (median; lowest {percent(min(stable))} %)."
    ]


def _scope(rows: Sequence[BestHead], record: RunRecord, layers: int, heads: int) -> str:
    """Say what was scored, where heads were chosen and where they are reported."""
    labels = len({(row.probe, row.label) for row in rows})
    select, report = (corpus_name(record, split) for split in ("select", "report"))
    return (
        f"{layers * heads} heads ({layers} layers of {heads}) were scored on {labels} labels in {len(rows)} "
        f"label–variant pairs; each pair’s best head was chosen on {select} and is reported on {report}."
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
        f"In {above} of {len(judged)} pairs with a baseline the chosen head is above the strongest of baselines and "
        f"controls (the 95 % interval of the margin lies above 0), in {below} below it; the other "
        f"{len(judged) - above - below} are undecided."
    ]


def _classifiers(rows: Sequence[BestHead]) -> list[str]:
    """Count the trained classifiers that are selective."""
    above = sum(row.beats_baseline for row in rows)
    if not rows:
        return []
    return [f"In {above} of {len(rows)} trained classifiers the interval of the selectivity lies above 0."]


def _warnings(rows: Sequence[BestHead], design: NeededItems | None) -> list[str]:
    """Say how many rows rest on little, or on nothing."""
    few = sum(row.has_few_clusters for row in rows)
    small = sum(design.marks(row.n, row.clusters) for row in rows) if design else 0
    none = sum(row.n == 0 for row in rows)
    said = [f"Pairs that rest on fewer than {FEW_CLUSTERS} clusters, and are marked ⚠: {few}."] if few else []
    if design and small:
        said.append(f"Pairs that are too small for a missing verdict to say much, and marked †: {small}. {design.said}")
    return said + ([f"Pairs with nothing to score or no head to choose, shown as “–”: {none}."] if none else [])


def _leaders(rows: Sequence[BestHead]) -> tuple[BestHead, ...]:
    """The five relations with the largest sure margins, at most two of one probe; only specialised heads if any are."""
    trusted = [row for row in rows if row.margin > 0 and not row.has_few_clusters]
    ranked = [row for row in trusted if row.specialised] or trusted
    leaders: dict[tuple[str, str], BestHead] = {}
    for row in sorted(ranked, key=lambda row: row.order):
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
        f"{percent(row.baseline_accuracy)} % ({row.baseline}), margin {signed(row.margin)} "
        f"{signed_interval(row.margin_low, row.margin_high)}; {row.verdict} (adjusted p {told}, "
        f"stability {percent(row.stability)} %)"
    )
