"""Wiegreffe and Pinter 2019: trained attention helps a network without context, adversarial attention does less."""

from __future__ import annotations

from experiments.findings.jain_2019 import DIFFERS, STANDS_IN, by_measure, mean
from experiments.statements.estimates import difference
from experiments.statements.figure import Figure, Point
from experiments.statements.finding import Evidence, Finding, Measured, Missing, Numbers, Paper, Published, Statement
from experiments.statements.rule import Rule

PAPER = Paper("wiegreffe-2019", "Wiegreffe and Pinter 2019", "Attention is not not Explanation")

MODEL = "Bidirectional LSTM with tanh attention and an output layer, trained together"

DATA = "SST, IMDB, AG News, 20 Newsgroups, and clinical notes (diabetes, anemia)"

GUIDES = {"trained": 0.824, "uniform": 0.812, "adversarial": 0.592}
"Attention that the network without context is given -> F1 on SST, from memory."


def _uniform(evidence: Evidence) -> Numbers:
    found = by_measure(evidence)
    if isinstance(found, Missing):
        return {"uniform": found}
    trained, uniform = found["accuracy"], found["accuracy, uniform attention"]
    note = f"{mean(trained).value:.1%} and {mean(uniform).value:.1%}"
    return {"uniform": Measured(difference(trained, uniform), note=note)}


def _guided(evidence: Evidence) -> Numbers:
    found = by_measure(evidence)
    if isinstance(found, Missing):
        return dict.fromkeys(("uniform", "adversarial"), found)
    by_guide = {guide: found[f"accuracy, guided: {guide}"] for guide in GUIDES}
    note = ", ".join(f"{guide} {mean(values).value:.1%}" for guide, values in by_guide.items())
    return {
        name: Measured(difference(by_guide["trained"], by_guide[name]), note=note)
        for name in ("uniform", "adversarial")
    }


def _bars(evidence: Evidence) -> Figure:
    found = by_measure(evidence)
    known = {} if isinstance(found, Missing) else {guide: mean(found[f"accuracy, guided: {guide}"]) for guide in GUIDES}
    ours: list[Point] = [(place, one.value, one.low, one.high) for place, one in enumerate(known.values())]
    published: list[Point] = [(place, value) for place, value in enumerate(GUIDES.values())]
    series = {"ours, accuracy": ours, "published, F1 on SST": published}
    return Figure("bars", "A network without context, by the attention it is given", "", "", series, [*GUIDES])


FINDINGS = (
    Finding(
        id="wiegreffe-uniform",
        claim="Trained attention is better than uniform attention, in some data sets by little.",
        where="section 3.2, table of uniform attention",
        model=MODEL,
        data=DATA,
        metric="F1 with trained attention minus that with uniform attention; ours is accuracy.",
        stands_in=STANDS_IN,
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
        readings=("explanation",),
        measure=_uniform,
        fact="uniform attention is one of those that can be learned, over the states of any encoder",
    ),
    Finding(
        id="wiegreffe-guide",
        claim="A network without context does better with attention of a trained classifier than with uniform or "
        "adversarial attention.",
        where="section 3.4, table of guide weights",
        model=MODEL,
        data=DATA,
        metric="F1 of a network that sees each token by itself, weighted by attention from outside; ours is accuracy.",
        stands_in=STANDS_IN,
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
        readings=("explanation",),
        measure=_guided,
        figure=_bars,
        fact="the classifier is trained over the states of any encoder, and finds the words that decide",
    ),
)
