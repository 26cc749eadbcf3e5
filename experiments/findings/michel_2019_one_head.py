"""Michel, Levy and Neubig 2019: what is left of a fine-tuned encoder whose layer has one head."""

from __future__ import annotations

from functools import partial

from experiments.findings.michel_2019 import PAPER as PAPER
from experiments.statements.estimates import Estimate, mean_of
from experiments.statements.finding import Evidence, Finding, Measured, Missing, Published, Statement
from experiments.statements.numbers import table
from experiments.statements.rule import Rule
from reports.statements.figure import Figure

READING = "fine-tuned"

PRINTED = (-0.01, 0.10, -0.14, -0.53, -0.29, -0.52, 0.05, -0.72, -0.96, 0.07, -0.19, -0.12)
"Points of accuracy on MNLI that are gained with the best head of each layer alone, from the first layer."

WORST, ALLOWED = 0.0096, 0.03
"Loss of accuracy below which a layer survives: the largest that is printed, and of a weaker version three times that."


def _gains(evidence: Evidence) -> dict[int, tuple[str, Estimate]]:
    """Return for each layer, from 1, its chosen head and how much more often questions are answered right with it.

    The head is chosen on questions of even number, and told on the others.
    """
    left = table(evidence, READING, "one_head", "the run left no layer with one head")
    intact = (table(evidence, READING, "answers").set_index("text").log_odds > 0).astype(float)
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


def _drawn(evidence: Evidence) -> Figure:
    """Draw what each layer loses."""
    series = {"best head": [gain.at(layer) for layer, (_, gain) in _gains(evidence).items()]}
    title = "Accuracy that is gained where one head is left of a layer"
    return Figure("dots", title, "layer", "accuracy minus that of the whole model", series, level=0.0)


FINDINGS = (
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
        readings=(READING,),
        figure=_drawn,
    ),
)
