"""Attention to separators: which layers give it to [SEP], to [CLS], and to periods and commas."""

from __future__ import annotations

from functools import partial

import pandas as pd

from experiments.findings.clark_2019.places import DATA, DIFFERS, STANDS_IN, by_layer, window
from experiments.findings.clark_2019.relations import MODEL
from experiments.statements.estimates import Estimate
from experiments.statements.finding import Evidence, Finding, Measured, Missing, Published, Statement
from experiments.statements.numbers import average, by_depth, minus, points, table, together
from experiments.statements.rule import LearnedRule
from reports.statements.figure import Figure

MIDDLE, DEEP, FIRST_THIRD, LAST_THIRD = (5 / 12, 10 / 12), (4 / 12, 1.0), (0.0, 1 / 3), (2 / 3, 1.0)
"Layers 6 to 10 of the paper's 12, those from 5 on, its first four and its last four."

NO_SLOPES = "no slopes by weights on [SEP]"

FLAT = 0.02
"Two points: what maps that are the same in all layers do not differ by."


def _at(kind: str, measure: str, part: tuple[float, float], evidence: Evidence) -> Estimate:
    """Return a mean over the heads of a part of the layers."""
    return average(by_depth(window(evidence, kind, measure), *part))


def _depth(token: str, early: bool, evidence: Evidence) -> Measured:
    """Return how much more the first third of the layers attends to a token than the last, or the other way round."""
    first, last = (_at("attention", token, part, evidence) for part in (FIRST_THIRD, LAST_THIRD))
    note = f"{first.value:.3f} first, {last.value:.3f} last"
    return Measured(minus(first, last) if early else minus(last, first), note=note)


def _to_tokens(evidence: Evidence) -> Figure:
    return by_layer(evidence, "attention", ("[CLS]", "[SEP]", "period or comma"), "attention")


def _slopes(evidence: Evidence) -> pd.DataFrame:
    """Return the slopes of the sentence embedding."""
    found = table(evidence, "effects", "slopes", NO_SLOPES, behaviour="sentence embedding")
    if not (found.token == "[SEP]").any():
        raise Missing(NO_SLOPES)
    return found


def _no_op(evidence: Evidence) -> Measured:
    deep = by_depth(_slopes(evidence), *DEEP)
    slopes = {str(token): average(part, "slope") for token, part in deep.groupby("token")}
    ratio = together(lambda both: float(both[0] / both[1]), [slopes["[SEP]"], slopes["other"]])
    told = [f"at {token} {one.value / slopes['other'].value:.2f}" for token, one in slopes.items() if token != "other"]
    return Measured(ratio, note=f"{', '.join(told)} times words")


def _slopes_drawn(evidence: Evidence) -> Figure:
    means = _slopes(evidence).groupby(["token", "layer"]).slope.mean().reset_index()
    series = {str(token): points(part, "layer", "slope", first=1) for token, part in means.groupby("token")}
    return Figure("lines", "How much attention weights matter", "layer", "length of the derivative", series=series)


finding = partial(
    Finding, model=MODEL, where="section 3.2, figure 2", data=DATA, stands_in=STANDS_IN, readings=("coreference",)
)

FINDINGS = (
    finding(
        id="clark-separators",
        claim="More than half of the attention in the middle layers goes to [SEP], and [SEP] attends to [SEP].",
        metric="Mean over tokens, and over heads, of the attention to tokens of a kind.",
        differs=f"{DIFFERS} Layers 6 to 10 of 12 are those at the same part of the depth.",
        statements=[
            Statement(
                name="middle layers",
                text="The heads of layers 6 to 10 of 12 give more than half of their attention to [SEP].",
                number="mean attention to [SEP]",
                rule=LearnedRule(above=0.5, unit="%"),
                published=Published(0.5, 1 / 64, "more than half; by chance about 1/64"),
            ),
            Statement(
                name="from [SEP]",
                text="There, [SEP] gives more than 90 % of its attention to [SEP].",
                number="mean attention of [SEP] to [SEP]",
                rule=LearnedRule(above=0.9, unit="%"),
                published=Published(0.9, text="more than 90 %, to itself and the other [SEP]"),
            ),
        ],
        measure=lambda evidence: {
            name: Measured(_at("attention", measure, MIDDLE, evidence))
            for name, measure in (("middle layers", "[SEP]"), ("from [SEP]", "[SEP] from [SEP]"))
        },
        figure=_to_tokens,
    ),
    finding(
        id="clark-depth",
        claim="Early layers attend to [CLS], deep layers to periods and commas.",
        metric="Mean over tokens, and over heads, of the attention to tokens of a kind; a third of the layers each.",
        differs=DIFFERS,
        statements=[
            Statement(
                name="[CLS]",
                text="The first third of the layers attends more to [CLS] than the last third, by two points at least.",
                number="mean attention to [CLS] in the first third of the layers minus that in the last third",
                rule=LearnedRule(above=FLAT),
                published=Published(text="shown in a figure"),
                measure=partial(_depth, "[CLS]", True),
            ),
            Statement(
                name="period or comma",
                text="The last third attends more to periods and commas than the first, by two points at least.",
                number="mean attention to periods and commas in the last third of the layers minus that in the first",
                rule=LearnedRule(above=FLAT),
                published=Published(text="shown in a figure"),
                measure=partial(_depth, "period or comma", False),
            ),
        ],
        figure=_to_tokens,
    ),
    finding(
        id="clark-no-op",
        claim="From layer 5 on, more or less attention to [SEP] changes next to nothing.",
        where="on gradients",
        metric="Mean, over tokens and heads, of the absolute derivative of the masked-LM loss by a weight. We: of the "
        "length of the derivative of the sentence embedding, so that models without a masked-LM head have it too.",
        stands_in="UD English EWT, 200 sentences of dev.",
        differs="Single sentences of one segment with one [SEP]. Layers from 5 of 12 on are those at the same part of "
        "the depth.",
        statements=[
            Statement(
                name="from layer 5 on",
                text="The derivative by a weight on [SEP] is less than half of that by a weight on words.",
                number="derivative by weights on [SEP] over that by weights on words",
                rule=LearnedRule(below=0.5, unit=""),
                published=Published(text="near 0, that of other tokens well above; shown in a figure"),
            )
        ],
        readings=("effects",),
        measure=_no_op,
        figure=_slopes_drawn,
    ),
)
