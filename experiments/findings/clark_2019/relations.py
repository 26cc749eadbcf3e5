"""Relations of words that single heads follow."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from typing import Final

from scipy.stats import binomtest

from experiments.findings.clark_2019.rows import DEPENDENCY, NOTEBOOK, STRANGERS, TABLE, PublishedRow
from experiments.statements.estimates import Estimate
from experiments.statements.figure import Figure, Point
from experiments.statements.finding import Evidence, Finding, Measured, Missing, Numbers, Published, Statement
from experiments.statements.learned import LearnedRule
from experiments.statements.numbers import best_head, estimate_of, margin, minus
from experiments.statements.rule import Rule
from experiments.statements.subject import ORIGINALS

MODEL = "BERT base, uncased"

DATA = "Wall Street Journal part of the Penn Treebank, dev, 1,696 sentences, in Stanford Dependencies"

STANDS_IN = "UD English EWT; the head is selected on train and evaluated on dev."

SELECTION = (
    "The paper selects heads on the sentences on which it evaluates them, and tries offsets from -3 to +2 alone."
)

NEAR = 0.15
"On BERT itself: newswire and web text, and the two ways to annotate, may differ by that much."

LEVEL: Final = "nn"
"The row of the table in which no head is above the offset."

SMALLEST = 0.049
"The smallest margin of the table's other rows, that of prep."


def _margins(rows: Sequence[PublishedRow], evidence: Evidence) -> Numbers:
    """Return every row's best head of the row's directions against the strongest baseline."""
    run = evidence["trees"]
    asked = {row: replace(run, scores=run.scores[run.scores.variant.isin(row.variants)]) for row in rows}
    return {row.relation: margin(asked[row], row.probe, row.label) for row in rows}


def _statement(row: PublishedRow) -> Statement:
    level = row.relation == LEVEL
    text = "The best head is near the best fixed offset" if level else "One head is above all baselines"
    bar = round(row.accuracy - row.baseline, 3)
    return Statement(
        name=row.relation,
        text=f"{text} at {row.relation}" + (f"; ours is {row.ours}." if row.label else "."),
        number="accuracy of the chosen head minus that of the strongest baseline",
        rule=LearnedRule(above=-SMALLEST, below=SMALLEST) if level else LearnedRule(above=bar),
        weaker=None if level else LearnedRule(above=0.0),
        published=row.published,
        tolerance=NEAR if row.alike else None,
    )


def _bars(rows: Sequence[PublishedRow], evidence: Evidence) -> Figure:
    """Return our heads and offsets beside the paper's."""
    found = _margins(rows, evidence)
    series: dict[str, list[Point]] = {"head": [], "baseline": [], "head, paper": [], "offset, paper": []}
    for place, row in enumerate(rows):
        one = found[row.relation]
        if isinstance(one, Measured) and one.ours is not None and one.baseline is not None:
            series["head"].append((place, one.ours.value, one.ours.low, one.ours.high))
            series["baseline"].append((place, one.baseline))
        series["head, paper"].append((place, row.accuracy))
        series["offset, paper"].append((place, row.baseline))
    names = [row.relation for row in rows]
    return Figure("bars", "The best head of each relation", "relation", "accuracy", series=series, names=names)


def _directions(evidence: Evidence) -> Numbers:
    """Return by how much the best dependent->head is above the best head<-dependent."""
    found: dict[str, Measured | Missing] = {}
    for row in _BOTH_WAYS:
        there, back = (best_head(evidence["trees"], row.probe, row.label, way) for way in DEPENDENCY)
        if isinstance(there, Missing) or isinstance(back, Missing):
            found[row.relation] = there if isinstance(there, Missing) else Missing(str(back))
            continue
        ours, theirs = (estimate_of(one, "accuracy", "ci_low", "ci_high") for one in (there, back))
        heads = f"{there['name']}, {back['name']}"
        found[row.relation] = Measured(minus(ours, theirs), ours, theirs.value, heads, "against the other direction")
    return found


_BOTH_WAYS = tuple(row for row in TABLE if row.probe == "dependency")


def _erratum(evidence: Evidence) -> Numbers:
    """Return the best baselines of auxiliaries of the passive and of copulas, with intervals of Wilson."""
    found: dict[str, Measured | Missing] = {}
    for name, label in (("auxpass", "aux:pass"), ("cop", "cop")):
        row = best_head(evidence["trees"], "dependency", label, DEPENDENCY[0])
        if isinstance(row, Missing):
            found[name] = row
            continue
        value, n = float(row["baseline_accuracy"]), int(row["n"])
        ends = binomtest(round(value * n), n).proportion_ci(method="wilson")
        found[name] = Measured(Estimate(value, float(ends.low), float(ends.high), n), note=f"of {row['baseline']}")
    return found


def _baseline(name: str, label: str, published: Published, rule: Rule) -> Statement:
    side = "82.5 than to 40.5" if rule.above else "40.5 than to 82.5"
    return Statement(
        name=name,
        text=f"The best fixed offset of {label} is nearer to {side}.",
        number="accuracy of the strongest baseline",
        rule=rule,
        unit="%",
        published=published,
    )


FINDINGS = (
    Finding(
        id="clark-relations",
        claim="Single heads follow single relations, far above the best fixed offset, but not noun compounds.",
        where="section 4.2, table 1",
        model=MODEL,
        data=DATA,
        metric="Accuracy of the most attended other word, of the best head and the better of two directions; attention "
        "to pieces of a word is summed, attention from them averaged.",
        stands_in=STANDS_IN,
        differs=f"{SELECTION} In Universal Dependencies a preposition is a dependent of its object, aux has no "
        "infinitival to (mark has it), and advmod has negation: values of prep, pobj, nn, aux, mark and advmod differ "
        "by that.",
        statements=[_statement(row) for row in TABLE],
        readings=("trees",),
        measure=partial(_margins, TABLE),
        figure=partial(_bars, TABLE),
        original=ORIGINALS,
        group="relations of EWT",
    ),
    Finding(
        id="clark-more-relations",
        claim="So they do on relations that the authors' notebook has beside those of the table.",
        where="the authors' notebook on syntax",
        model=MODEL,
        data=DATA,
        metric="As for the table.",
        stands_in=STANDS_IN,
        differs=f"{SELECTION} In Universal Dependencies cc depends on what follows it, xcomp has small clauses, acl "
        "has infinitives beside participles, and obl:unmarked has times beside other phrases without a preposition.",
        statements=[_statement(row) for row in NOTEBOOK],
        readings=("trees",),
        measure=partial(_margins, NOTEBOOK),
        figure=partial(_bars, NOTEBOOK),
        original=ORIGINALS,
        unclaimed="the paper does not print these rows: they are in the notebook alone",
    ),
    Finding(
        id="clark-stanford-relations",
        claim="And on relations of Stanford Dependencies alone.",
        where="the authors' notebook on syntax",
        model=MODEL,
        data=DATA,
        metric="As for the table.",
        statements=[_statement(row) for row in STRANGERS],
        missing="Text in Stanford Dependencies: Universal Dependencies do not tell these relations apart.",
    ),
    Finding(
        id="clark-auxpass",
        claim="What the paper prints for auxpass are two baselines, of auxpass and of cop.",
        where="table 1, row auxpass",
        model="none: it is about the best fixed offset",
        data=DATA,
        metric="Accuracy of the strongest baseline, the best fixed offset on both corpora.",
        stands_in="UD English EWT: offsets are learned on train and evaluated on dev.",
        statements=[
            _baseline(
                "auxpass",
                "aux:pass",
                Published(0.405, text="as printed; 82.5 in the notebook", erratum=TABLE[10].erratum),
                Rule(above=0.615),
            ),
            _baseline("cop", "cop", Published(0.405, text="in the notebook alone"), Rule(below=0.615)),
        ],
        readings=("trees",),
        measure=_erratum,
        fact="it is about the words of a corpus, and no head has a part in it",
    ),
    Finding(
        id="clark-direction",
        claim="Heads that follow a relation attend from the dependent to its head, in all rows of the table but pobj.",
        where="section 4.2, table 1",
        model=MODEL,
        data=DATA,
        metric="Accuracy of the best head in rows of maps, minus that of the best head in columns.",
        stands_in=STANDS_IN,
        differs="Without prep and pobj, which are no arcs of Universal Dependencies.",
        statements=[
            Statement(
                name=row.relation,
                text=f"More {row.label} are found from the dependent to its head than by who attends to the dependent.",
                number="accuracy of the best head from dependents minus that of the best head to dependents",
                rule=LearnedRule(above=0.0),
                published=Published(text="from the dependent to its head"),
            )
            for row in _BOTH_WAYS
        ],
        readings=("trees",),
        measure=_directions,
    ),
)
