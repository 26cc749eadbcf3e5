"""The first screen of a report: which heads do what, their uncertainty, what they were compared with, and effects."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import accumulate
from statistics import median
from typing import Final

from reports.formats import count, p_value, percent, points
from reports.measures.registry import measures_of
from reports.run.folder import RunFolder
from reports.run.record import ModelFacts, RunRecord
from reports.scores.best_heads import (
    CLASSIFIER,
    Best,
    BestHead,
    best_rows,
    by_margin,
    has_few_clusters,
    leaders,
)
from reports.scores.controls import ComparedBaseline
from reports.scores.plain_names import role
from reports.scores.shortest_table import answers
from reports.scores.verdicts import Verdicts
from reports.tables.grades import POSITION, is_borderline
from reports.tables.marks import FEW_CLUSTERS
from reports.tables.text_table import TextTable

Reason = tuple[str, str]
"A few words, and the sentences that they stand for."

UNKNOWN_SHARE: Final = 0.02
"Share of words with an unknown piece above which the first screen says it."

UNMEASURED: Final = (
    "Not measured: a head that attends to the correct word need not be used by the model. To ablate heads, set "
    '[ablation] behaviours to ["embedding"] in the config; with a masked-LM head ["loss", "grammar"] too.'
)

EFFECT_WORDS: Final = 50
"Words that sentences about causal effects have at the most, after the first; their sections have all."

UNCONTROLLED: Final = "No controls: an untrained model might do as well."

STABILITY: Final = "Stability of selection"
"The reason that says how often the same head is selected."


@dataclass(frozen=True)
class Opening:
    """What a reader sees first, in sentences built from the numbers of a run: which heads do what, and beside what."""

    headline: str
    "How many heads are specialised, or why none is named, and whether they exceed the lexical table and rules."
    table: TextTable
    "The heads that are named first; its note says on what they were evaluated, and what significant means."
    controls: str
    "What else heads were compared with."
    effects: tuple[str, ...]
    scope: str
    "What was run, in one line."
    results: tuple[str, ...]
    uncertainty: tuple[Reason, ...]

    @property
    def uncontrolled(self) -> str:
        """That there were no controls; "" where there were, which the table names."""
        return self.controls if self.controls == UNCONTROLLED else ""

    @property
    def effect(self) -> str:
        """The first sentence about causal effects, or that none were measured."""
        return "Causal effects: unmeasured." if self.effects == (UNMEASURED,) else self.effects[0]

    @property
    def first_effects(self) -> tuple[str, ...]:
        """Those about causal effects that have no more than EFFECT_WORDS together, but for the first."""
        words = list(accumulate(len(sentence.split()) for sentence in self.effects))
        return tuple(one for one, n in zip(self.effects, words, strict=True) if n <= max(EFFECT_WORDS, words[0]))


def opening(best: Best, run: RunFolder, verdicts: Verdicts, baselines: Sequence[ComparedBaseline]) -> Opening:
    """Return the first screen of a run that compared its heads with `baselines`."""
    rows, record, heads = best_rows(best), run.record, run.layers * run.heads
    first = leaders(rows)
    return Opening(
        headline=_headline(rows, verdicts, heads),
        table=answers("Which heads do what", first, verdicts.rule, record),
        controls=_controls(baselines),
        effects=_effects(run, verdicts, [row.name for row in first]),
        scope=_scope(rows, record, heads),
        results=tuple(_results(rows, verdicts, heads, run, best.get(CLASSIFIER, ()))),
        uncertainty=tuple(_uncertainty(rows, verdicts)),
    )


def _controls(baselines: Sequence[ComparedBaseline]) -> str:
    """Return the controls of a run in a sentence."""
    named = [one.name for one in baselines if one.is_control]
    return f"Controls: {', '.join(named)}." if named else UNCONTROLLED


def _effects(run: RunFolder, verdicts: Verdicts, heads: Sequence[str]) -> tuple[str, ...]:
    """Return what measures say of causal effects, of some heads at the end; or that none were measured."""
    said = [one for measure in measures_of(run) for one in measure.effects(run, verdicts)]
    for head in dict.fromkeys(heads):
        alone = next((text for measure in measures_of(run) if (text := measure.without(run, head))), "")
        said += [f"Head {head}: {alone}"] * bool(alone)
    return tuple(said) or (UNMEASURED,)


def _scope(rows: Sequence[BestHead], record: RunRecord, heads: int) -> str:
    """Return how many heads were scored on how much, in one line."""
    documents, probed = record.corpus("report").documents, len({row.probe for row in rows})
    held_out = f", {count(documents)} held-out documents" if documents else ""
    asked = f"{count(probed)} probe{'s' * (probed != 1)}, {len(rows)} labels and directions"
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
    return f" ({model.architecture}, {model.layers} layers of {model.heads}, {model.weights})"


def _headline(rows: Sequence[BestHead], verdicts: Verdicts, heads: int) -> str:
    """Return how many heads are specialised in a linguistic role, and how many exceed words and grammar too."""
    if not verdicts.tests_language:
        return "No linguistic role was tested." if verdicts.finds else f"Nothing was tested: {_untested(rows)}."
    n = len(verdicts.grades)
    more = f", {few} more borderline" if (few := len(verdicts.borderline)) else ""
    said = f"{n or 'None'} of {heads} heads {'is' if n < 2 else 'are'} specialised in a linguistic role{more}."
    return f"{said} {_beyond(rows, verdicts) if n else verdicts.undecided}".rstrip()


def _beyond(rows: Sequence[BestHead], verdicts: Verdicts) -> str:
    """Return how many specialised heads exceed a table of words and distances and rules of grammar, of what roles have.

    "" where no role in which some head is specialised has a table of words and distances.
    """
    roles = [row for row in rows if row.probe != POSITION and row.verdict == "yes"]
    if all(row.lexical_accuracy != row.lexical_accuracy for row in roles):
        return ""
    rules, words, others = verdicts.by_grade
    if not rules + words:
        none = f"None of the {others} is" if others > 1 else "It is not"
        return f"{none} shown to beat a table of words and distances by {points(verdicts.rule.margin)} points."
    beat = "beats" if rules + words == 1 else "beat"
    said = f"{rules + words} of them {beat} a table of words and distances"
    ruled = any(row.rule_accuracy == row.rule_accuracy for row in roles)
    return f"{said}, {rules or 'none'} also every rule of grammar." if ruled else f"{said}."


def _untested(rows: Sequence[BestHead]) -> str:
    """Say what all labels lack where none was tested."""
    if any(row.baseline for row in rows):
        return "no label has items in two documents of the report split and in the selection split"
    return "no label has a baseline"


def _results(
    rows: Sequence[BestHead], verdicts: Verdicts, heads: int, run: RunFolder, classifiers: Sequence[BestHead]
) -> Iterator[str]:
    """Yield what was found, and how many classifiers are selective."""
    yield from _found(rows, verdicts, heads)
    yield from (said for measure in measures_of(run) for said in measure.results(run))
    if classifiers:
        above = sum(row.margin_low > 0 for row in classifiers)
        yield f"In {above} of {len(classifiers)} trained classifiers the interval of the selectivity lies above 0."


def _found(rows: Sequence[BestHead], verdicts: Verdicts, heads: int) -> Iterator[str]:
    """Yield other heads and labels by verdict; where no head is specialised, how near the nearest comes."""
    if not verdicts.finds:
        yield "Nothing on this page was tested, so no head is significant here."
        return
    yield from verdicts.counted(heads)
    if not verdicts.grades:
        yield from (_short_of(row, verdicts) for row in sorted(rows, key=by_margin)[:1] if not row.grade)


def _short_of(row: BestHead, verdicts: Verdicts) -> str:
    """Say why the head that is named first is not significant."""
    lead, alpha = points(verdicts.rule.margin), verdicts.rule.alpha
    if row.p_adjusted != row.p_adjusted:
        return ""
    return (
        f"Head {row.name} comes nearest, {role(row.probe, row.label, row.variant)}: more than {lead} points above "
        f"every baseline is not significant (adjusted p {p_value(row.p_adjusted)}, not below {alpha:g})."
    )


def _uncertainty(rows: Sequence[BestHead], verdicts: Verdicts) -> Iterator[Reason]:
    """Yield what stands behind the verdicts: corrected tests, and where they are weak."""
    tested = [row for row in rows if row.p_adjusted == row.p_adjusted]
    if tested:
        alpha = verdicts.rule.alpha
        yield (
            "Multiple testing",
            "p is corrected for all heads of a label and direction and for all of these: the false discovery rate over "
            f"labels and directions is at most {points(alpha)} %.",
        )
    known = [row for row in tested if row.stability == row.stability]
    significant = [row for row in known if row.grade and not is_borderline(row.grade, row.holds)]
    stable = [[row.stability for row in some] for some in (significant, known)]
    if stable[0]:
        graded, every = (f"{percent(median(of))} % (median; minimum {percent(min(of))} %)" for of in stable)
        yield (
            STABILITY,
            f"Share of resamples of the selection split that select the same head: of significant heads {graded}, of "
            f"all labels and directions {every}.",
        )
    if few := sum(has_few_clusters(row) for row in rows):
        all_of = "All" if few == sum(row.n > 0 for row in rows) else count(few)
        yield (
            "Few documents",
            f"{all_of} labels and directions have fewer than {FEW_CLUSTERS} effective documents (⚠): intervals and "
            "tests are rough.",
        )
