"""Michel, Levy and Neubig 2019, on single heads: few of them matter."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pandas as pd

from experiments.statements.estimates import Estimate
from experiments.statements.figure import Figure
from experiments.statements.finding import Evidence, Finding, Measured, Missing, Numbers, Paper, Published, Statement
from experiments.statements.learned import LearnedRule
from experiments.statements.numbers import Pairs, estimate_of, floats, over_units, rows
from experiments.statements.rule import Rule

if TYPE_CHECKING:
    from reports import Run

PAPER = Paper("michel-2019", "Michel, Levy and Neubig 2019", "Are Sixteen Heads Really Better than One?")

SIGNIFICANT = 0.01
"Of the paper's tests, which are not corrected for the number of heads."

FEW = 8 / 96
"The share of heads that the paper finds."

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
        found[f"{task}: some"] = Measured(Estimate(len(sure), len(sure), len(sure), len(heads)), heads=names)
    return found


def _few_heads_drawn(evidence: Evidence) -> Figure:
    heads = _single(evidence["grammar-effects"], "agreement")
    told = floats(heads, "layer", "cost", "ci_low", "ci_high")
    points = [(layer + 1, cost, low, high) for layer, cost, low, high in told]
    return Figure(
        "dots", "What agreement loses without each head", "layer", "accuracy lost", {"heads": points}, level=0
    )


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
    points = list(zip(pairs.first.tolist(), pairs.second.tolist(), strict=True))
    title = "What the embedding loses without each head, on two corpora"
    return Figure("dots", title, "cosine lost on EWT", "cosine lost on GUM", {"heads": points})


def _taylor(evidence: Evidence) -> Numbers:
    taylor = rows(evidence["effects"].studies.get("taylor"), behaviour="sentence embedding")
    if taylor.empty:
        return {"rank": Missing("Taylor's series was not compared with ablation")}
    return {"rank": Measured(estimate_of(taylor.iloc[0], "spearman", "spearman_low", "spearman_high"))}


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
                    text=f"Few of the heads change {told} significantly, each by itself: a twelfth, as in the paper.",
                    number="share of heads with p < 0.01, not corrected",
                    rule=Rule(below=FEW),
                    weaker=Rule(below=0.5),
                    unit="%",
                    published=Published(value=FEW, text="8 of 96, 4 of which improve BLEU when out; BLEU 36.05"),
                )
                for task, told in (("agreement", "agreement"), ("loss", "the loss"))
            ),
            *(
                Statement(
                    name=f"{task}: some",
                    text=f"Ablating at least one head changes {told} significantly, for worse or better.",
                    number="heads with p < 0.05, corrected for all heads",
                    rule=LearnedRule(above=0.0),
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
        id="michel-importance-is-cost",
        claim="The gradient with respect to a head's gate predicts its ablation cost.",
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
        fact="it is a property of the series and of small effects, whatever the weights",
    ),
    Finding(
        id="michel-transfer",
        claim="Head importance transfers between data sets of one task.",
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
        fact="which heads write much is fixed by the weights, random ones too, whatever the text is",
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
        missing="a number of a certain machine",
    ),
)
