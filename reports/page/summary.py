"""The first screen of a report: which heads specialise in what, how sure that is, and whether it matters."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
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
        matters=tuple(mattering(found, frozenset(chain.from_iterable(one.heads for one in verdicts.finds)), heads)),
    )


def _explained(found: Mapping[str, Any]) -> Iterator[str]:
    """Yield how much of the median head's attention its roles explain, where the run measured it."""
    if "heads" in found and found["heads"].explained:
        yield found["heads"].explained


def _found(summary: Summary, verdicts: Verdicts, heads: int) -> Iterator[str]:
    """Yield how many heads are specialised, and in how many labels; or that none is, and how near they come."""
    if not verdicts.finds:
        yield "Nothing on this page has a baseline to be held against, so no head can be called specialised here."
        return
    specialised = frozenset(chain.from_iterable(one.heads for one in verdicts.finds))
    labels, tested = sum(one.found_labels for one in verdicts.finds), sum(one.labels for one in verdicts.finds)
    rivals = "the best simple guess" + " and the controls, models or texts without the knowledge" * verdicts.controlled
    means = f"at least {points(verdicts.rule.margin)} percentage points more often right than {rivals}, and surely so"
    if not specialised:
        yield f"No head is specialised in any of the {tested} labels that were tested: not one is {means}."
        yield from (_short_of(row, verdicts) for row in summary.leaders[:1])
        return
    are = "head is" if len(specialised) == 1 else "heads are"
    where = ", ".join(f"{len(one.heads)} in {one.probe}" for one in verdicts.finds)
    yield (
        f"{len(specialised)} of {heads} {are} specialised ({where}), in {labels} of {tested} labels that were tested: "
        f"{means}."
    )
    yield from _beyond(verdicts)


def _beyond(verdicts: Verdicts) -> Iterator[str]:
    """Yield how often a specialised head knows more than words and distances."""
    beyond = sum(len({head[1:] for head in one.beyond}) for one in verdicts.finds)
    tables = sum(one.with_table for one in verdicts.finds)
    if tables:
        yield (
            "A table that has counted, in annotated text, which words and which distances are right is a hard rival: "
            f"of {tables} questions with a specialised head, {beyond} have one that surely beats it. The other heads "
            "need know no more than words and distances."
        )


def _short_of(row: BestHead, verdicts: Verdicts) -> str:
    """Say why the head with the largest margin is not called specialised."""
    rule, p = verdicts.rule, p_value(row.p_adjusted)
    reasons = [f"its corrected p is {p}, not below {rule.alpha:g}"] * (not row.p_adjusted < rule.alpha)
    reasons += [f"its lead is below {points(rule.margin)} points"] * (not row.margin >= rule.margin)
    return f"Nearest comes head {row.name}, which is not counted because {' and '.join(reasons)}." if reasons else ""


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
            f"All heads and all {count(len(tested))} questions (a label, read as one variant says): of the questions "
            f"in which a head has a corrected p below {alpha:g}, on average at most {points(alpha)} % have one by "
            "chance.",
        )
    stable = [row.stability for row in tested if row.specialised]
    if stable:
        yield (
            "Chosen again",
            f"From redrawn documents the same head would be chosen in {percent(median(stable))} % of cases (median "
            f"over questions; lowest {percent(min(stable))} %). Where that is low, another head does it about as well.",
        )
    yield from _little(rows, tested, verdicts)


def _little(rows: Sequence[BestHead], tested: Sequence[BestHead], verdicts: Verdicts) -> Iterator[Reason]:
    """Yield what is weak: too few words, too few documents, no controls."""
    design = verdicts.design
    small = sum(design.marks(row.n, row.clusters) for row in tested) if design else 0
    if design and small:
        documents = f" in {count(design.documents)} documents" if design.documents else ""
        yield (
            "Too little text",
            f"In {count(small)} of {count(len(tested))} questions a missing verdict says little: a head that is really "
            f"{points(design.margin)} points ahead takes {count(design.items)} words{documents} to be found in "
            f"{points(design.power)} % of runs.",
        )
    few = sum(row.has_few_clusters for row in rows)
    if few:
        all_of = "All" if few == sum(row.n > 0 for row in rows) else count(few)
        yield (
            "Few documents",
            f"{all_of} questions rest on fewer than {FEW_CLUSTERS} documents (⚠). Their intervals and tests are rough, "
            "and they are not named here.",
        )
    if not verdicts.controlled:
        yield (
            "No controls",
            "A model that knows nothing might do as well. The table [controls] of a config adds such models.",
        )
