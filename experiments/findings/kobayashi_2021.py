"""Kobayashi, Kuribayashi, Yokoi and Inui 2021: beside the residual, attention mixes less than its weights say."""

from __future__ import annotations

from functools import partial

from experiments.statements.estimates import Estimate
from experiments.statements.finding import Evidence, Finding, Measured, Missing, Paper, Published, Statement
from experiments.statements.numbers import average, minus, points, table
from experiments.statements.rule import LearnedRule, Rule
from reports.statements.figure import Figure

PAPER = Paper(
    "kobayashi-2021",
    "Kobayashi, Kuribayashi, Yokoi and Inui 2021",
    "Incorporating Residual and Normalization Layers into Analysis of Masked Language Models",
)

METRIC = (
    "Mixing ratio: |c| / (|c| + |o|), c what the attention block takes from other tokens, o what it keeps of the token "
)
METRIC += "itself; mean over tokens and layers."

HALF, RESIDUAL, BLOCK = "weights, residual", "norms, residual", "norms, residual, LayerNorm"


def _ratio(evidence: Evidence, measure: str) -> Estimate:
    return average(table(evidence, "mixing", "mixing", measure=measure), "value", "low", "high")


def _ratios(evidence: Evidence) -> Measured:
    assumed, whole = _ratio(evidence, HALF), _ratio(evidence, BLOCK)
    return Measured(whole, baseline=assumed.value, note=f"{assumed.value:.1%} by weights and half a residual")


def _layer_norm(evidence: Evidence) -> Measured:
    without, whole = _ratio(evidence, RESIDUAL), _ratio(evidence, BLOCK)
    if without.value == whole.value:
        raise Missing("no LayerNorm stands behind the attention of this model")
    return Measured(minus(whole, without), note=f"{without.value:.1%} without, {whole.value:.1%} with LayerNorm")


def _by_layer(evidence: Evidence) -> Figure:
    found = {measure: table(evidence, "mixing", "mixing", measure=measure) for measure in (HALF, RESIDUAL, BLOCK)}
    series = {
        name: points(layers.sort_values("depth"), "depth", "value", "low", "high") for name, layers in found.items()
    }
    return Figure("lines", "Mixing ratio by layer", "layer", "mixing ratio", series=series)


finding = partial(
    Finding,
    model="BERT base, uncased",
    where="the table of mixing ratios",
    data="Sequences of Wikipedia",
    metric=METRIC,
    stands_in="UD English EWT, sentences and windows of dev.",
    readings=("mixing",),
)

FINDINGS = (
    finding(
        id="kobayashi-mixing-ratio",
        claim="With the residual and LayerNorm, attention blocks mix other tokens in far less than was assumed.",
        statements=[
            Statement(
                name="block",
                text="The mixing ratio of the whole block is below a quarter; weights and half a residual say a half.",
                number="mixing ratio",
                rule=Rule(below=0.25, unit="%"),
                weaker=Rule(below=0.4),
                published=Published(0.188, 0.486, text="weights alone: 97.1 %", provenance="memory"),
            )
        ],
        measure=_ratios,
        figure=_by_layer,
        fact="randomly initialised heads write short vectors beside the residual, and so mix less still",
    ),
    finding(
        id="kobayashi-layer-norm",
        revised="the bar was raised after untrained weights had passed the first one, the sign of the effect",
        claim="LayerNorm lowers the mixing ratio further.",
        statements=[
            Statement(
                name="LayerNorm",
                text="The mixing ratio with LayerNorm is below that without it, by half of the paper's points.",
                number="mixing ratio with LayerNorm minus that without",
                rule=LearnedRule(below=-0.0175),
                published=Published(-0.035, text="22.3 and 18.8 %", provenance="memory"),
            )
        ],
        measure=_layer_norm,
    ),
)
