"""Positions that heads attend to, and how broad heads are."""

from __future__ import annotations

from functools import partial

import pandas as pd
from scipy.stats import binomtest

from experiments.findings.clark_2019.relations import MODEL
from experiments.statements.estimates import Estimate
from experiments.statements.finding import Evidence, Finding, Measured, Missing, Published, Statement
from experiments.statements.numbers import average, by_depth, heads_above, minus, points, shape, share_above
from experiments.statements.rule import LearnedRule, Rule
from reports.statements.figure import Figure

DATA = "1,000 pairs of paragraphs of Wikipedia, up to 128 tokens"

STANDS_IN = "UD English GUM, in windows of up to 100 words."

DIFFERS = "The paper's texts are two segments with two [SEP]; ours are one segment with one."

LOWER = (0.0, 2 / 3)
"The first eight layers of the paper's 12: by chance they have two thirds of the heads."

MANY = 0.5
"A head attends to a place if it gives it more than half of its attention."


def window(evidence: Evidence, kind: str, measure: str) -> pd.DataFrame:
    """Return a row a head of a measure of a kind."""
    return shape(evidence["coreference"], kind, measure, "window")


def by_layer(evidence: Evidence, kind: str, measures: tuple[str, ...], up: str) -> Figure:
    """Return a dot a head of measures of a kind."""
    series = {
        measure: points(window(evidence, kind, measure), "layer", "value", "ci_low", "ci_high", first=1)
        for measure in measures
    }
    return Figure("dots", "Every head by layer", "layer", up, series=series)


def _entropies(evidence: Evidence) -> Figure:
    return by_layer(evidence, "entropy", ("all tokens", "[CLS]"), "entropy, nats")


def _neighbour(offset: str, evidence: Evidence) -> Measured:
    """Return how many heads attend to a neighbour."""
    heads = window(evidence, "offset", offset)
    return Measured(heads_above(heads, MANY), heads=", ".join(heads[heads.value > MANY].name))


def _low(evidence: Evidence) -> Measured:
    """Return the share of positional heads that the lower layers have; both ends are exact one-sided bounds of 95 %."""
    both = pd.concat([window(evidence, "offset", offset) for offset in ("-1", "+1")])
    many = int((both.value > MANY).sum())
    if not many:
        raise Missing("no head attends to a neighbour", absent=True)
    lower = int((by_depth(both, *LOWER).value > MANY).sum())
    ends = binomtest(lower, many).proportion_ci(0.9, method="exact")
    share = Estimate(lower / many, float(ends.low), float(ends.high), many)
    return Measured(share, note=f"{lower} of {many}")


def _broader(measure: str, last: bool, others: str, evidence: Evidence) -> Measured:
    """Return how much broader the heads of the first layer, or of the last, are than those of all others."""
    heads = window(evidence, "entropy", measure)
    there = heads.layer == (heads.layer.max() if last else 0)
    ours, theirs = average(heads[there]), average(heads[~there])
    return Measured(minus(ours, theirs), ours, float(heads.even.mean()), note=f"{theirs.value:.2f} in the {others}")


finding = partial(
    Finding,
    model=MODEL,
    where="on relative position",
    data=DATA,
    stands_in=STANDS_IN,
    differs=DIFFERS,
    readings=("coreference",),
)

FINDINGS = (
    finding(
        id="clark-positional",
        claim="Some heads attend to the previous token, some to the next, and they are in the lower and middle layers.",
        metric="Mean attention of a head to the previous or the next token; we: to the previous or the next word.",
        statements=[
            *(
                Statement(
                    name=name,
                    text=f"At least one head gives more than half of its attention to the {name} word.",
                    number="heads",
                    rule=LearnedRule(above=0.0, unit="heads"),
                    published=Published(count, text=f"layers {layers}"),
                    measure=partial(_neighbour, offset),
                )
                for name, offset, count, layers in (
                    ("previous", "-1", 4.0, "2, 4, 7, 8"),
                    ("next", "+1", 5.0, "1, 2, 2, 3, 6"),
                )
            ),
            Statement(
                name="low layers",
                text="The first two thirds of the layers have more than two thirds of such heads.",
                number="share of such heads that are in the first two thirds of the layers, with exact bounds",
                rule=LearnedRule(above=2 / 3, unit="%"),
                published=Published(1.0, 2 / 3, text="9 of 9; two thirds by chance"),
                measure=_low,
            ),
        ],
    ),
    finding(
        id="clark-itself",
        claim="Most heads give little attention to the token itself.",
        metric="Heads that give more than a tenth of their attention to the token itself; we: to the word itself.",
        differs=f"{DIFFERS} What is little is not said; we take a tenth.",
        statements=[
            Statement(
                name="itself",
                text="Fewer than half of the heads give more than a tenth of their attention to the word itself.",
                number="share of the heads",
                rule=Rule(below=0.5, unit="%"),
                published=Published(text="little"),
            )
        ],
        measure=lambda evidence: Measured(share_above(window(evidence, "offset", "0"), 0.1)),
        fact="uniform attention gives a word in a window of a hundred no more than a hundredth",
    ),
    finding(
        id="clark-broad",
        claim="The heads of layer 1 are broad.",
        where="on entropy",
        metric="Entropy of the attention of a token in nats, smoothed with 1/10,000 of uniform attention; means over "
        "tokens and texts.",
        differs=f"{DIFFERS} That some give no word more than a tenth is not asked: uniform attention does not, either.",
        statements=[
            Statement(
                name="layer 1",
                text="The heads of layer 1 are broader than those of the other layers, by a tenth of a nat at least.",
                number="mean entropy in layer 1 minus that in the other layers",
                rule=LearnedRule(above=0.1, unit="nats"),
                published=Published(text="near uniform attention, which has about 4.6 nats"),
            ),
        ],
        measure=partial(_broader, "all tokens", False, "other layers"),
        figure=_entropies,
    ),
    finding(
        id="clark-cls-broad",
        claim="In the last layer [CLS] attends broadly.",
        where="on entropy",
        metric="Entropy of the attention of [CLS] in nats, smoothed with 1/10,000 of uniform attention; means over "
        "texts.",
        statements=[
            Statement(
                name="[CLS] at the top",
                text="[CLS] is broader in the last layer than in those below, by a tenth of a nat at least.",
                number="mean entropy of [CLS] in the last layer minus that in the layers below",
                rule=Rule(above=0.1, unit="nats"),
                published=Published(3.89, 4.6, "uniform attention has about 4.6 nats"),
            )
        ],
        fact="permuted weights (three seeds of three) pass the bar, too: vectors such as LayerNorm's, which a "
        "permutation of matrices keeps, suffice",
        measure=partial(_broader, "[CLS]", True, "layers below"),
        figure=_entropies,
    ),
)
