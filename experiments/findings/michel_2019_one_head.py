"""Michel, Levy and Neubig 2019: what is left of a fine-tuned encoder whose layer has one head."""

from __future__ import annotations

import pandas as pd

from experiments.findings.michel_2019 import PAPER as PAPER
from experiments.statements.estimates import mean_of
from experiments.statements.figure import Figure
from experiments.statements.finding import Evidence, Finding, Measured, Missing, Numbers, Published, Statement
from experiments.statements.rule import Rule

READING = "fine-tuned"

PRINTED = (-0.01, 0.10, -0.14, -0.53, -0.29, -0.52, 0.05, -0.72, -0.96, 0.07, -0.19, -0.12)
"Points of accuracy on MNLI that are gained with the best head of each layer alone, from the first layer."

WORST, ALLOWED = 0.0096, 0.03
"Loss of accuracy below which a layer survives: the largest that is printed, and of a weaker version three times that."


def _gains(evidence: Evidence) -> dict[int, tuple[str, pd.Series]]:
    """Return for each layer, from 1, its chosen head and by how much each told question is answered better with it.

    The head is chosen on questions of even number, and told on the others.
    """
    found = evidence[READING].studies
    if "one_head" not in found:
        return {}
    intact = (found["answers"].set_index("text").log_odds > 0).astype(float)
    left = found["one_head"]
    right = (left.pivot(index="text", columns=["layer", "name"], values="log_odds") > 0).astype(float)
    chosen = {}
    for layer in sorted(left.layer.unique()):
        of_layer = right[layer]
        name = str(of_layer[of_layer.index % 2 == 0].mean().idxmax())
        told = of_layer.loc[of_layer.index % 2 == 1, name]
        chosen[int(layer) + 1] = name, told - intact[told.index]
    return chosen


def _by_layer(evidence: Evidence) -> Numbers:
    gains = _gains(evidence)
    found: dict[str, Measured | Missing] = {}
    for layer in range(1, len(PRINTED) + 1):
        if layer in gains:
            name, gain = gains[layer]
            found[f"layer {layer}"] = Measured(mean_of(list(gain)), heads=name)
        else:
            why = f"the model has {len(gains)} layers" if gains else "the run left no layer with one head"
            found[f"layer {layer}"] = Missing(why)
    return found


def _drawn(evidence: Evidence) -> Figure:
    """Draw what each layer loses."""
    means = {layer: mean_of(list(gain)) for layer, (_, gain) in _gains(evidence).items()}
    points = [(layer, one.value, one.low, one.high) for layer, one in means.items()]
    title = "Accuracy that is gained where one head is left of a layer"
    return Figure("dots", title, "layer", "accuracy minus that of the whole model", {"best head": points}, level=0.0)


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
            )
            for layer, printed in enumerate(PRINTED, start=1)
        ],
        readings=(READING,),
        measure=_by_layer,
        figure=_drawn,
    ),
)
