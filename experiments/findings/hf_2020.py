"""Users of Hugging Face transformers 2020: the script run_bertology.py prints the entropy of every head."""

from __future__ import annotations

from experiments.statements.finding import Evidence, Finding, Measured, Missing, Paper, Published, Statement
from experiments.statements.numbers import estimate_of, points, shape
from experiments.statements.rule import LearnedRule
from reports.statements.figure import Figure

PAPER = Paper("hf-2020", "Hugging Face transformers, issue #3895", "run_bertology: log of the entropies of all heads")

ONE_HOT = 0.1
"Nats below which a head gives nearly all of a row to one token: 98 % to one and the rest to another is 0.098."


def _entropy(evidence: Evidence) -> Measured:
    chosen, told = (shape(evidence["trees"], "entropy", "all tokens", split=split) for split in ("select", "report"))
    known = chosen[chosen.value.notna()].sort_values("value")
    found = told[told.name.isin(known.name[:1])]
    if not len(found):
        raise Missing("entropies were not measured")
    row = found.iloc[0]
    return Measured(estimate_of(row, "value", "ci_low", "ci_high"), heads=str(row["name"]))


def _drawn(evidence: Evidence) -> Figure:
    series = {"heads": points(shape(evidence["trees"], "entropy", "all tokens"), "layer", "value", first=1)}
    return Figure("dots", "Entropy of heads", "layer", "nats", series, level=ONE_HOT, level_name="one-hot")


FINDINGS = (
    Finding(
        id="hf-one-hot",
        claim="Next to broad heads there are some that give nearly all attention of a token to one token.",
        where="log in the issue",
        model="BERT base, fine-tuned on MNLI",
        data="MNLI",
        metric="Mean entropy of rows, in nats. 0: all to one token; log n: even.",
        stands_in="UD English EWT; the head is selected on train and evaluated on dev.",
        differs="Shorter texts, and a model that is not fine-tuned.",
        statements=[
            Statement(
                name="one-hot",
                text="The most concentrated head has an entropy below 0.1 nats.",
                number="mean entropy of the head with the lowest one",
                rule=LearnedRule(below=ONE_HOT, unit="nats"),
                published=Published(
                    0.052, text="3-10; 3-1 has 0.058; of layer 1, the first three heads have 3.03, 2.82 and 1.78"
                ),
            )
        ],
        readings=("trees",),
        measure=_entropy,
        unclaimed="it is a log in an issue of a repository: nobody claims it",
        figure=_drawn,
    ),
)
