"""Htut, Phang, Bordia and Bowman 2019: no head of BERT tracks dependency structure as a whole."""

from __future__ import annotations

from functools import partial

from experiments.statements.finding import Evidence, Finding, Measured, Paper, Published, Statement
from experiments.statements.numbers import margin
from experiments.statements.rule import LearnedRule

PAPER = Paper(
    "htut-2019",
    "Htut, Phang, Bordia and Bowman 2019",
    "Do Attention Heads in BERT Track Syntactic Dependencies?",
)

RELATIONS = ("nsubj", "obj", "advmod", "amod")


def _above(label: str, evidence: Evidence) -> Measured:
    return margin(evidence["trees"], "dependency", label)


finding = partial(
    Finding,
    model="BERT large and base, cased, and RoBERTa",
    where="section 5",
    data="Parallel Universal Dependencies (PUD), English, 1,000 sentences",
    stands_in="UD English EWT; the head is selected on train and evaluated on dev.",
    readings=("trees",),
)

FINDINGS = (
    finding(
        id="htut-relations",
        claim="For subjects, objects, adverbs and adjectives some head is above the positional baseline.",
        metric="Accuracy of the most attended word over the arcs of a relation, in both directions.",
        differs="The paper selects heads on the sentences on which it evaluates them.",
        statements=[
            Statement(
                name=label,
                text=f"One head finds {label} more often than the best fixed offset does.",
                number="accuracy of the chosen head minus that of the strongest baseline",
                rule=LearnedRule(above=0.0),
                published=Published(text="above the positional baseline", provenance="second-hand"),
                measure=partial(_above, label),
            )
            for label in RELATIONS
        ],
        group="relations of EWT",
        repeats="clark-relations",
    ),
    finding(
        id="htut-no-generalist",
        claim="No single head recovers whole trees much better than a right-branching baseline does.",
        metric="The paper: undirected attachment of maximum spanning trees. We: arcs that the best head finds.",
        differs="Arcs are not made into a tree; the baseline is the best fixed offset. How much is much better is not "
        "said where we have read of it; the bar is the margin that Clark et al. print.",
        statements=[
            Statement(
                name="all arcs",
                text="The head that finds most arcs is above the best fixed offset, by 8.2 points at most.",
                number="accuracy of the chosen head over all arcs minus that of the strongest baseline",
                rule=LearnedRule(above=0.0, below=0.082),
                published=Published(value=0.40, text="about 40 % UUAS, slightly above", provenance="second-hand"),
            )
        ],
        measure=lambda evidence: margin(evidence["trees"], "dependency", "all", "dependent->head"),
        group="all arcs of EWT",
        repeats="clark-no-parse",
    ),
)
