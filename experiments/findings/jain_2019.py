"""Jain and Wallace 2019: other attention gives the same output, so attention is not explanation."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial

import numpy as np
import pandas as pd

from experiments.statements.estimates import Estimate, difference, mean_of
from experiments.statements.finding import Evidence, Finding, Measured, Missing, Numbers, Paper, Published, Statement
from experiments.statements.numbers import table
from experiments.statements.rule import LearnedRule

PAPER = Paper("jain-2019", "Jain and Wallace 2019", "Attention is not Explanation")

MODEL = "Bidirectional LSTM with tanh attention and an output layer, trained together"

DATA = "Sentiment (SST, IMDB), topics (AG News, 20 Newsgroups), clinical notes and others"

STANDS_IN = "Number of the main subject, in sentences of the embedded grammar whose verb is masked."

DIFFERS = (
    "The encoder is frozen: tanh attention and the output layer alone are trained, on the states of the last layer."
)

ACCURATE = 0.7
"Classifiers that are right less often decide nothing that could be explained."


def by_measure(evidence: Evidence) -> Mapping[str, Mapping[int, float]]:
    """Return measure -> classifier -> value; raises Missing where the classifiers have learned too little."""
    explained = table(evidence, "explanation", "explanation")
    found = {
        str(measure): dict(zip(part["seed"], part["value"], strict=True))
        for measure, part in explained.groupby("measure")
    }
    right = mean(found["accuracy"]).value
    if not right >= ACCURATE:
        raise Missing(f"the classifiers are right in {right:.1%}: nothing to explain")
    return found


def _permuted(evidence: Evidence) -> Measured:
    found = by_measure(evidence)
    note = f"mean highest weight {mean(found['highest weight']).value:.2f}"
    return Measured(mean(found["change, permuted"]), note=note)


def mean(values: Mapping[int, float]) -> Estimate:
    """Return the mean over classifiers."""
    return mean_of([*values.values()])


HALF = "That a weak correlation is below a half is our bar; the highest of the data sets that are named is 0.44."

AGREE, BY_GRADIENT, BY_LEAVING_OUT = "gradient and leaving out", "attention and gradient", "attention and leaving out"


def _ranks(evidence: Evidence) -> Numbers:
    """Return rank correlations of attention, and how far those of gradients and leaving out are above them."""
    by_measure(evidence)
    ranks = table(evidence, "explanation", "explanation_ranks")
    pairs = {str(pair): part.set_index("seed") for pair, part in ranks.groupby("pair")}
    numbers: dict[str, Measured | Missing] = {}
    for pair, name in ((BY_GRADIENT, "gradients"), (BY_LEAVING_OUT, "leaving out")):
        numbers[name] = _rank(pairs[pair])
        above = difference(*(dict(zip(one.index, one.tau, strict=True)) for one in (pairs[AGREE], pairs[pair])))
        numbers[f"above {name}"] = Measured(above, note=f"between gradients and leaving out: {_told(pairs[AGREE])}")
    return numbers


def _rank(rows: pd.DataFrame) -> Measured:
    """Return tau: what decides is over classifiers, each with sentences of its own; `ours` is over all sentences."""
    return Measured(mean_of(rows["tau"].tolist()), over_sentences(rows), note=_told(rows))


def _told(rows: pd.DataFrame) -> str:
    tau, share = over_sentences(rows), float((rows["significant"] * rows["n"]).sum() / rows["n"].sum())
    return f"{tau.value:.2f} [{tau.low:.2f}, {tau.high:.2f}] over held-out sentences, significant in {share:.0%}"


def over_sentences(rows: pd.DataFrame) -> Estimate:
    """Return the mean of tau over the sentences of all classifiers, from the means and intervals of each."""
    n, total = rows["n"], int(rows["n"].sum())
    half = float(np.sqrt((((rows["high"] - rows["low"]) / 2 * n) ** 2).sum()) / total)
    mean = float((rows["tau"] * n).sum() / total)
    return Estimate(mean, mean - half, mean + half, total)


finding = partial(Finding, model=MODEL, data=DATA, stands_in=STANDS_IN, readings=("explanation",))

FINDINGS = (
    finding(
        id="jain-ranks",
        claim="Attention ranks words only weakly as gradients and leaving them out do, which agree far better.",
        where="section 4.1: the table of rank correlations by data set, and the figures of differences",
        data="Sentiment (SST, IMDB) and topics (AG News, 20 Newsgroups), of those in the table",
        metric="Kendall's tau over the words of a text, mean over texts: of attention, of |x . dy/dx| with attention "
        "held, and of the total variation distance of the output without the word.",
        differs=f"{DIFFERS} Gradients and leaving out go through the encoder, as in the paper, but by word pieces. "
        f"{HALF} The share of significant texts grows with their length and decides nothing.",
        statements=[
            Statement(
                name=name,
                text=f"The correlation of attention with {name} is below a half.",
                number=f"Kendall's tau of attention and {name}, mean over classifiers",
                rule=LearnedRule(below=0.5, unit=""),
                published=Published(value, text=text),
            )
            for name, value, text in (
                (
                    "gradients",
                    0.35,
                    "SST, significant in 49 %; IMDB 0.44 (100 %), AG News 0.39 (86 %), 20 Newsgroups 0.13 (48 %)",
                ),
                (
                    "leaving out",
                    0.29,
                    "SST, significant in 36 %; IMDB 0.34 (99 %), AG News 0.37 (80 %), 20 Newsgroups 0.12 (44 %)",
                ),
            )
        ]
        + [
            Statement(
                name=f"above {name}",
                text=f"Gradients and leaving out agree more than attention and {name} do, by as much as on SST.",
                number=f"Kendall's tau of gradients and leaving out minus that of attention and {name}",
                rule=LearnedRule(above=value, unit=""),
                weaker=LearnedRule(above=0.0),
                published=Published(value, text=text),
            )
            for name, value, text in (
                ("gradients", 0.30, "SST: 0.66 (significant in 91 %) against 0.35; IMDB 0.08, 20 Newsgroups 0.40"),
                ("leaving out", 0.36, "SST: 0.66 (significant in 91 %) against 0.29; IMDB 0.18, 20 Newsgroups 0.41"),
            )
        ],
        measure=_ranks,
    ),
    finding(
        id="jain-permuted",
        claim="Attention can be permuted, and the output often hardly changes.",
        where="section 4.2.1, figures by highest weight",
        metric="Median over sentences of the median total variation distance of the output over 100 permutations.",
        differs=DIFFERS + " The paper prints no number: a tenth is our bar.",
        statements=[
            Statement(
                name="permuted",
                text="The output changes by less than a tenth.",
                number="total variation distance",
                rule=LearnedRule(below=0.1, unit=""),
                published=Published(text="small in most data sets; shown in figures", provenance="memory"),
            )
        ],
        measure=_permuted,
    ),
    finding(
        id="jain-adversarial",
        revised="a weaker bar was removed after untrained weights had passed it",
        claim="Attention that is far from the trained one gives the same output.",
        where="section 4.2.2, figures of the divergence",
        metric="Jensen-Shannon divergence of attention, in nats, the highest found while the output moves by 0.01 in "
        "total variation distance at most; mean over sentences. It is at most 0.69.",
        differs=DIFFERS + " One adversary at a time, four random starts. The paper prints no mean: a half is our bar.",
        statements=[
            Statement(
                name="adversarial",
                text="The mean divergence is above a half.",
                number="Jensen-Shannon divergence in nats",
                rule=LearnedRule(above=0.5, unit=""),
                published=Published(text="near 0.69 for many texts; shown in figures", provenance="memory"),
            )
        ],
        measure=lambda evidence: Measured(mean(by_measure(evidence)["divergence, adversarial"])),
    ),
)
