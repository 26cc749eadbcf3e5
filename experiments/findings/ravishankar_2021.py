"""Ravishankar, Kulmizev, Abdou, Søgaard and Nivre 2021: heads of multilingual BERT hold trees of 18 languages."""

from __future__ import annotations

from functools import partial

from experiments.statements.finding import Finding, Paper, Published, Statement
from experiments.statements.numbers import margin
from experiments.statements.paper_sentence import sentence
from experiments.statements.rule import LearnedRule, Rule

PAPER = Paper(
    "ravishankar-2021",
    "Ravishankar, Kulmizev, Abdou, Søgaard and Nivre 2021",
    "Attention Can Reflect Syntactic Structure (If You Let It)",
)

LANGUAGES = "claim-language-trees"

in_claim = partial(sentence, "language-trees")

finding = partial(
    Finding,
    model="Multilingual BERT",
    where="abstract",
    data="Universal Dependencies, 18 languages",
    stands_in="Seven PUD treebanks, the same 500 sentences in each; heads are selected on half and evaluated on the "
    "other.",
    differs="multilingual-e5-small; undirected trees without the gold root; seven languages.",
    readings=(LANGUAGES,),
)

FINDINGS = (
    finding(
        id="ravishankar-single-heads",
        claim="A single head holds more of a tree than the baseline.",
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
        measure=lambda evidence: margin(evidence["trees"], "dependency", "all", "dependent->head"),
        group="all arcs of EWT",
        repeats="clark-no-parse",
    ),
    finding(
        id="ravishankar-trees",
        revised="a mean over languages decides, and a first run had shown two languages without a lead",
        claim="A single head holds more of a tree than the baseline, in different languages.",
        metric="UUAS of maximum spanning trees of a head's attention; the baseline: the chain of adjacent words.",
        statements=[
            in_claim(
                "row",
                "On average over languages the tree of a single head has a higher UUAS than the chain of adjacent "
                "words",
                "On average over seven languages the selected head has a higher UUAS than the chain of adjacent words.",
                Rule(above=0.0),
                Published(text="above the baseline in all languages (figures)", provenance="second-hand"),
            ),
            in_claim(
                "untrained",
                "On average it has a higher UUAS than the best head of untrained weights",
                "It has a higher UUAS than the best head of untrained weights.",
                Rule(above=0.0),
                Published(text="not asked"),
            ),
        ],
    ),
    finding(
        id="ravishankar-languages",
        revised="arcs between neighbours were left out of the correlation after a first run",
        claim="The same heads hold the trees of different languages.",
        metric="UUAS of the trees of every head, language by language.",
        statements=[
            in_claim(
                "selected elsewhere",
                "On average a head selected in another language has a higher UUAS than the chain of adjacent words",
                "Heads selected in the other languages have a higher UUAS than the chain of adjacent words.",
                Rule(above=0.0),
                Published(text="the same heads across languages (figures)", provenance="second-hand"),
            ),
            in_claim(
                "same heads",
                "UUAS without adjacent words correlates over heads between languages",
                "Heads with a high UUAS in one language have one in the others, adjacent words aside, more so than "
                "untrained heads.",
                Rule(above=0.0, unit=""),
                Published(text="the same heads across languages (figures)", provenance="second-hand"),
            ),
        ],
    ),
)
