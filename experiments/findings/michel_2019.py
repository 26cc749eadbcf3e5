"""Michel, Levy and Neubig 2019: many heads can be taken out after training."""

from __future__ import annotations

import pandas as pd

from experiments.estimates import Estimate
from experiments.reproduce.figure import Figure
from experiments.reproduce.finding import Evidence, Finding, Measured, Missing, Numbers, Paper, Published, Statement
from experiments.reproduce.numbers import Pairs, estimate_of, over_units, rows, together
from experiments.rules import Rule
from reports import Run

PAPER = Paper("michel-2019", "Michel, Levy and Neubig 2019", "Are Sixteen Heads Really Better than One?")

SIGNIFICANT = 0.01
"Of the paper's tests, which are not corrected for the number of heads."

NOTABLE = 0.02
"Accuracy that a model may lose until we call it a notable loss; the paper gives no number."

TASKS = {"agreement": ("grammar", "accuracy"), "loss": ("masked-LM loss", "value")}
"What stands in for a task -> the behaviour and its measure."

ENCODERS = "bert-base fine-tuned to MNLI and other tasks, and a large WMT Transformer"

GRAMMAR = (
    "Agreement on minimal pairs of the embedded grammar, and the masked-LM loss on its sentences. It is meant for "
    "encoders with a masked-LM head, and first of all for one that was trained on the grammar."
)


def _single(run: Run, task: str) -> pd.DataFrame:
    """Return one row a head: what a task loses without it."""
    behaviour, measure = TASKS[task]
    return rows(run.studies.get("ablations"), behaviour=behaviour, measure=measure, kind="head", way="zero")


def _few_heads(evidence: Evidence) -> Numbers:
    found: dict[str, Measured | Missing] = {}
    for task in TASKS:
        heads = _single(evidence["grammar-effects"], task)
        if heads.empty:
            found |= {f"{task}: {name}": Missing(f"no head was taken out for {task}") for name in ("few", "some")}
            continue
        share = over_units(lambda drawn: float((drawn.p < SIGNIFICANT).mean()), heads)
        better = int(((heads.p < SIGNIFICANT) & (heads.cost < 0)).sum())
        significant = int((heads.p < SIGNIFICANT).sum())
        sure = heads[heads.p_adjusted < 0.05].sort_values("cost", ascending=False)
        note = f"{significant} of {len(heads)} heads, {better} of them better left out"
        found[f"{task}: few"] = Measured(share, note=note)
        names = ", ".join(sure["name"].head(4)) + (" and others" if len(sure) > 4 else "")
        found[f"{task}: some"] = Measured(Estimate(*[float(len(sure))] * 3, len(heads)), heads=names)
    return found


def _few_heads_drawn(evidence: Evidence) -> Figure:
    heads = _single(evidence["grammar-effects"], "agreement")
    points = [(one.layer + 1, one.cost, one.ci_low, one.ci_high) for one in heads.itertuples()]
    return Figure(
        "dots", "What agreement loses without each head", "layer", "accuracy lost", {"heads": points}, level=0
    )


def _curve(run: Run, behaviour: str, measure: str, order: str) -> pd.DataFrame:
    found = rows(run.studies.get("pruning"), behaviour=behaviour, measure=measure, order=order)
    return found.sort_values("removed")


def prunable(curve: pd.DataFrame, notable: float) -> Estimate:
    """Return the largest share of heads with which, and with fewer of them, a behaviour loses less than `notable`.

    In [0, 1]. The ends are the shares by the upper and by the lower ends of the intervals of what it loses.
    """
    curve = curve[curve.removed > 0]

    def share(lost: pd.Series) -> float:
        kept = curve[(lost < notable).cummin()]
        return float((kept.removed / kept.heads).max()) if len(kept) else 0.0

    return Estimate(share(curve.cost), share(curve.ci_high), share(curve.ci_low), int(curve.n.iloc[0]))


def _gain(run: Run, behaviour: str, measure: str) -> Measured | Missing:
    """Return the area under the curve by importance less that of random orders."""
    areas = rows(run.studies.get("pruning_areas"), behaviour=behaviour, measure=measure, order="importance")
    if areas.empty:
        return Missing(f"heads were not taken out for {behaviour}")
    row = areas.iloc[0]
    note = f"area {row.area:.3g}; random orders {row.random_least:.3g} to {row.random_most:.3g}"
    return Measured(estimate_of(row, "gain", "ci_low", "ci_high"), note=note)


def _order(evidence: Evidence) -> Numbers:
    run = evidence["grammar-effects"]
    curve = _curve(run, *TASKS["agreement"], "importance")
    share: Measured | Missing = Missing("heads were not taken out for grammar")
    if len(curve):
        share = Measured(prunable(curve, NOTABLE))
    return {"prunable": share} | {f"{task}: order": _gain(run, *TASKS[task]) for task in TASKS}


def _order_drawn(evidence: Evidence) -> Figure:
    run, series = evidence["grammar-effects"], {}
    for order in ("importance", "random"):
        curve = _curve(run, *TASKS["agreement"], order)
        mean = curve.assign(share=curve.removed / curve.heads).groupby("share").value.mean()
        series[order] = list(zip(mean.index.tolist(), mean.tolist(), strict=True))
    return Figure("lines", "Agreement with fewer heads", "share of heads taken out", "accuracy", series, level=0.5)


def _order_of_embedding(evidence: Evidence) -> Numbers:
    return {"order": _gain(evidence["effects"], "sentence embedding", "value")}


def _costs(evidence: Evidence) -> Pairs:
    """Return what the embedding loses without each head: on both corpora."""
    place = ["layer", "head"]
    one, other = (evidence[name].studies["importance"].set_index(place).cost for name in ("effects", "transfer"))
    both = pd.concat([one, other], axis=1, join="inner")
    return Pairs(both.iloc[:, 0].to_numpy(), both.iloc[:, 1].to_numpy())


def _transfer(evidence: Evidence) -> Numbers:
    return {"correlation": Measured(_costs(evidence).pearson())}


def _transfer_drawn(evidence: Evidence) -> Figure:
    pairs = _costs(evidence)
    points = list(zip(pairs.one.tolist(), pairs.other.tolist(), strict=True))
    title = "What the embedding loses without each head, on two corpora"
    return Figure("dots", title, "cosine lost on EWT", "cosine lost on GUM", {"heads": points})


def _taylor(evidence: Evidence) -> Numbers:
    taylor = rows(evidence["effects"].studies.get("taylor"), behaviour="sentence embedding")
    if taylor.empty:
        return {"rank": Missing("Taylor's series was not held against ablation")}
    return {"rank": Measured(estimate_of(taylor.iloc[0], "spearman", "spearman_low", "spearman_high"))}


LITTLE = 0.15
"Share that may be lost of what all heads do together: the paper tells of 85 to 90 % of BLEU."


def _little_lost(run: Run) -> Measured | Missing:
    """Return the share of heads that can go while the loss rises by less than LITTLE of its rise without any."""
    curve = _curve(run, *TASKS["loss"], "importance")
    if curve.empty:
        return Missing("heads were not taken out for the loss")
    return Measured(prunable(curve, LITTLE * float(curve.cost.iloc[-1])))


def _training(evidence: Evidence) -> Numbers:
    early, late = (_little_lost(evidence[name]) for name in ("emergence-early", "emergence"))
    if isinstance(early, Missing) or isinstance(late, Missing):
        return {"later": early if isinstance(early, Missing) else late}
    more = together(lambda shares: float(shares[1] - shares[0]), [early.decides, late.decides])
    return {"later": Measured(more, ours=late.decides, baseline=early.decides.value)}


def _training_drawn(evidence: Evidence) -> Figure:
    series = {}
    for name, told in (("emergence-early", "early"), ("emergence", "at the end")):
        curve = _curve(evidence[name], *TASKS["loss"], "importance")
        kept = 1 - curve.cost / curve.cost.iloc[-1]
        series[told] = list(zip((curve.removed / curve.heads).tolist(), kept.tolist(), strict=True))
    title = "What is kept of what heads do for the loss"
    return Figure("lines", title, "share of heads taken out", "share kept", series, level=1 - LITTLE)


SPEED = {1: (17.0, 17.3, 0.019), 4: (67.3, 69.1, 0.027), 16: (114.0, 134.0, 0.175), 64: (124.7, 146.6, 0.175)}
"Examples in a batch -> examples a second with all heads and with half of them, and how much faster that is."

FINDINGS = (
    Finding(
        id="michel-few-heads",
        claim="Most heads can be taken out one at a time without a significant change; few matter.",
        where="the experiment without one head at a time",
        model=ENCODERS,
        data="WMT English-French (newstest)",
        metric="BLEU without a head, its output times 0, with a paired bootstrap test (p < 0.01).",
        stands_in=GRAMMAR,
        differs="Minimal pairs and the loss in the place of translations; random signs in that of the bootstrap test.",
        statements=[
            *(
                Statement(
                    name=f"{task}: few",
                    text=f"Less than half of the heads change {told} significantly, each by itself.",
                    number="share of heads with p < 0.01, not corrected",
                    rule=Rule(below=0.5),
                    unit="%",
                    published=Published(value=8 / 96, text="8 of 96, 4 of which improve BLEU when out; BLEU 36.05"),
                )
                for task, told in (("agreement", "agreement"), ("loss", "the loss"))
            ),
            *(
                Statement(
                    name=f"{task}: some",
                    text=f"There is a head that {told} surely needs, or is surely better without.",
                    number="heads with p < 0.05, corrected for all heads",
                    rule=Rule(above=0.0),
                    unit="heads",
                    shown="heads",
                    published=Published(text="8 with p < 0.01"),
                )
                for task, told in (("agreement", "agreement"), ("loss", "the loss"))
            ),
        ],
        readings=("grammar-effects",),
        measure=_few_heads,
        figure=_few_heads_drawn,
    ),
    Finding(
        id="michel-importance-order",
        claim="In the order of their importance many heads can be taken out without a notable loss.",
        where="the experiment that takes out heads in an order",
        model=ENCODERS,
        data="WMT, MNLI, SST-2, CoLA and MRPC",
        metric="The share of heads that can go, the least important by gradient first, without a notable loss.",
        stands_in=GRAMMAR,
        differs="A notable loss is one of 2 points of accuracy; the paper does not say what it calls notable.",
        statements=[
            Statement(
                name="prunable",
                text="At least a fifth of the heads can go, the least important first, and agreement loses little.",
                number="share of heads, in steps of a tenth, up to which accuracy falls by less than 2 points",
                rule=Rule(above=0.15),
                unit="%",
                published=Published(value=0.4, text="MNLI; WMT 20 %, SST-2 60 %, CoLA and MRPC 50 %"),
            ),
            Statement(
                name="agreement: order",
                text="Agreement keeps more where the least important heads go first than in random orders.",
                number="mean accuracy over all numbers of heads left, less that of random orders",
                rule=Rule(above=0.0),
            ),
            Statement(
                name="loss: order",
                text="So does the masked-LM loss.",
                number="mean loss over all numbers of heads left in random orders, less that by importance",
                rule=Rule(above=0.0),
                unit="nats",
                shown="nats",
            ),
        ],
        readings=("grammar-effects",),
        measure=_order,
        figure=_order_drawn,
    ),
    Finding(
        id="michel-order-embedding",
        claim="The order of importance keeps more of a model than random orders do.",
        where="the experiment that takes out heads in an order",
        model=ENCODERS,
        data="WMT and tasks of GLUE",
        metric="The score of the task while heads are taken out.",
        stands_in="The sentence embedding on UD English EWT, held against that of the whole model.",
        differs="An embedding has no task: it is held against itself. So models without a masked-LM head can be asked.",
        statements=[
            Statement(
                name="order",
                text="The embedding changes less where the least important heads go first than in random orders.",
                number="mean cosine over all numbers of heads left, less that of random orders",
                rule=Rule(above=0.0),
                unit="of a cosine",
                shown="of a cosine",
            )
        ],
        readings=("effects",),
        measure=_order_of_embedding,
        learned=False,
        untrained="Heads of random weights, too, move the embedding by different amounts, and gradients tell which.",
    ),
    Finding(
        id="michel-importance-is-cost",
        claim="The gradient by its gate says what a head costs, without taking it out.",
        where="the definition of head importance",
        model=ENCODERS,
        data="WMT and tasks of GLUE",
        metric="The paper orders heads by mean |dL/d gate|. We: the rank correlation of what Taylor's series predicts "
        "with what ablation costs, over heads.",
        stands_in="The sentence embedding on UD English EWT.",
        differs="A cosine with itself has no first derivative, so the second term of the series predicts.",
        statements=[
            Statement(
                name="rank",
                text="Heads that the series says cost more do cost more.",
                number="Spearman's rho over heads of what is predicted and what ablation costs",
                rule=Rule(above=0.5),
                unit="rho",
                shown="rho",
                published=Published(text="stands for ablation, which takes a pass a head"),
            )
        ],
        readings=("effects",),
        measure=_taylor,
        learned=False,
        untrained="It is a property of the series and of small effects, not of what a model has learned.",
    ),
    Finding(
        id="michel-transfer",
        claim="Heads that matter on one data set matter on another of the same task.",
        where="the comparison of data sets",
        model=ENCODERS,
        data="MNLI matched and mismatched; WMT newstest and MTNT",
        metric="Pearson's r over heads of what the score loses without each head.",
        stands_in="What the sentence embedding loses without each head, on UD English EWT and on GUM.",
        differs="An embedding has no task: what it loses is a cosine with that of the whole model.",
        statements=[
            Statement(
                name="correlation",
                text="What heads cost on two corpora is correlated.",
                number="Pearson's r over heads, with a bootstrap over heads",
                rule=Rule(above=0.0),
                unit="r",
                shown="r",
                published=Published(value=0.68, text="BERT; 0.56 from WMT to MTNT; p < 0.01"),
            )
        ],
        readings=("effects", "transfer"),
        measure=_transfer,
        figure=_transfer_drawn,
        learned=False,
        untrained="Which heads write much is fixed by the weights, random ones too, whatever the text is.",
    ),
    Finding(
        id="michel-speed",
        claim="Without half of its heads BERT is faster, and most in large batches.",
        where="the table of speeds",
        model="bert-base",
        data="MNLI, on a 1080Ti",
        metric="Examples a second.",
        statements=[
            Statement(
                name=f"batch {batch}",
                text=f"In batches of {batch} half of the heads make it faster.",
                number="examples a second with half of the heads, over those with all, less 1",
                rule=Rule(above=0.0),
                unit="%",
                published=Published(value=faster, text=f"{whole:g} -> {half:g} examples a second"),
            )
            for batch, (whole, half, faster) in SPEED.items()
        ],
        missing="a number of a certain machine: `make bench-prune` measures the speed-up on the machine at hand",
    ),
    Finding(
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
                name="later",
                text="At the end of training more heads can go than early in it.",
                number="share of heads that can go with 85 % kept, at the end less at step 256",
                rule=Rule(above=0.0),
                published=Published(value=0.4, text="from epoch 10 on up to 40 %; a straight line in epochs 1 and 2"),
            )
        ],
        readings=("emergence", "emergence-early"),
        measure=_training,
        figure=_training_drawn,
    ),
)
