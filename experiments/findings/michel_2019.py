"""Michel, Levy and Neubig 2019, on single heads: few of them matter, and a layer can be left with one."""

from __future__ import annotations

from functools import partial

import numpy as np
import pandas as pd

from experiments.statements.estimates import Estimate, mean_of
from experiments.statements.finding import Evidence, Finding, Measured, Missing, Paper, Published, Statement
from experiments.statements.numbers import correlation, estimate_of, over_units, points, table
from experiments.statements.rule import LearnedRule, Rule
from probes.evidence.statistics import pearson
from reports.statements.figure import Figure

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


def _single(evidence: Evidence, task: str) -> pd.DataFrame:
    """Return one row a head: what a task loses without it."""
    behaviour, measure = TASKS[task]
    about = {"behaviour": behaviour, "measure": measure, "kind": "head", "way": "zero"}
    return table(evidence, "grammar-effects", "ablations", f"no head was taken out for {task}", **about)


def _few(task: str, evidence: Evidence) -> Measured:
    heads = _single(evidence, task)
    share = over_units(lambda drawn: float((drawn.p < SIGNIFICANT).mean()), heads)
    significant = heads.p < SIGNIFICANT
    better = int((significant & (heads.cost < 0)).sum())
    return Measured(share, note=f"{int(significant.sum())} of {len(heads)} heads, {better} of them better left out")


def _some(task: str, evidence: Evidence) -> Measured:
    heads = _single(evidence, task)
    sure = heads[heads.p_adjusted < 0.05].sort_values("cost", ascending=False)
    names = ", ".join(sure["name"].head(4)) + (" and others" if len(sure) > 4 else "")
    return Measured(Estimate(len(sure), len(sure), len(sure), len(heads)), heads=names)


def _few_heads_drawn(evidence: Evidence) -> Figure:
    series = {"heads": points(_single(evidence, "agreement"), "layer", "cost", "ci_low", "ci_high", first=1)}
    return Figure("dots", "What agreement loses without each head", "layer", "accuracy lost", series, level=0)


def _costs(evidence: Evidence) -> tuple[np.ndarray, np.ndarray]:
    """Return what the embedding loses without each head: on both corpora."""
    place = ["layer", "head"]
    one, other = (table(evidence, name, "importance").set_index(place).cost for name in ("effects", "transfer"))
    both = pd.concat([one, other], axis=1, join="inner")
    return both.iloc[:, 0].to_numpy(), both.iloc[:, 1].to_numpy()


def _transfer_drawn(evidence: Evidence) -> Figure:
    one, other = _costs(evidence)
    series = {"heads": list(zip(one.tolist(), other.tolist(), strict=True))}
    title = "What the embedding loses without each head, on two corpora"
    return Figure("dots", title, "cosine lost on EWT", "cosine lost on GUM", series)


def _taylor(evidence: Evidence) -> Measured:
    why = "Taylor's series was not compared with ablation"
    row = table(evidence, "effects", "taylor", why, behaviour="sentence embedding").iloc[0]
    return Measured(estimate_of(row, "spearman", "spearman_low", "spearman_high"))


SPEED = {1: (17.0, 17.3, 0.019), 4: (67.3, 69.1, 0.027), 16: (114.0, 134.0, 0.175), 64: (124.7, 146.6, 0.175)}
"Examples in a batch -> examples a second with all heads and with half of them, and how much faster that is."

finding = partial(Finding, model=ENCODERS)

FINE_TUNED = "fine-tuned"

PRINTED = (-0.01, 0.10, -0.14, -0.53, -0.29, -0.52, 0.05, -0.72, -0.96, 0.07, -0.19, -0.12)
"Points of accuracy on MNLI that are gained with the best head of each layer alone, from the first layer."

WORST, ALLOWED = 0.0096, 0.03
"Loss of accuracy below which a layer survives: the largest that is printed, and of a weaker version three times that."


def _gains(evidence: Evidence) -> dict[int, tuple[str, Estimate]]:
    """Return for each layer, from 1, its chosen head and how much more often questions are answered right with it.

    The head is chosen on questions of even number, and told on the others.
    """
    left = table(evidence, FINE_TUNED, "one_head", "the run left no layer with one head")
    intact = (table(evidence, FINE_TUNED, "answers").set_index("text").log_odds > 0).astype(float)
    right = (left.pivot(index="text", columns=["layer", "name"], values="log_odds") > 0).astype(float)
    chosen = {}
    for layer in sorted(left.layer.unique()):
        of_layer = right[layer]
        name = str(of_layer[of_layer.index % 2 == 0].mean().idxmax())
        told = of_layer.loc[of_layer.index % 2 == 1, name]
        chosen[int(layer) + 1] = name, mean_of(list(told - intact[told.index]))
    return chosen


def _gain(layer: int, evidence: Evidence) -> Measured:
    gains = _gains(evidence)
    if layer not in gains:
        raise Missing(f"the model has {len(gains)} layers")
    name, gain = gains[layer]
    return Measured(gain, heads=name)


def _gains_drawn(evidence: Evidence) -> Figure:
    """Draw what each layer loses."""
    series = {"best head": [gain.at(layer) for layer, (_, gain) in _gains(evidence).items()]}
    title = "Accuracy that is gained where one head is left of a layer"
    return Figure("dots", title, "layer", "accuracy minus that of the whole model", series, level=0.0)


FINDINGS = (
    finding(
        id="michel-few-heads",
        claim="Most heads can be taken out one at a time without a significant change; few matter.",
        where="the experiment without one head at a time",
        data="WMT English-French (newstest)",
        metric="BLEU without a head, its output times 0, with a paired bootstrap test (p < 0.01).",
        stands_in=GRAMMAR,
        differs="Minimal pairs and the loss in the place of translations; a t test in that of the bootstrap test.",
        statements=[
            *(
                Statement(
                    name=f"{task}: few",
                    text=f"Few of the heads change {told} significantly, each by itself: a twelfth, as in the paper.",
                    number="share of heads with p < 0.01, not corrected",
                    rule=Rule(below=FEW, unit="%"),
                    weaker=Rule(below=0.5),
                    published=Published(value=FEW, text="8 of 96, 4 of which improve BLEU when out; BLEU 36.05"),
                    measure=partial(_few, task),
                )
                for task, told in (("agreement", "agreement"), ("loss", "the loss"))
            ),
            *(
                Statement(
                    name=f"{task}: some",
                    text=f"Ablating at least one head changes {told} significantly, for worse or better.",
                    number="heads with p < 0.05, corrected for all heads",
                    rule=LearnedRule(above=0.0, unit="heads"),
                    published=Published(text="8 with p < 0.01"),
                    measure=partial(_some, task),
                )
                for task, told in (("agreement", "agreement"), ("loss", "the loss"))
            ),
        ],
        readings=("grammar-effects",),
        figure=_few_heads_drawn,
    ),
    finding(
        id="michel-importance-is-cost",
        claim="The gradient with respect to a head's gate predicts its ablation cost.",
        where="the definition of head importance",
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
                rule=Rule(above=0.5, unit="rho"),
                published=Published(text="stands for ablation, which takes a pass a head"),
            )
        ],
        readings=("effects",),
        measure=_taylor,
        fact="it is a property of the series and of small effects, whatever the weights",
    ),
    finding(
        id="michel-transfer",
        claim="Head importance transfers between data sets of one task.",
        where="the comparison of data sets",
        data="MNLI matched and mismatched; WMT newstest and MTNT",
        metric="Pearson's r over heads of what the score loses without each head.",
        stands_in="What the sentence embedding loses without each head, on UD English EWT and on GUM.",
        differs="An embedding has no task: what it loses is a cosine with that of the whole model.",
        statements=[
            Statement(
                name="correlation",
                text="What heads cost on two corpora is correlated.",
                number="Pearson's r over heads, with a bootstrap over heads",
                rule=Rule(above=0.0, unit="r"),
                published=Published(value=0.68, text="BERT; 0.56 from WMT to MTNT; p < 0.01"),
            )
        ],
        readings=("effects", "transfer"),
        measure=lambda evidence: Measured(correlation(pearson, *_costs(evidence))),
        figure=_transfer_drawn,
        fact="which heads write much is fixed by the weights, random ones too, whatever the text is",
    ),
    finding(
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
                rule=Rule(above=0.0, unit="%"),
                published=Published(value=faster, text=f"{whole:g} -> {half:g} examples a second"),
            )
            for batch, (whole, half, faster) in SPEED.items()
        ],
        missing="a number of a certain machine",
    ),
    Finding(
        id="michel-one-head",
        claim="A layer of a fine-tuned encoder can be left with one head and hardly loses accuracy.",
        where="table of layers with one head, BERT",
        model="BERT base fine-tuned on MNLI",
        data="MNLI",
        metric="Accuracy with the best head of a layer alone minus that of the whole model; its other heads give zero.",
        stands_in="MiniLM (6 layers of 12 heads), fine-tuned to tell the number of verbs of EWT; 400 questions.",
        differs="Another model and task; the best head is selected on one half of the questions and evaluated on "
        "the other.",
        statements=[
            Statement(
                f"layer {layer}",
                f"With its best head alone layer {layer} costs less than the paper's worst, {100 * WORST:g} points.",
                "accuracy with the one head minus accuracy with all, paired by question",
                Rule(above=-WORST),
                weaker=Rule(above=-ALLOWED),
                published=Published(
                    round(printed / 100, 6),
                    text="not significant (t-test, p < .01); in translation layer 6 of the attention from decoder to "
                    "encoder costs 13.56 points of BLEU",
                ),
                shown="points",
                measure=partial(_gain, layer),
            )
            for layer, printed in enumerate(PRINTED, start=1)
        ],
        readings=(FINE_TUNED,),
        figure=_gains_drawn,
    ),
)
