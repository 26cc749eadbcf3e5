"""Attention to separators: which layers give it to [SEP], to [CLS], and to periods and commas."""

from __future__ import annotations

import pandas as pd

from experiments.findings.clark_2019.places import DATA, DIFFERS, STANDS_IN, by_layer
from experiments.findings.clark_2019.relations import MODEL
from experiments.statements.estimates import Estimate
from experiments.statements.figure import Figure, Point
from experiments.statements.finding import Evidence, Finding, Measured, Missing, Numbers, Published, Statement
from experiments.statements.learned import LearnedRule
from experiments.statements.numbers import average, by_depth, minus, shape, together

MIDDLE, DEEP, FIRST_THIRD, LAST_THIRD = (5 / 12, 10 / 12), (4 / 12, 1.0), (0.0, 1 / 3), (2 / 3, 1.0)
"Layers 6 to 10 of the paper's 12, those from 5 on, its first four and its last four."

FLAT = 0.02
"Two points: what maps that are the same in all layers do not differ by."


def _at(evidence: Evidence, kind: str, measure: str, part: tuple[float, float]) -> Estimate:
    """Return a mean over the heads of a part of the layers."""
    return average(by_depth(shape(evidence["coreference"], kind, measure, "window"), *part))


def _separators(evidence: Evidence) -> Numbers:
    return {
        "middle layers": Measured(_at(evidence, "attention", "[SEP]", MIDDLE)),
        "from [SEP]": Measured(_at(evidence, "attention", "[SEP] from [SEP]", MIDDLE)),
    }


def _depth(evidence: Evidence) -> Numbers:
    first, last = (
        {name: _at(evidence, "attention", name, part) for name in ("[CLS]", "period or comma")}
        for part in (FIRST_THIRD, LAST_THIRD)
    )
    cls, sign = "[CLS]", "period or comma"
    return {
        cls: Measured(minus(first[cls], last[cls]), note=f"{first[cls].value:.3f} first, {last[cls].value:.3f} last"),
        sign: Measured(
            minus(last[sign], first[sign]), note=f"{first[sign].value:.3f} first, {last[sign].value:.3f} last"
        ),
    }


def _to_tokens(evidence: Evidence) -> Figure:
    return by_layer(evidence, "attention", ("[CLS]", "[SEP]", "period or comma"), "attention")


def _slope_rows(evidence: Evidence) -> pd.DataFrame | None:
    """Return the slopes of the sentence embedding; None where they were not measured."""
    rows = evidence["effects"].studies.get("slopes")
    return None if rows is None else rows[rows.behaviour == "sentence embedding"]


def _no_op(evidence: Evidence) -> Numbers:
    rows = _slope_rows(evidence)
    if rows is None or not (rows.token == "[SEP]").any():
        return {"from layer 5 on": Missing("no slopes by weights on [SEP]")}
    deep = by_depth(rows, *DEEP)
    slopes = {str(token): average(part, "slope") for token, part in deep.groupby("token")}
    ratio = together(lambda both: float(both[0] / both[1]), [slopes["[SEP]"], slopes["other"]])
    told = [f"at {token} {one.value / slopes['other'].value:.2f}" for token, one in slopes.items() if token != "other"]
    return {"from layer 5 on": Measured(ratio, note=f"{', '.join(told)} times words")}


def _slopes(evidence: Evidence) -> Figure:
    rows, series = _slope_rows(evidence), {}
    if rows is not None:
        for token, part in rows.groupby("token"):
            layers = part.groupby("layer").slope.mean()
            points: list[Point] = [(layer + 1, value) for layer, value in enumerate(layers.tolist())]
            series[str(token)] = points
    return Figure("lines", "How much attention weights matter", "layer", "length of the derivative", series=series)


FINDINGS = (
    Finding(
        id="clark-separators",
        claim="More than half of the attention in the middle layers goes to [SEP], and [SEP] attends to [SEP].",
        where="section 3.2, figure 2",
        model=MODEL,
        data=DATA,
        metric="Mean over tokens, and over heads, of the attention to tokens of a kind.",
        stands_in=STANDS_IN,
        differs=f"{DIFFERS} Layers 6 to 10 of 12 are those at the same part of the depth.",
        statements=[
            Statement(
                name="middle layers",
                text="The heads of layers 6 to 10 of 12 give more than half of their attention to [SEP].",
                number="mean attention to [SEP]",
                rule=LearnedRule(above=0.5),
                unit="%",
                published=Published(0.5, 1 / 64, "more than half; by chance about 1/64"),
            ),
            Statement(
                name="from [SEP]",
                text="There, [SEP] gives more than 90 % of its attention to [SEP].",
                number="mean attention of [SEP] to [SEP]",
                rule=LearnedRule(above=0.9),
                unit="%",
                published=Published(0.9, text="more than 90 %, to itself and the other [SEP]"),
            ),
        ],
        readings=("coreference",),
        measure=_separators,
        figure=_to_tokens,
    ),
    Finding(
        id="clark-depth",
        claim="Early layers attend to [CLS], deep layers to periods and commas.",
        where="section 3.2, figure 2",
        model=MODEL,
        data=DATA,
        metric="Mean over tokens, and over heads, of the attention to tokens of a kind; a third of the layers each.",
        stands_in=STANDS_IN,
        differs=DIFFERS,
        statements=[
            Statement(
                name="[CLS]",
                text="The first third of the layers attends more to [CLS] than the last third, by two points at least.",
                number="mean attention to [CLS] in the first third of the layers minus that in the last third",
                rule=LearnedRule(above=FLAT),
                published=Published(text="shown in a figure"),
            ),
            Statement(
                name="period or comma",
                text="The last third attends more to periods and commas than the first, by two points at least.",
                number="mean attention to periods and commas in the last third of the layers minus that in the first",
                rule=LearnedRule(above=FLAT),
                published=Published(text="shown in a figure"),
            ),
        ],
        readings=("coreference",),
        measure=_depth,
        figure=_to_tokens,
    ),
    Finding(
        id="clark-no-op",
        claim="From layer 5 on, more or less attention to [SEP] changes next to nothing.",
        where="on gradients",
        model=MODEL,
        data=DATA,
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
                rule=LearnedRule(below=0.5),
                unit="",
                published=Published(text="near 0, that of other tokens well above; shown in a figure"),
                shown="",
            )
        ],
        readings=("effects",),
        measure=_no_op,
        figure=_slopes,
    ),
)
