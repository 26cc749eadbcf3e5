"""How far the metrics of a run agree on its heads, and the questions on which the choice of a metric matters most."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import islice
from typing import Final

import pandas as pd

from reports.formats import count, decimal
from reports.run.folder import RunFolder
from reports.scores.best_heads import CLASSIFIER
from reports.scores.glossary import METRICS
from reports.scores.rankings_shown import DISPUTES, PAIRS, variants_table
from reports.tables.text_table import TextTable

ACCURACY: Final = "accuracy"

NAMES: Final[Mapping[str, str]] = {
    ACCURACY: "accuracy",
    "mass": "mass",
    "reciprocal_rank": "reciprocal rank",
    "auc": "area under the curve",
    CLASSIFIER: "trained classifier",
}
"Metric -> its name on a page, in the order of a page."

QUESTION: Final = ["probe", "label", "variant"]

MOST: Final = 2
"Disputes that are shown for each metric beside accuracy."


@dataclass(frozen=True)
class MetricPair:
    """How far two metrics agree, over all questions."""

    first: str
    second: str
    questions: int
    low: float
    median: float
    high: float
    "Quartiles and median of tau."
    same_best: int
    "Questions on which both have a best head in common."
    overlap: float
    "Mean fraction of the top heads that are the same."


@dataclass(frozen=True)
class Variant:
    """How far accuracy agrees with the other metrics on the questions of one variant of a probe."""

    probe: str
    variant: str
    questions: int
    taus: tuple[float, ...]
    "Median tau with each of `Rankings.others`; NaN where there is none."


@dataclass(frozen=True)
class Favourite:
    """The best head by one metric, with its numbers by both."""

    name: str
    accuracy: float
    value: float


@dataclass(frozen=True)
class Dispute:
    """A question on which accuracy and another metric have different best heads."""

    probe: str
    label: str
    variant: str
    n: int
    metric: str
    tau: float
    by_accuracy: Favourite
    by_metric: Favourite

    @property
    def gap(self) -> float:
        """What each metric's favourite is ahead of the other's by its own metric; the smaller of the two."""
        ahead = self.by_metric.value - self.by_accuracy.value
        return min(self.by_accuracy.accuracy - self.by_metric.accuracy, ahead)


@dataclass(frozen=True)
class Rankings:
    """What a page says about the agreement of metrics."""

    measured: int
    "Questions that have numbers."
    compared: int
    "Questions with enough items to compare rankings."
    least: int
    "Items of the smallest of them; 0 where there is none."
    others: tuple[str, ...]
    "Names of the metrics beside accuracy."
    pairs: tuple[MetricPair, ...]
    variants: tuple[Variant, ...]
    "The least agreement first, on average over the metrics that every variant has."
    disputes: tuple[Dispute, ...]
    "At most MOST a metric, the largest gap first."

    @property
    def pair_table(self) -> TextTable:
        """Every two metrics."""
        return TextTable.of("Every two metrics, over all labels and directions", PAIRS, self.pairs)

    @property
    def variant_table(self) -> TextTable:
        """Accuracy and the other metrics, by probe and variant."""
        return variants_table(self.variants, self.others)

    @property
    def dispute_table(self) -> TextTable:
        """Where the choice of a metric matters most."""
        return TextTable.of("Best head by accuracy, and by another metric", DISPUTES, self.disputes)

    @property
    def sentences(self) -> tuple[str, ...]:
        """What was compared, and which metric agrees most and least with accuracy."""
        if not self.pairs:
            return (
                f"None of {count(self.measured)} label–direction pairs has enough items to compare the rankings of "
                "heads.",
            )
        of_accuracy = sorted(
            (pair for pair in self.pairs if pair.first == NAMES[ACCURACY]), key=lambda one: -one.median
        )
        few = f"; the other {count(self.measured - self.compared)} have fewer items than that" * (
            self.measured > self.compared
        )
        scope = (
            f"All heads were ranked on {count(self.compared)} label–direction pairs of the report split by each metric "
            f"(the smallest pair has {count(self.least)} items{few})."
        )
        most, least = (f"{pair.second} ({_agreement(pair)})" for pair in (of_accuracy[0], of_accuracy[-1]))
        return scope, f"Closest to accuracy: {most}. Furthest from it: {least}."

    @property
    def terms(self) -> tuple[tuple[str, str], ...]:
        """What the metrics mean that are compared here."""
        unknown = set(NAMES.values()) - set(self.others)
        return tuple((term, definition) for term, definition in METRICS if term not in unknown)


def rankings(run: RunFolder) -> Rankings | None:
    """Return what a page says about the agreement of metrics; None where the run did not compare them."""
    if run.metrics is None or run.agreement is None:
        return None
    found = run.agreement[run.agreement["tau"].notna()]
    of_accuracy = found[found["one"] == ACCURACY]
    others = [metric for metric in NAMES if metric in set(of_accuracy["other"])]
    return Rankings(
        measured=run.metrics.groupby(QUESTION).ngroups,
        compared=found.groupby(QUESTION).ngroups,
        least=int(found["n"].min()) if len(found) else 0,
        others=tuple(NAMES[metric] for metric in others),
        pairs=tuple(_pairs(found)),
        variants=tuple(_variants(of_accuracy, others)),
        disputes=tuple(dispute for metric in others for dispute in _disputes(run, of_accuracy, metric)),
    )


def _agreement(pair: MetricPair) -> str:
    same = f"the same best head on {count(pair.same_best)} of {count(pair.questions)} pairs"
    return f"median tau {decimal(pair.median)}, {same}"


def _pairs(found: pd.DataFrame) -> Iterator[MetricPair]:
    place = {metric: number for number, metric in enumerate(NAMES)}
    groups = {(str(one), str(other)): rows for (one, other), rows in found.groupby(["one", "other"])}
    for one, other in sorted(groups, key=lambda pair: (place[pair[0]], place[pair[1]])):
        rows = groups[one, other]
        low, median, high = rows["tau"].quantile([0.25, 0.5, 0.75]).tolist()
        same, overlap = int(rows["same_best"].sum()), float(rows["overlap"].mean())
        yield MetricPair(NAMES[one], NAMES[other], len(rows), low, median, high, same, overlap)


def _variants(of_accuracy: pd.DataFrame, others: list[str]) -> Iterator[Variant]:
    if of_accuracy.empty:
        return
    table = of_accuracy.pivot_table(index=["probe", "variant"], columns="other", values="tau", aggfunc="median")
    for place in table.dropna(axis=1).mean(axis=1).argsort(kind="stable"):
        probe, variant = table.index[place]
        rows = of_accuracy[(of_accuracy["probe"] == probe) & (of_accuracy["variant"] == variant)]
        yield Variant(probe, variant, rows["label"].nunique(), tuple(table[others].iloc[place].tolist()))


def _disputes(run: RunFolder, of_accuracy: pd.DataFrame, metric: str) -> list[Dispute]:
    """Return the disputes of accuracy and a metric with the largest gaps, one a relation with its subtypes."""
    rows = of_accuracy[(of_accuracy["other"] == metric) & ~of_accuracy["same_best"]]
    numbers = _numbers(run, metric).merge(rows[QUESTION])
    favourites = [_favourites(numbers, by) for by in (ACCURACY, "value")]
    disputes = []
    for row in rows.to_dict("records"):
        question = (row["probe"], row["label"], row["variant"])
        disputes.append(
            Dispute(*question, row["n"], NAMES[metric], row["tau"], *(found[question] for found in favourites))
        )
    largest: dict[tuple[str, str], Dispute] = {}
    for dispute in sorted(disputes, key=lambda one: (-one.gap, one.probe, one.label, one.variant)):
        largest.setdefault((dispute.probe, dispute.label.partition(":")[0]), dispute)
    return list(islice(largest.values(), MOST))


def _numbers(run: RunFolder, metric: str) -> pd.DataFrame:
    """Return name, accuracy and the metric as `value` of every question and head."""
    assert run.metrics is not None
    table = run.metrics
    if metric == CLASSIFIER:
        trained = run.scores[(run.scores["probe"] == CLASSIFIER) & (run.scores["split"] == "report")]
        named = trained["variant"].str.partition("/")
        trained = trained.assign(probe=named[0], variant=named[2], value=trained["accuracy"])
        table = table.merge(trained[[*QUESTION, "name", "value"]], on=[*QUESTION, "name"])
    else:
        table = table.assign(value=table[metric])
    return table[[*QUESTION, "name", ACCURACY, "value"]]


def _favourites(numbers: pd.DataFrame, by: str) -> dict[tuple[str, str, str], Favourite]:
    """Return the best head by one column of every question."""
    best = numbers.loc[numbers.groupby(QUESTION)[by].idxmax()].to_dict("records")
    return {
        (row["probe"], row["label"], row["variant"]): Favourite(row["name"], row[ACCURACY], row["value"])
        for row in best
    }
