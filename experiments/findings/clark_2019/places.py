"""Positions that heads attend to, and how broad heads are."""

from __future__ import annotations

import numpy as np
import pandas as pd
from scipy.stats import binomtest

from experiments.findings.clark_2019.relations import MODEL
from experiments.statements.estimates import Estimate
from experiments.statements.figure import Figure, Point
from experiments.statements.finding import Evidence, Finding, Measured, Missing, Numbers, Published, Statement
from experiments.statements.learned import LearnedRule
from experiments.statements.numbers import average, by_depth, heads_above, minus, shape
from experiments.statements.rule import Rule

DATA = "1,000 pairs of paragraphs of Wikipedia, up to 128 tokens"

STANDS_IN = "UD English GUM, in windows of up to 100 words."

DIFFERS = "The paper's texts are two segments with two [SEP]; ours are one segment with one."

LOWER = (0.0, 2 / 3)
"The first eight layers of the paper's 12: by chance they have two thirds of the heads."

MANY = 0.5
"A head attends to a place if it gives it more than half of its attention."


def by_layer(evidence: Evidence, kind: str, measures: tuple[str, ...], up: str) -> Figure:
    """Return a dot a head of measures of a kind."""
    series: dict[str, list[Point]] = {}
    for measure in measures:
        heads = shape(evidence["coreference"], kind, measure, "window")
        numbers = heads[["layer", "value", "ci_low", "ci_high"]].to_numpy(np.float64).tolist()
        series[measure] = [(layer + 1, value, low, high) for layer, value, low, high in numbers]
    return Figure("dots", "Every head by layer", "layer", up, series=series)


def _entropies(evidence: Evidence) -> Figure:
    return by_layer(evidence, "entropy", ("all tokens", "[CLS]"), "entropy, nats")


def _positional(evidence: Evidence) -> Numbers:
    """Return how many heads attend to a neighbour, and how many more of them the lower layers have."""
    asked = {"previous": "-1", "next": "+1"}
    by_place = {name: shape(evidence["coreference"], "offset", offset, "window") for name, offset in asked.items()}
    return {
        name: Measured(heads_above(heads, MANY), heads=", ".join(heads[heads.value > MANY].name))
        for name, heads in by_place.items()
    } | {"low layers": _low(pd.concat(by_place.values()))}


def _low(both: pd.DataFrame) -> Measured | Missing:
    """Return the share of positional heads that the lower layers have; both ends are exact one-sided bounds of 95 %."""
    many = int((both.value > MANY).sum())
    if not many:
        return Missing("no head attends to a neighbour", absent=True)
    lower = int((by_depth(both, *LOWER).value > MANY).sum())
    ends = binomtest(lower, many).proportion_ci(0.9, method="exact")
    share = Estimate(lower / many, float(ends.low), float(ends.high), many)
    return Measured(share, note=f"{lower} of {many}")


def _themselves(evidence: Evidence) -> Numbers:
    heads = shape(evidence["coreference"], "offset", "0", "window")
    above, of = heads_above(heads, 0.1), max(len(heads), 1)
    return {"itself": Measured(Estimate(above.value / of, above.low / of, above.high / of, len(heads)))}


def _broad(evidence: Evidence) -> Numbers:
    heads = shape(evidence["coreference"], "entropy", "all tokens", "window")
    first, others = average(heads[heads.layer == 0]), average(heads[heads.layer > 0])
    told = f"{others.value:.2f} in the other layers"
    return {"layer 1": Measured(minus(first, others), first, float(heads.even.mean()), note=told)}


def _top(evidence: Evidence) -> Numbers:
    heads = shape(evidence["coreference"], "entropy", "[CLS]", "window")
    last = heads.layer == heads.layer.max()
    top, below = average(heads[last]), average(heads[~last])
    told = f"{below.value:.2f} in the layers below"
    return {"[CLS] at the top": Measured(minus(top, below), top, float(heads.even.mean()), note=told)}


FINDINGS = (
    Finding(
        id="clark-positional",
        claim="Some heads attend to the previous token, some to the next, and they are in the lower and middle layers.",
        where="on relative position",
        model=MODEL,
        data=DATA,
        metric="Mean attention of a head to the previous or the next token; we: to the previous or the next word.",
        stands_in=STANDS_IN,
        differs=DIFFERS,
        statements=[
            *(
                Statement(
                    name=name,
                    text=f"At least one head gives more than half of its attention to the {name} word.",
                    number="heads",
                    rule=LearnedRule(above=0.0),
                    unit="heads",
                    published=Published(count, text=f"layers {layers}"),
                    shown="heads",
                )
                for name, count, layers in (("previous", 4.0, "2, 4, 7, 8"), ("next", 5.0, "1, 2, 2, 3, 6"))
            ),
            Statement(
                name="low layers",
                text="The first two thirds of the layers have more than two thirds of such heads.",
                number="share of such heads that are in the first two thirds of the layers, with exact bounds",
                rule=LearnedRule(above=2 / 3),
                unit="%",
                published=Published(1.0, 2 / 3, text="9 of 9; two thirds by chance"),
            ),
        ],
        readings=("coreference",),
        measure=_positional,
    ),
    Finding(
        id="clark-itself",
        claim="Most heads give little attention to the token itself.",
        where="on relative position",
        model=MODEL,
        data=DATA,
        metric="Heads that give more than a tenth of their attention to the token itself; we: to the word itself.",
        stands_in=STANDS_IN,
        differs=f"{DIFFERS} What is little is not said; we take a tenth.",
        statements=[
            Statement(
                name="itself",
                text="Fewer than half of the heads give more than a tenth of their attention to the word itself.",
                number="share of the heads",
                rule=Rule(below=0.5),
                unit="%",
                published=Published(text="little"),
            )
        ],
        readings=("coreference",),
        measure=_themselves,
        fact="uniform attention gives a word in a window of a hundred no more than a hundredth",
    ),
    Finding(
        id="clark-broad",
        claim="The heads of layer 1 are broad.",
        where="on entropy",
        model=MODEL,
        data=DATA,
        metric="Entropy of the attention of a token in nats, smoothed with 1/10,000 of uniform attention; means over "
        "tokens and texts.",
        stands_in=STANDS_IN,
        differs=f"{DIFFERS} That some give no word more than a tenth is not asked: uniform attention does not, either.",
        statements=[
            Statement(
                name="layer 1",
                text="The heads of layer 1 are broader than those of the other layers, by a tenth of a nat at least.",
                number="mean entropy in layer 1 minus that in the other layers",
                rule=LearnedRule(above=0.1),
                unit="nats",
                published=Published(text="near uniform attention, which has about 4.6 nats"),
                shown="nats",
            ),
        ],
        readings=("coreference",),
        measure=_broad,
        figure=_entropies,
    ),
    Finding(
        id="clark-cls-broad",
        claim="In the last layer [CLS] attends broadly.",
        where="on entropy",
        model=MODEL,
        data=DATA,
        metric="Entropy of the attention of [CLS] in nats, smoothed with 1/10,000 of uniform attention; means over "
        "texts.",
        stands_in=STANDS_IN,
        differs=DIFFERS,
        statements=[
            Statement(
                name="[CLS] at the top",
                text="[CLS] is broader in the last layer than in those below, by a tenth of a nat at least.",
                number="mean entropy of [CLS] in the last layer minus that in the layers below",
                rule=Rule(above=0.1),
                unit="nats",
                published=Published(3.89, 4.6, "uniform attention has about 4.6 nats"),
                shown="nats",
            )
        ],
        fact="permuted weights (three seeds of three) pass the bar, too: vectors such as LayerNorm's, which a "
        "permutation of matrices keeps, suffice",
        readings=("coreference",),
        measure=_top,
        figure=_entropies,
    ),
)
