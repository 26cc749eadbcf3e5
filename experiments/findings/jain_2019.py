"""Jain and Wallace 2019: other attention gives the same output, so attention is not explanation."""

from __future__ import annotations

from collections.abc import Mapping

from experiments.statements.estimates import Estimate, mean_of
from experiments.statements.finding import Evidence, Finding, Measured, Missing, Numbers, Paper, Published, Statement
from experiments.statements.learned import LearnedRule

PAPER = Paper("jain-2019", "Jain and Wallace 2019", "Attention is not Explanation")

MODEL = "Bidirectional LSTM with tanh attention and an output layer, trained together"

DATA = "Sentiment (SST, IMDB), topics (AG News, 20 Newsgroups), clinical notes and others"

STANDS_IN = "Number of the main subject, in sentences of the embedded grammar whose verb is masked."

DIFFERS = (
    "The encoder is frozen: tanh attention and the output layer alone are trained, on the states of the last layer. "
    "The paper's table of rank correlations with gradients and leaving out is not measured."
)

ACCURATE = 0.7
"Classifiers that are right less often decide nothing that could be explained."


def by_measure(evidence: Evidence) -> Mapping[str, Mapping[int, float]] | Missing:
    """Return measure -> classifier -> value; Missing where the classifiers have learned too little."""
    table = evidence["explanation"].studies["explanation"]
    found = {
        str(measure): dict(zip(part["seed"], part["value"], strict=True)) for measure, part in table.groupby("measure")
    }
    right = mean_of([*found["accuracy"].values()]).value
    return found if right >= ACCURATE else Missing(f"the classifiers are right in {right:.1%}: nothing to explain")


def mean(values: Mapping[int, float]) -> Estimate:
    """Return the mean over classifiers."""
    return mean_of([*values.values()])


def _permuted(evidence: Evidence) -> Numbers:
    found = by_measure(evidence)
    if isinstance(found, Missing):
        return {"permuted": found}
    note = f"mean highest weight {mean(found['highest weight']).value:.2f}"
    return {"permuted": Measured(mean(found["change, permuted"]), note=note)}


def _adversarial(evidence: Evidence) -> Numbers:
    found = by_measure(evidence)
    return {"adversarial": found if isinstance(found, Missing) else Measured(mean(found["divergence, adversarial"]))}


FINDINGS = (
    Finding(
        id="jain-permuted",
        claim="Attention can be permuted, and the output often hardly changes.",
        where="section 4.2.1, figures by highest weight",
        model=MODEL,
        data=DATA,
        metric="Median over sentences of the median total variation distance of the output over 100 permutations.",
        stands_in=STANDS_IN,
        differs=DIFFERS + " The paper prints no number: a tenth is our bar.",
        statements=[
            Statement(
                name="permuted",
                text="The output changes by less than a tenth.",
                number="total variation distance",
                rule=LearnedRule(below=0.1),
                unit="",
                published=Published(text="small in most data sets; shown in figures", provenance="memory"),
                shown="",
            )
        ],
        readings=("explanation",),
        measure=_permuted,
    ),
    Finding(
        id="jain-adversarial",
        revised="a weaker bar was removed after untrained weights had passed it",
        claim="Attention that is far from the trained one gives the same output.",
        where="section 4.2.2, figures of the divergence",
        model=MODEL,
        data=DATA,
        metric="Jensen-Shannon divergence of attention, in nats, the highest found while the output moves by 0.01 in "
        "total variation distance at most; mean over sentences. It is at most 0.69.",
        stands_in=STANDS_IN,
        differs=DIFFERS + " One adversary at a time, four random starts. The paper prints no mean: a half is our bar.",
        statements=[
            Statement(
                name="adversarial",
                text="The mean divergence is above a half.",
                number="Jensen-Shannon divergence in nats",
                rule=LearnedRule(above=0.5),
                unit="",
                published=Published(text="near 0.69 for many texts; shown in figures", provenance="memory"),
                shown="",
            )
        ],
        readings=("explanation",),
        measure=_adversarial,
    ),
)
