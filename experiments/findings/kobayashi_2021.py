"""Kobayashi, Kuribayashi, Yokoi and Inui 2021: beside the residual, attention mixes less than its weights say."""

from __future__ import annotations

from experiments.statements.estimates import Estimate
from experiments.statements.figure import Figure, Point
from experiments.statements.finding import Evidence, Finding, Measured, Missing, Numbers, Paper, Published, Statement
from experiments.statements.learned import LearnedRule
from experiments.statements.numbers import average, floats, minus, rows
from experiments.statements.rule import Rule

PAPER = Paper(
    "kobayashi-2021",
    "Kobayashi, Kuribayashi, Yokoi and Inui 2021",
    "Incorporating Residual and Normalization Layers into Analysis of Masked Language Models",
)

MODEL = "BERT base, uncased"

DATA = "Sequences of Wikipedia"

STANDS_IN = "UD English EWT, sentences and windows of dev."

METRIC = (
    "Mixing ratio: |c| / (|c| + |o|), c what the attention block takes from other tokens, o what it keeps of the token "
)
METRIC += "itself; mean over tokens and layers."

HALF, RESIDUAL, BLOCK = "weights, residual", "norms, residual", "norms, residual, LayerNorm"


def _ratio(evidence: Evidence, measure: str) -> Estimate:
    return average(rows(evidence["mixing"].studies["mixing"], measure=measure), "value", "low", "high")


def _ratios(evidence: Evidence) -> Numbers:
    assumed, whole = _ratio(evidence, HALF), _ratio(evidence, BLOCK)
    return {
        "block": Measured(whole, baseline=assumed.value, note=f"{assumed.value:.1%} by weights and half a residual")
    }


def _layer_norm(evidence: Evidence) -> Numbers:
    without, whole = _ratio(evidence, RESIDUAL), _ratio(evidence, BLOCK)
    if without.value == whole.value:
        return {"LayerNorm": Missing("no LayerNorm stands behind the attention of this model")}
    note = f"{without.value:.1%} without, {whole.value:.1%} with LayerNorm"
    return {"LayerNorm": Measured(minus(whole, without), note=note)}


def _by_layer(evidence: Evidence) -> Figure:
    table, series = evidence["mixing"].studies["mixing"], {}
    for measure in (HALF, RESIDUAL, BLOCK):
        found = rows(table, measure=measure).sort_values("depth")
        points: list[Point] = [(x, y, low, high) for x, y, low, high in floats(found, "depth", "value", "low", "high")]
        series[measure] = points
    return Figure("lines", "Mixing ratio by layer", "layer", "mixing ratio", series=series)


FINDINGS = (
    Finding(
        id="kobayashi-mixing-ratio",
        claim="With the residual and LayerNorm, attention blocks mix other tokens in far less than was assumed.",
        where="the table of mixing ratios",
        model=MODEL,
        data=DATA,
        metric=METRIC,
        stands_in=STANDS_IN,
        statements=[
            Statement(
                name="block",
                text="The mixing ratio of the whole block is below a quarter; weights and half a residual say a half.",
                number="mixing ratio",
                rule=Rule(below=0.25),
                weaker=Rule(below=0.4),
                unit="%",
                published=Published(0.188, 0.486, text="weights alone: 97.1 %", provenance="memory"),
            )
        ],
        readings=("mixing",),
        measure=_ratios,
        figure=_by_layer,
        fact="randomly initialised heads write short vectors beside the residual, and so mix less still",
    ),
    Finding(
        id="kobayashi-layer-norm",
        revised="the bar was raised after untrained weights had passed the first one, the sign of the effect",
        claim="LayerNorm lowers the mixing ratio further.",
        where="the table of mixing ratios",
        model=MODEL,
        data=DATA,
        metric=METRIC,
        stands_in=STANDS_IN,
        statements=[
            Statement(
                name="LayerNorm",
                text="The mixing ratio with LayerNorm is below that without it, by half of the paper's points.",
                number="mixing ratio with LayerNorm minus that without",
                rule=LearnedRule(below=-0.0175),
                published=Published(-0.035, text="22.3 and 18.8 %", provenance="memory"),
            )
        ],
        readings=("mixing",),
        measure=_layer_norm,
    ),
)
