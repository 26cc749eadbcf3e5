"""Relations of words that single heads follow."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import Final

from scipy.stats import binomtest

from experiments.findings.clark_2019.rows import DEPENDENCY, NOTEBOOK, STRANGERS, TABLE, PublishedRow
from experiments.statements.estimates import Estimate
from experiments.statements.finding import Evidence, Finding, Measured, Published, Statement
from experiments.statements.numbers import best_head, compared, estimate_of, margin
from experiments.statements.rule import LearnedRule, Rule
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


def _margin(row: PublishedRow, evidence: Evidence) -> Measured:
    """Return a row's best head of the row's directions against the strongest baseline."""
    run = evidence["trees"]
    return margin(replace(run, scores=run.scores[run.scores.variant.isin(row.variants)]), row.probe, row.label)


def _direction(row: PublishedRow, evidence: Evidence) -> Measured:
    """Return by how much the best dependent->head is above the best head<-dependent."""
    there, back = (best_head(evidence["trees"], row.probe, row.label, way) for way in DEPENDENCY)
    ours, theirs = (estimate_of(one, "accuracy", "ci_low", "ci_high") for one in (there, back))
    return compared(ours, theirs, f"{there['name']}, {back['name']}", "against the other direction")


def _offset(label: str, evidence: Evidence) -> Measured:
    """Return the best baseline of a relation, with the interval of Wilson."""
    row = best_head(evidence["trees"], "dependency", label, DEPENDENCY[0])
    value, n = float(row["baseline_accuracy"]), int(row["n"])
    ends = binomtest(round(value * n), n).proportion_ci(method="wilson")
    return Measured(Estimate(value, float(ends.low), float(ends.high), n), note=f"of {row['baseline']}")


def _statement(row: PublishedRow) -> Statement:
    level = row.relation == LEVEL
    text = f"{'The best head is near' if level else 'One head is above'} the best fixed offset"
    bar = round(row.accuracy - row.baseline, 3)
    return Statement(
        name=row.relation,
        text=f"{text} at {row.relation}" + (f"; ours is {row.ours}." if row.label else "."),
        number="accuracy of the chosen head minus that of the strongest baseline",
        rule=LearnedRule(above=-SMALLEST, below=SMALLEST) if level else LearnedRule(above=bar),
        weaker=None if level else LearnedRule(above=0.0),
        published=row.published,
        tolerance=NEAR if row.alike else None,
        measure=partial(_margin, row) if row.label else None,
    )


def _baseline(name: str, label: str, published: Published, rule: Rule) -> Statement:
    side = "82.5 than to 40.5" if rule.above else "40.5 than to 82.5"
    return Statement(
        name=name,
        text=f"The best fixed offset of {label} is nearer to {side}.",
        number="accuracy of the strongest baseline",
        rule=rule,
        published=published,
        measure=partial(_offset, label),
    )


finding = partial(Finding, model=MODEL, data=DATA)

tested = partial(finding, stands_in=STANDS_IN, readings=("trees",))

FINDINGS = (
    tested(
        id="clark-relations",
        claim="Single heads follow single relations, far above the best fixed offset, but not noun compounds.",
        where="section 4.2, table 1",
        metric="Accuracy of the most attended other word, of the best head and the better of two directions; attention "
        "to pieces of a word is summed, attention from them averaged.",
        differs=f"{SELECTION} In Universal Dependencies a preposition is a dependent of its object, aux has no "
        "infinitival to (mark has it), and advmod has negation: values of prep, pobj, nn, aux, mark and advmod differ "
        "by that.",
        statements=[_statement(row) for row in TABLE],
        bars="The best head of each relation",
        original=ORIGINALS,
        group="relations of EWT",
    ),
    tested(
        id="clark-more-relations",
        claim="So they do on relations that the authors' notebook has beside those of the table.",
        where="the authors' notebook on syntax",
        metric="As for the table.",
        differs=f"{SELECTION} In Universal Dependencies cc depends on what follows it, xcomp has small clauses, acl "
        "has infinitives beside participles, and obl:unmarked has times beside other phrases without a preposition.",
        statements=[_statement(row) for row in NOTEBOOK],
        bars="The best head of each relation",
        original=ORIGINALS,
        unclaimed="the paper does not print these rows: they are in the notebook alone",
    ),
    finding(
        id="clark-stanford-relations",
        claim="And on relations of Stanford Dependencies alone.",
        where="the authors' notebook on syntax",
        metric="As for the table.",
        statements=[_statement(row) for row in STRANGERS],
        missing="Text in Stanford Dependencies: Universal Dependencies do not tell these relations apart.",
    ),
    tested(
        id="clark-auxpass",
        claim="What the paper prints for auxpass are two baselines, of auxpass and of cop.",
        where="table 1, row auxpass",
        model="none: it is about the best fixed offset",
        metric="Accuracy of the strongest baseline, the best fixed offset on both corpora.",
        stands_in="UD English EWT: offsets are learned on train and evaluated on dev.",
        statements=[
            _baseline(
                "auxpass",
                "aux:pass",
                Published(0.405, text="as printed; 82.5 in the notebook", erratum=TABLE[10].erratum),
                Rule(above=0.615, unit="%"),
            ),
            _baseline("cop", "cop", Published(0.405, text="in the notebook alone"), Rule(below=0.615, unit="%")),
        ],
        fact="it is about the words of a corpus, and no head has a part in it",
    ),
    tested(
        id="clark-direction",
        claim="Heads that follow a relation attend from the dependent to its head, in all rows of the table but pobj.",
        where="section 4.2, table 1",
        metric="Accuracy of the best head in rows of maps, minus that of the best head in columns.",
        differs="Without prep and pobj, which are no arcs of Universal Dependencies.",
        statements=[
            Statement(
                name=row.relation,
                text=f"More {row.label} are found from the dependent to its head than by who attends to the dependent.",
                number="accuracy of the best head from dependents minus that of the best head to dependents",
                rule=LearnedRule(above=0.0),
                published=Published(text="from the dependent to its head"),
                measure=partial(_direction, row),
            )
            for row in TABLE
            if row.probe == "dependency"
        ],
    ),
)
