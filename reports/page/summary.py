"""The first screen of a report: which heads specialise in what, how sure that is, and whether it matters."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from statistics import median
from typing import Any

from reports.formats import count, p_value, percent, points, signed, signed_interval
from reports.page.effects_in_words import lost_without, mattering
from reports.run.record import RunRecord
from reports.scores.best_heads import CLASSIFIER, FEW_CLUSTERS, BestHead
from reports.scores.plain_names import guess, task
from reports.scores.summary import Best, Summary, corpus_name
from reports.scores.verdicts import Verdicts

Reason = tuple[str, str]
"A few words, and the sentences that they stand for."


@dataclass(frozen=True)
class Leader:
    """One head, told in plain words."""

    name: str
    does: str
    "What the head does, a verb and what follows."
    numbers: str
    "How often it is right, and how often the strongest baseline or control is."
    without: str
    "What the model loses without it, a sentence; empty where that was not measured."


@dataclass(frozen=True)
class Opening:
    """Three questions and their answers, in sentences built from the numbers of a run."""

    found: tuple[str, ...]
    leaders: tuple[Leader, ...]
    sure: tuple[Reason, ...]
    matters: tuple[str, ...]


def opening(
    best: Best, record: RunRecord, summary: Summary, verdicts: Verdicts, heads: int, found: Mapping[str, Any]
) -> Opening:
    """Return the first screen of a run with so many heads; `found` is what its sections tell, by their names."""
    rows = [row for probe, of in best.items() if probe != CLASSIFIER for row in of]
    return Opening(
        found=(*_found(summary, verdicts, heads), *_explained(found)),
        leaders=tuple(_leader(row, found) for row in summary.leaders),
        sure=tuple(_sure(rows, record, verdicts)),
        matters=tuple(mattering(found, verdicts.specialised, heads)),
    )


def _explained(found: Mapping[str, Any]) -> Iterator[str]:
    """Yield how much of the median head's attention its roles explain, where the run measured it."""
    if "heads" in found and found["heads"].explained:
        yield found["heads"].explained


def _found(summary: Summary, verdicts: Verdicts, heads: int) -> Iterator[str]:
    """Yield heads by grade and questions by verdict; where no head is specialised, how near the nearest comes."""
    if not verdicts.finds:
        yield "Nothing on this page has a baseline to be compared with, so no head has a grade here."
        return
    yield from verdicts.counted(heads)
    if verdicts.specialised:
        rule = verdicts.rule
        yield (
            f"A grade is tested: the head leads every rival of the grade by more than {points(rule.margin)} points "
            f"(adjusted p below {rule.alpha:g}). Accuracy, mass and precision are measured only."
        )
    else:
        yield from (_short_of(row, verdicts) for row in summary.leaders[:1] if not row.grade)


def _short_of(row: BestHead, verdicts: Verdicts) -> str:
    """Say why the head with the largest margin has no grade."""
    lead, alpha = points(verdicts.rule.margin), verdicts.rule.alpha
    if row.p_adjusted != row.p_adjusted:
        return ""
    return (
        f"Nearest comes head {row.name}: that it leads by more than {lead} points is not shown (adjusted p "
        f"{p_value(row.p_adjusted)}, not below {alpha:g})."
    )


def _leader(row: BestHead, found: Mapping[str, Any]) -> Leader:
    numbers = (
        f"right in {percent(row.accuracy)} % of {count(row.n)} cases, where {guess(row.baseline)} gets "
        f"{percent(row.baseline_accuracy)} %; {signed(row.margin)} points "
        f"{signed_interval(row.margin_low, row.margin_high)}."
    )
    return Leader(row.name, task(row.probe, row.label, row.variant), numbers, lost_without(row.name, found))


def _sure(rows: Sequence[BestHead], record: RunRecord, verdicts: Verdicts) -> Iterator[Reason]:
    """Yield what stands behind the verdicts: two splits, intervals, corrected tests, and where they say little."""
    documents = record.corpus("report").documents
    of = f", {count(documents)} documents" if documents else ""
    yield (
        "Told on other text",
        f"Heads were chosen on {corpus_name(record, 'select')} and are told on {corpus_name(record, 'report')}{of}. "
        "Brackets are 95 % intervals.",
    )
    tested = [row for row in rows if row.p_adjusted == row.p_adjusted]
    if tested:
        alpha = verdicts.rule.alpha
        yield (
            "Tested together",
            "p is corrected for all heads of a question (a label in one direction) and for all questions of the run, "
            "which may depend on each other (Benjamini and Yekutieli 2001). For each grade, of the questions with a "
            f"head that has it, on average at most {points(alpha)} % have it falsely. A no is held to 5 % by itself.",
        )
    stable = [row.stability for row in tested if row.grade]
    if stable:
        yield (
            "Chosen again",
            f"From redrawn documents the same head would be chosen in {percent(median(stable))} % of cases (median "
            f"over questions; lowest {percent(min(stable))} %). Where that is low, another head does it about as well.",
        )
    yield from _little(rows, verdicts)


def _little(rows: Sequence[BestHead], verdicts: Verdicts) -> Iterator[Reason]:
    """Yield what is weak: too few documents, no controls."""
    few = sum(row.has_few_clusters for row in rows)
    if few:
        all_of = "All" if few == sum(row.n > 0 for row in rows) else count(few)
        yield (
            "Few documents",
            f"{all_of} questions have an effective number of documents below {FEW_CLUSTERS} (⚠). Their intervals and "
            "tests are rough, and they are not named here.",
        )
    if not verdicts.controlled:
        yield (
            "No controls",
            "A model that knows nothing might do as well. The table [controls] of a config adds such models.",
        )
