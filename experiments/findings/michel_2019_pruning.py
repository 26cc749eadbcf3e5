"""Michel, Levy and Neubig 2019, on many heads: in the order of their importance they can be taken out."""

from __future__ import annotations

from functools import partial

import pandas as pd

from experiments.findings.michel_2019 import ENCODERS, GRAMMAR, TASKS
from experiments.findings.michel_2019 import PAPER as PAPER
from experiments.statements.estimates import Estimate
from experiments.statements.finding import Evidence, Finding, Measured, Missing, Numbers, Published, Statement
from experiments.statements.numbers import above_chance, estimate_of, points, table, together
from experiments.statements.rule import LearnedRule, Rule
from reports.statements.figure import Figure

NOTABLE = 0.02
"Accuracy that a model may lose until we call it a notable loss; the paper gives no number."


def _curve(evidence: Evidence, reading: str, task: str, order: str = "importance") -> pd.DataFrame:
    behaviour, measure = TASKS[task]
    about = {"behaviour": behaviour, "measure": measure, "order": order}
    why = f"heads were not taken out for {'the loss' if task == 'loss' else behaviour}"
    return table(evidence, reading, "pruning", why, **about).sort_values("removed")


def prunable(curve: pd.DataFrame, notable: float) -> Estimate:
    """Return the largest share of heads with which, and with fewer of them, a behaviour loses less than `notable`.

    In [0, 1]. The ends are the shares by the upper and by the lower ends of the intervals of what it loses.
    """
    curve = curve[curve.removed > 0]

    def share(lost: pd.Series) -> float:
        kept = curve[(lost < notable).cummin()]
        return float((kept.removed / kept.heads).max()) if len(kept) else 0.0

    return Estimate(share(curve.cost), share(curve.ci_high), share(curve.ci_low), int(curve.n.iloc[0]))


def _prunable(evidence: Evidence) -> Measured:
    curve = _curve(evidence, "grammar-effects", "agreement")
    whole = curve[curve.removed == 0].iloc[0]
    if not above_chance(float(whole["value"]), int(whole["n"])):
        raise Missing("agreement is no better than chance with all heads: there is nothing to keep")
    return Measured(prunable(curve, NOTABLE))


def _gain(reading: str, behaviour: str, measure: str, evidence: Evidence) -> Measured:
    """Return the area under the curve by importance less that of random orders."""
    about = {"behaviour": behaviour, "measure": measure, "order": "importance"}
    row = table(evidence, reading, "pruning_areas", f"heads were not taken out for {behaviour}", **about).iloc[0]
    note = f"area {row.area:.3g}; random orders {row.random_least:.3g} to {row.random_most:.3g}"
    return Measured(estimate_of(row, "gain", "ci_low", "ci_high"), note=note)


def _order_drawn(evidence: Evidence) -> Figure:
    series = {}
    for order in ("importance", "random"):
        curve = _curve(evidence, "grammar-effects", "agreement", order)
        mean = curve.assign(share=curve.removed / curve.heads).groupby("share").value.mean()
        series[order] = list(zip(mean.index.tolist(), mean.tolist(), strict=True))
    return Figure("lines", "Agreement with fewer heads", "share of heads taken out", "accuracy", series, level=0.5)


LITTLE = 0.15
"Share that may be lost of what all heads do together: the paper tells of 85 to 90 % of BLEU."


def _little_lost(reading: str, evidence: Evidence) -> Measured:
    """Return the share of heads that can go while the loss rises by less than LITTLE of its rise without any."""
    curve = _curve(evidence, reading, "loss")
    return Measured(prunable(curve, LITTLE * float(curve.cost.iloc[-1])))


def _training(evidence: Evidence) -> Numbers:
    early, late = (_little_lost(name, evidence) for name in ("emergence-early", "emergence"))
    more = together(lambda shares: float(shares[1] - shares[0]), [early.decides, late.decides])
    return {"early": early, "later": Measured(more, ours=late.decides, baseline=early.decides.value)}


def _training_drawn(evidence: Evidence) -> Figure:
    series = {}
    for name, told in (("emergence-early", "early"), ("emergence", "at the end")):
        curve = _curve(evidence, name, "loss")
        kept = curve.assign(share=curve.removed / curve.heads, kept=1 - curve.cost / curve.cost.iloc[-1])
        series[told] = points(kept, "share", "kept")
    title = "What is kept of what heads do for the loss"
    return Figure("lines", title, "share of heads taken out", "share kept", series, level=1 - LITTLE)


finding = partial(Finding, model=ENCODERS, where="the experiment that takes out heads in an order")

FINDINGS = (
    finding(
        id="michel-importance-order",
        claim="In the order of their importance many heads can be taken out without a notable loss.",
        data="WMT, MNLI, SST-2, CoLA and MRPC",
        metric="The share of heads that can go, the least important by gradient first, without a notable loss.",
        stands_in=GRAMMAR,
        differs="A notable loss is one of 2 points of accuracy; the paper does not say what it calls notable.",
        statements=[
            Statement(
                name="prunable",
                text="At least a fifth of the heads can go, the least important first, and agreement loses little.",
                number="share of heads, in steps of a tenth, up to which accuracy falls by less than 2 points",
                rule=Rule(above=0.2, unit="%"),
                published=Published(value=0.4, text="MNLI; WMT 20 %, SST-2 60 %, CoLA and MRPC 50 %"),
                measure=_prunable,
            ),
            Statement(
                name="agreement: order",
                text="Agreement keeps more where the least important heads go first than in random orders.",
                number="mean accuracy over all numbers of heads left, less that of random orders",
                rule=LearnedRule(above=0.0),
                measure=partial(_gain, "grammar-effects", *TASKS["agreement"]),
            ),
            Statement(
                name="loss: order",
                text="So does the masked-LM loss.",
                number="mean loss over all numbers of heads left in random orders, less that by importance",
                rule=LearnedRule(above=0.0, unit="nats"),
                measure=partial(_gain, "grammar-effects", *TASKS["loss"]),
            ),
        ],
        readings=("grammar-effects",),
        figure=_order_drawn,
    ),
    finding(
        id="michel-order-embedding",
        claim="The order of importance keeps more of a model than random orders do.",
        data="WMT and tasks of GLUE",
        metric="The score of the task while heads are taken out.",
        stands_in="The sentence embedding on UD English EWT, compared with that of the whole model.",
        differs="An embedding has no task: it is compared with itself, so that models without a masked-LM head can be "
        "tested.",
        statements=[
            Statement(
                name="order",
                text="The embedding changes less where the least important heads go first than in random orders.",
                number="mean cosine over all numbers of heads left, less that of random orders",
                rule=Rule(above=0.0, unit="of a cosine"),
            )
        ],
        readings=("effects",),
        measure=partial(_gain, "effects", "sentence embedding", "value"),
        fact="heads of any weights move the embedding by different amounts, and gradients tell which",
    ),
    finding(
        id="michel-training",
        claim="Which heads are needed is decided in training: early on every head counts, later many can go.",
        where="the section on the dynamics of training",
        model="Transformer, 6 layers of 8 heads",
        data="IWSLT German-English",
        metric="BLEU, relative to all heads, while the least important heads are taken out, at several epochs.",
        stands_in="The masked-LM loss of an encoder trained here on the embedded grammar, at steps 256 and 2400.",
        differs="Of the loss it is told what share of the rise without any head is spared.",
        statements=[
            Statement(
                name="early",
                text="At step 256 hardly more heads can go than on a straight line, 15 %: less than a fifth.",
                number="share of heads that can go with 85 % kept, at step 256",
                rule=Rule(below=0.2, unit="%"),
                published=Published(value=LITTLE, text="a straight line in epochs 1 and 2"),
            ),
            Statement(
                name="later",
                text="At the end of training more heads can go than early in it.",
                number="share of heads that can go with 85 % kept, at the end less at step 256",
                rule=Rule(above=0.0),
                published=Published(value=0.4, text="from epoch 10 on up to 40 %; a straight line in epochs 1 and 2"),
            ),
        ],
        readings=("emergence", "emergence-early"),
        measure=_training,
        figure=_training_drawn,
    ),
)
