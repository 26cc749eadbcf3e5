"""Wiegreffe and Pinter 2019: trained attention helps a network without context, adversarial attention does less."""

from __future__ import annotations

from functools import partial

from experiments.findings.jain_2019 import DIFFERS, STANDS_IN, by_measure, mean
from experiments.statements.estimates import difference
from experiments.statements.finding import Evidence, Finding, Measured, Numbers, Paper, Published, Statement
from experiments.statements.rule import Rule

PAPER = Paper("wiegreffe-2019", "Wiegreffe and Pinter 2019", "Attention is not not Explanation")

GUIDES = {"trained": 0.824, "uniform": 0.812, "adversarial": 0.592}
"Attention that the network without context is given -> F1 on SST, from memory."


def _uniform(evidence: Evidence) -> Measured:
    found = by_measure(evidence)
    trained, uniform = found["accuracy"], found["accuracy, uniform attention"]
    return Measured(difference(trained, uniform), note=f"{mean(trained).value:.1%} and {mean(uniform).value:.1%}")


def _guided(evidence: Evidence) -> Numbers:
    by_guide = {guide: by_measure(evidence)[f"accuracy, guided: {guide}"] for guide in GUIDES}
    note = ", ".join(f"{guide} {mean(values).value:.1%}" for guide, values in by_guide.items())
    return {
        name: Measured(difference(by_guide["trained"], by_guide[name]), note=note)
        for name in ("uniform", "adversarial")
    }


finding = partial(
    Finding,
    model="Bidirectional LSTM with tanh attention and an output layer, trained together",
    data="SST, IMDB, AG News, 20 Newsgroups, and clinical notes (diabetes, anemia)",
    stands_in=STANDS_IN,
    readings=("explanation",),
)

FINDINGS = (
    finding(
        id="wiegreffe-uniform",
        claim="Trained attention is better than uniform attention, in some data sets by little.",
        where="section 3.2, table of uniform attention",
        metric="F1 with trained attention minus that with uniform attention; ours is accuracy.",
        differs=DIFFERS,
        statements=[
            Statement(
                name="uniform",
                text="A classifier with trained attention is more accurate than one with uniform attention.",
                number="difference of the accuracies",
                rule=Rule(above=0.0),
                published=Published(0.009, text="83.1 and 82.2 on SST; 90.2 and 87.9 on IMDB", provenance="memory"),
            )
        ],
        measure=_uniform,
        fact="uniform attention is one of those that can be learned, over the states of any encoder",
    ),
    finding(
        id="wiegreffe-guide",
        claim="A network without context does better with attention of a trained classifier than with uniform or "
        "adversarial attention.",
        where="section 3.4, table of guide weights",
        metric="F1 of a network that sees each token by itself, weighted by attention from outside; ours is accuracy.",
        differs=DIFFERS
        + " Adversarial attention is found for each text by itself, as in jain-2019, and not by a model "
        "that is trained to differ.",
        statements=[
            Statement(
                name=name,
                text=f"With trained attention it is more accurate than with {name} attention.",
                number="difference of the accuracies",
                rule=Rule(above=0.0),
                published=Published(round(GUIDES["trained"] - GUIDES[name], 3), text="F1 on SST", provenance="memory"),
            )
            for name in ("uniform", "adversarial")
        ],
        measure=_guided,
        fact="the classifier is trained over the states of any encoder, and finds the words that decide",
    ),
)
