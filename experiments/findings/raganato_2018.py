"""Raganato and Tiedemann 2018: heads of translation encoders mark dependencies, mostly in the lower layers."""

from __future__ import annotations

from experiments.statements.finding import Evidence, Finding, Measured, Paper, Published, Statement
from experiments.statements.numbers import by_depth, compared, estimate_of, rows, selected_head
from experiments.statements.rule import LearnedRule

PAPER = Paper(
    "raganato-2018",
    "Raganato and Tiedemann 2018",
    "An Analysis of Encoder Representations in Transformer-Based Machine Translation",
)

WAY = "dependent->head"


def _lower(evidence: Evidence) -> Measured:
    """Return how far the best head of the lower half of the layers is above that of the upper half."""
    asked = rows(evidence["trees"].scores, probe="dependency", label="all", variant=WAY)
    lower, upper = (selected_head(by_depth(asked, *half)) for half in ((0, 0.5), (0.5, 1)))
    below, above = (estimate_of(row, "accuracy", "ci_low", "ci_high") for row in (lower, upper))
    note = "the baseline is the best head of the upper half"
    return compared(below, above, f"{lower['name']} {upper['name']}", note)


FINDINGS = (
    Finding(
        id="raganato-trees",
        claim="Of the heads that mark dependencies those of the lower layers do it best.",
        where="abstract",
        model="Encoders of translation models (Transformer) from English",
        data="Parallel Universal Dependencies (PUD), English",
        metric="The paper: attachment of maximum spanning trees of a head's attention. We: arcs that the head finds.",
        stands_in="UD English EWT; the head is selected on train and evaluated on dev.",
        differs="An encoder of sentences in the place of one that translates; arcs are not made into a tree; what the "
        "paper says of meaning in the upper layers is not asked. Whether the best head is above an offset is asked by "
        "clark-no-parse.",
        statements=[
            Statement(
                name="lower layers",
                text="The best head of the lower half of the layers finds more arcs than the best of the upper half.",
                number="accuracy of the best head of the lower half minus that of the best head of the upper half",
                rule=LearnedRule(above=0.0),
                published=Published(text="lower layers: syntax; upper layers: meaning", provenance="second-hand"),
            ),
        ],
        readings=("trees",),
        measure=_lower,
    ),
)
