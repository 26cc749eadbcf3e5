"""Ravishankar, Kulmizev, Abdou, Søgaard and Nivre 2021: heads of multilingual BERT hold trees of 18 languages."""

from __future__ import annotations

from experiments.statements.finding import Evidence, Finding, Numbers, Paper, Published, Statement
from experiments.statements.learned import LearnedRule
from experiments.statements.numbers import margin

PAPER = Paper(
    "ravishankar-2021",
    "Ravishankar, Kulmizev, Abdou, Søgaard and Nivre 2021",
    "Attention Can Reflect Syntactic Structure (If You Let It)",
)

MODEL = "Multilingual BERT"

DATA = "Universal Dependencies, 18 languages"


def _english(evidence: Evidence) -> Numbers:
    return {"English": margin(evidence["trees"], "dependency", "all", "dependent->head")}


FINDINGS = (
    Finding(
        id="ravishankar-single-heads",
        claim="A single head holds more of a tree than the baseline.",
        where="abstract",
        model=MODEL,
        data=DATA,
        metric="The paper: attachment of maximum spanning trees of a head's attention. We: arcs that the head finds.",
        stands_in="English alone: UD English EWT; the head is selected on train and evaluated on dev.",
        differs="One language, a model of that language, and arcs that are not made into a tree.",
        statements=[
            Statement(
                name="English",
                text="The head that finds most arcs is above the best fixed offset.",
                number="accuracy of the chosen head over all arcs minus that of the strongest baseline",
                rule=LearnedRule(above=0.0),
                published=Published(text="above the baseline in all languages (figures)", provenance="second-hand"),
            )
        ],
        readings=("trees",),
        measure=_english,
        group="all arcs of EWT",
        repeats="clark-no-parse",
    ),
    Finding(
        id="ravishankar-languages",
        claim="The same heads hold the trees of different languages.",
        where="abstract",
        model=MODEL,
        data=DATA,
        metric="Attachment of the trees of every head, language by language.",
        statements=[
            Statement(
                name="same heads",
                text="Heads that are good at one language are good at the others.",
                number="rank correlation of attachment between languages, over heads",
                rule=LearnedRule(above=0.0),
                unit="",
                published=Published(text="the same heads across languages (figures)", provenance="second-hand"),
                shown="",
            )
        ],
        missing="the trees that single heads attach in several languages; the grid languages scores relations alone",
    ),
)
