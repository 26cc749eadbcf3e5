"""The first screen of a report: what was run, the findings, their uncertainty and the causal effects."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from statistics import median
from typing import Final

from markupsafe import Markup

from reports.formats import count, p_value, percent, points, signed, signed_interval
from reports.heads.grid import ExplainedHeads
from reports.measures.registry import measures
from reports.page.methods import SOURCES
from reports.run.folder import RunFolder
from reports.run.record import ModelFacts, RunRecord
from reports.scores.best_heads import CLASSIFIER, FEW_CLUSTERS, Best, BestHead, best_rows, has_few_clusters, leaders
from reports.scores.plain_names import guess, task
from reports.scores.thresholds import RunThresholds
from reports.scores.verdicts import Verdicts
from reports.tables.marks import baseline_marks, spark

Reason = tuple[str, str]
"A few words, and the sentences that they stand for."

UNKNOWN_SHARE: Final = 0.02
"Share of words with an unknown piece above which the first screen says it."

UNMEASURED: Final = (
    "This run did not measure causal effects. A head that attends to the correct word need not be used by the model; "
    "testing that needs an intervention, such as ablation. To ablate heads, set [ablation] behaviours in the config: "
    '["embedding"] for any model, ["loss", "grammar"] for one that predicts masked words.'
)

FINDINGS: Final = 3
"Heads that the first screen names at the most."


@dataclass(frozen=True)
class Leader:
    """One head as a finding."""

    name: str
    does: str
    "What the head does, a verb and what follows."
    beside: str
    "Its accuracy and that of the strongest baseline or control."
    numbers: str
    "The same with items, margin and interval."
    without: str
    "What the model loses without it, a sentence; empty where that was not measured."
    drawing: Markup
    "Its accuracy with interval and baselines, drawn."


@dataclass(frozen=True)
class Opening:
    """What a reader sees first, in sentences built from the numbers of a run."""

    scope: str
    "What was run, in one line."
    headline: str
    "How many heads are specialised, or why none is named."
    results: tuple[str, ...]
    leaders: tuple[Leader, ...]
    uncertainty: tuple[Reason, ...]
    effects: tuple[str, ...]
    terms: tuple[Reason, ...]
    "The rule of grades and verdicts."

    @property
    def findings(self) -> tuple[Leader, ...]:
        """The heads with the largest margins that the first screen names."""
        return self.leaders[:FINDINGS]

    @property
    def effect(self) -> str:
        """The first sentence about causal effects, or that none were measured."""
        return "Causal effects were not measured." if self.effects == (UNMEASURED,) else self.effects[0]


def opening(best: Best, run: RunFolder, verdicts: Verdicts, heads: int) -> Opening:
    """Return the first screen of a run with so many heads."""
    rows, record = best_rows(best), run.record
    named = leaders(rows)
    return Opening(
        scope=_scope(rows, record, heads),
        headline=_headline(rows, verdicts, heads),
        results=tuple(_results(named, verdicts, heads, run, best.get(CLASSIFIER, ()))),
        leaders=tuple(_leader(row, run, verdicts.rule) for row in named),
        uncertainty=tuple(_uncertainty(rows, record, verdicts)),
        effects=tuple(one for measure in measures() for one in measure.effects(run, verdicts)) or (UNMEASURED,),
        terms=verdicts.rule.terms(),
    )


def _scope(rows: Sequence[BestHead], record: RunRecord, heads: int) -> str:
    """Return how many heads were scored on how much, in one line."""
    documents, probed = record.corpus("report").documents, len({row.probe for row in rows})
    held_out = f", {count(documents)} held-out documents" if documents else ""
    asked = f"{count(probed)} probe{'s' * (probed != 1)}, {len(rows)} label–direction pairs"
    return f"{heads} heads{_weights(record.model)}, {asked}{held_out}.{_unknown(record)}"


def _unknown(record: RunRecord) -> str:
    """Return the share of words that the model cannot read, where it is above UNKNOWN_SHARE; else nothing."""
    read = [one for scopes in record.scored.values() for one in scopes.values() if one.words]
    worst = max((one.unknown / one.words for one in read), default=0)
    return f" The model’s vocabulary lacks {percent(worst)} % of the words ([UNK])." if worst > UNKNOWN_SHARE else ""


def _weights(model: ModelFacts) -> str:
    """Return architecture, shape and origin of the weights, in brackets; empty where the run did not write them."""
    if not model.architecture or not model.layers or not model.heads:
        return ""
    origin = SOURCES.get(str(model.source), str(model.source))
    return f" ({model.architecture}, {model.layers} layers of {model.heads}, {origin})"


def _headline(rows: Sequence[BestHead], verdicts: Verdicts, heads: int) -> str:
    """Return how many heads are specialised in a role of language."""
    if not verdicts.tests_language:
        return "No role of language was tested." if verdicts.finds else f"Nothing was tested: {_untested(rows)}."
    n = len(verdicts.grades)
    said = f"{n or 'None'} of {heads} heads {'is' if n < 2 else 'are'} specialised in a role of language."
    return said if n else f"{said} {verdicts.undecided}".rstrip()


def _untested(rows: Sequence[BestHead]) -> str:
    """Say what all labels lack where none was tested."""
    if any(row.baseline for row in rows):
        return "no label has items in two documents of the report split and in the selection split"
    return "no label has a baseline"


def _results(
    named: Sequence[BestHead], verdicts: Verdicts, heads: int, run: RunFolder, classifiers: Sequence[BestHead]
) -> Iterator[str]:
    """Yield what was found, what roles explain where that was measured, and how many classifiers are selective."""
    yield from _found(named, verdicts, heads)
    if median := ExplainedHeads.of(run).median:
        yield median
    if classifiers:
        above = sum(row.margin_low > 0 for row in classifiers)
        yield f"In {above} of {len(classifiers)} trained classifiers the interval of the selectivity lies above 0."


def _found(named: Sequence[BestHead], verdicts: Verdicts, heads: int) -> Iterator[str]:
    """Yield heads by grade and labels by verdict; where no head is specialised, how near the nearest comes."""
    if not verdicts.finds:
        yield "Nothing on this page was tested, so no head has a grade here."
        return
    yield from verdicts.counted(heads)
    if verdicts.grades:
        rule = verdicts.rule
        yield (
            f"A grade is tested: the head leads every baseline of the grade by more than {points(rule.margin)} points "
            f"(adjusted p below {rule.alpha:g}). Accuracy, mass and precision are reported, not tested."
        )
    else:
        yield from (_short_of(row, verdicts) for row in named[:1] if not row.grade)


def _short_of(row: BestHead, verdicts: Verdicts) -> str:
    """Say why the head that is named first has no grade."""
    lead, alpha = points(verdicts.rule.margin), verdicts.rule.alpha
    if row.p_adjusted != row.p_adjusted:
        return ""
    return (
        f"The margin with the highest lower end is that of head {row.name} in {row.label} ({row.variant}): a lead of "
        f"more than {lead} points is not significant (adjusted p {p_value(row.p_adjusted)}, not below {alpha:g})."
    )


def _leader(row: BestHead, run: RunFolder, rule: RunThresholds) -> Leader:
    accuracy, rivals = f"{percent(row.accuracy)} %", _rivals(row)
    beyond = ", ".join(f"{name} {percent(of)} %" for name, of in rivals)
    judged = ", ".join(f"{name} {percent(of)} % ({_beside(of, row.accuracy)})" for name, of in rivals)
    compared = "baselines and controls" if rule.controlled else "baselines"
    strongest = _strongest(rule)
    below = baseline_marks(row.baseline_accuracy, row.lexical_accuracy, row.rule_accuracy)
    return Leader(
        name=row.name,
        does=task(row.probe, row.label, row.variant).partition(" (candidates: ")[0],
        beside=f"accuracy {accuracy}, {compared} {percent(row.baseline_accuracy)} %{', ' * bool(beyond)}{beyond}.",
        numbers=f"accuracy {accuracy} (n = {count(row.n)}), {signed(row.margin)} points "
        f"{signed_interval(row.margin_low, row.margin_high)} against the strongest {strongest}, "
        f"{guess(row.baseline)} ({percent(row.baseline_accuracy)} %): {rule.grade(vars(row))}."
        f"{f' {judged[0].upper()}{judged[1:]}.' if judged else ''}",
        without=next((told for measure in measures() if (told := measure.without(run, row.name))), ""),
        drawing=spark(row.accuracy, row.ci_low, row.ci_high, below=below, hollow=not row.grade),
    )


def _strongest(rule: RunThresholds) -> str:
    """Return what margins are over, behind "the strongest"."""
    return "baseline or control" if rule.controlled else "baseline"


def _beside(baseline: float, accuracy: float) -> str:
    """Return whether a baseline is higher or lower than a head, as far as percentages show it."""
    if percent(baseline) == percent(accuracy):
        return "equal"
    return "higher" if baseline > accuracy else "lower"


def _rivals(row: BestHead) -> list[tuple[str, float]]:
    """Return name and accuracy of what the higher grades are compared with, where the label has it."""
    known = (("lexical table", row.lexical_accuracy), ("rule of grammar", row.rule_accuracy))
    return [(name, accuracy) for name, accuracy in known if accuracy == accuracy]


def corpus_name(record: RunRecord, split: str) -> str:
    """Return the name of a split's corpus with its size."""
    corpus = record.corpus(split)
    size = f" ({count(corpus.sentences)} sentences)" if corpus.sentences is not None else ""
    return f"{corpus.name or f'the {split} split'}{size}"


def _uncertainty(rows: Sequence[BestHead], record: RunRecord, verdicts: Verdicts) -> Iterator[Reason]:
    """Yield what stands behind the verdicts: two splits, intervals, corrected tests, and where they are weak."""
    documents = record.corpus("report").documents
    of = f", {count(documents)} documents" if documents else ""
    yield (
        "Held-out evaluation",
        f"Heads were selected on {corpus_name(record, 'select')} and evaluated on {corpus_name(record, 'report')}{of}. "
        "Brackets are 95 % intervals.",
    )
    tested = [row for row in rows if row.p_adjusted == row.p_adjusted]
    if tested:
        alpha = verdicts.rule.alpha
        yield (
            "Multiple testing",
            "p is corrected for all heads of a label and direction, and for all labels and directions of the run, "
            "which may depend on each other (Benjamini and Yekutieli 2001): for each grade the false discovery rate "
            f"over label–direction pairs is at most {points(alpha)} %. Each verdict “no” has an error rate of 5 % by "
            "itself.",
        )
    known = [row for row in tested if row.stability == row.stability]
    stable = [[row.stability for row in known if row.grade >= grade] for grade in (1, 0)]
    if stable[0]:
        graded, every = (f"{percent(median(of))} % (median; minimum {percent(min(of))} %)" for of in stable)
        yield (
            "Stability of selection",
            "The share of resamples of the selection split in which the same head is selected: graded heads "
            f"{graded}, all label–direction pairs {every}. Where that is low, other heads are about as good.",
        )
    judged = [row for row in rows if row.baseline and row.margin_low == row.margin_low]
    if judged:
        above = sum(row.margin_low > 0 for row in judged)
        below = sum(row.margin_high < 0 for row in judged)
        yield (
            "Margins",
            f"The 95 % interval of the margin over the strongest {_strongest(verdicts.rule)} lies above 0 in {above} "
            f"of {len(judged)} pairs, below 0 in {below} and contains 0 in {len(judged) - above - below} (not "
            "corrected).",
        )
    yield from _little(rows, verdicts)


def _little(rows: Sequence[BestHead], verdicts: Verdicts) -> Iterator[Reason]:
    """Yield what is weak: too few documents, no controls."""
    few = sum(has_few_clusters(row) for row in rows)
    if few:
        all_of = "All" if few == sum(row.n > 0 for row in rows) else count(few)
        yield (
            "Few documents",
            f"{all_of} label–direction pairs have an effective number of documents below {FEW_CLUSTERS} (⚠). Their "
            "intervals and tests are rough, and they are not named here.",
        )
    if none := sum(row.n == 0 for row in rows):
        yield "Nothing to score", f"Pairs with nothing to score or no head to select, shown as “–”: {none}."
    if not verdicts.rule.controlled:
        yield (
            "No controls",
            "A model without knowledge might do as well. The table [controls] of a config adds such models.",
        )
