"""Dong, Cordonnier and Loukas 2021: without skip connections and feed-forward nets, attention makes states alike."""

from __future__ import annotations

from functools import partial

import pandas as pd

from experiments.statements.estimates import Estimate
from experiments.statements.finding import Evidence, Finding, Measured, Numbers, Paper, Published, Statement
from experiments.statements.numbers import average, estimate_of, minus, points, table
from experiments.statements.rule import LearnedRule, Rule
from reports.statements.figure import Figure

PAPER = Paper(
    "dong-2021",
    "Dong, Cordonnier and Loukas 2021",
    "Attention is Not All You Need: Pure Attention Loses Rank Doubly Exponentially with Depth",
)

METRIC = "Relative residual: norm of the states minus their mean over tokens, over the norm of the states; the norm is "
METRIC += "sqrt(|X|_1 |X|_inf). Parts of the layers are left out in the pass, nothing is trained anew."

DIFFERS = "The mean stands for the vector that is nearest in the norm of the paper. LayerNorm stays where it is."

ALL, NO_SKIPS, ALONE = "states: all parts", "states: no skip connections", "states: attention alone"
LINES = (ALL, "states: no feed-forward nets", NO_SKIPS, ALONE)


def _pass(evidence: Evidence, measure: str) -> pd.DataFrame:
    return table(evidence, "mixing", "mixing", measure=measure).sort_values("depth")


def _last(evidence: Evidence, measure: str) -> Estimate:
    return estimate_of(_pass(evidence, measure).iloc[-1], "value", "low", "high")


def _collapse(evidence: Evidence) -> Numbers:
    alone, whole = _last(evidence, ALONE), _last(evidence, ALL)
    by_layer = ", ".join(f"{value:.2g}" for value in _pass(evidence, ALONE)["value"])
    return {
        "attention alone": Measured(alone, note=f"by layer, from the input: {by_layer}"),
        "skip connections": Measured(minus(whole, alone), note=f"{whole.value:.2f} with all parts"),
    }


def _slower(evidence: Evidence) -> Measured:
    passes = (_pass(evidence, measure) for measure in (NO_SKIPS, ALONE))
    nets, alone = (average(found[found["depth"] > 0], "value", "low", "high") for found in passes)
    return Measured(minus(nets, alone), note=f"{nets.value:.3f} with, {alone.value:.3f} without feed-forward nets")


def _by_depth(evidence: Evidence) -> Figure:
    series = {
        measure.removeprefix("states: "): points(_pass(evidence, measure), "depth", "value", "low", "high")
        for measure in LINES
    }
    return Figure("lines", "How different the states of a text are", "layer", "relative residual", series=series)


finding = partial(
    Finding,
    model="BERT base, ALBERT base and XLNet base, pretrained",
    data="Excerpts of Wikipedia of 128 tokens",
    metric=METRIC,
    stands_in="UD English EWT, sentences and windows of dev.",
    readings=("mixing",),
)

FINDINGS = (
    finding(
        id="dong-collapse",
        claim="Attention alone makes all states of a text alike within few layers; skip connections keep them apart.",
        where="theorem and figure of convergence",
        differs=DIFFERS,
        statements=[
            Statement(
                name="attention alone",
                text="Behind the last layer the relative residual of attention alone is below a tenth.",
                number="relative residual",
                rule=Rule(below=0.1, unit=""),
                published=Published(text="near 0 within few layers; shown in a figure", provenance="memory"),
            ),
            Statement(
                name="skip connections",
                text="With all parts of the layers it is far higher, by three tenths at least.",
                number="relative residual with all parts minus that of attention alone",
                rule=Rule(above=0.3, unit=""),
                weaker=Rule(above=0.0),
                published=Published(text="far from 0 in all layers; shown in a figure", provenance="memory"),
            ),
        ],
        measure=_collapse,
        figure=_by_depth,
        fact="it is a theorem about products of stochastic matrices, whatever the weights",
    ),
    finding(
        id="dong-feed-forward",
        revised="the bar was raised after untrained weights had passed the first one, the sign of the effect",
        claim="Without skip connections, feed-forward nets slow the collapse.",
        where="section on other parts, figure of convergence",
        differs=DIFFERS + " The paper prints no number: three hundredths is our bar, more than permuted weights have.",
        statements=[
            Statement(
                name="feed-forward nets",
                text="Without skip connections the relative residual is higher with feed-forward nets than without, by "
                "three hundredths at least.",
                number="difference of the relative residuals, mean over layers",
                rule=LearnedRule(above=0.03, unit=""),
                published=Published(text="slower; shown in a figure", provenance="memory"),
            )
        ],
        measure=_slower,
    ),
)
